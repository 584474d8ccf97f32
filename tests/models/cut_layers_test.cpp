// The layers, memory and segments of chunks and shares: transformers against published formulas, models by layers.
#include "base/errors.h"
#include "catch.h"
#include "models/cut_run.h"
#include "models/profiles/image_networks.h"
#include "models/published_shapes.h"
#include "models/transformer.h"
#include "models/transformer_cut.h"

namespace cut_layers_test {

using namespace simgrad::models;
using Stretches = std::vector<ParameterStretch>;

namespace {

using test::gpt;

TransformerShape small_llama() { return test::small_llama(8, 4); }

struct Sums {
  double parameters = 0.0, forward = 0.0, backward = 0.0, numbers = 0.0, bytes = 0.0, elementwise = 0.0, entrance = 0.0;
};
Sums sums(const std::vector<Layer>& layers, std::int64_t first_unit = 0, std::int64_t end_unit = 1'000'000) {
  Sums sum;
  for (const Layer& layer : layers) {
    if (layer.unit < first_unit || layer.unit >= end_unit) continue;
    sum.parameters += static_cast<double>(layer.count);
    sum.forward += layer.forward_flops;
    sum.backward += layer.backward_flops;
    sum.numbers += layer.kept.numbers;
    sum.bytes += layer.kept.bytes;
    sum.elementwise += layer.elementwise;
    sum.entrance += layer.entrance;
  }
  return sum;
}

std::int64_t length(const Stretches& stretches) {
  std::int64_t sum = 0;
  for (const ParameterStretch& stretch : stretches) sum += stretch.count;
  return sum;
}

Chunk share(const TransformerShape& shape, int tensor, bool sequence_parallel, int rank = 0) {
  return {.first_unit = 0,
          .end_unit = shape.layers + 2,
          .tensor = tensor,
          .tensor_rank = rank,
          .sequence_parallel = sequence_parallel};
}

}  // namespace

TEST_CASE(
    "a share of a GPT layer keeps s h (10 + 24/t + 5 a s / (h t)) bytes, and s h / t (34 + 5 a s / h) of tokens") {
  const TransformerShape shape = gpt(48, 6144, 64, 2048, 51200);
  const double s = 2048, h = 6144, a = 64;
  for (const int t : {1, 2, 4, 8, 16}) {
    const Sums tensor = sums(layers(shape, share(shape, t, false)), 7, 8);
    CHECK(2.0 * tensor.numbers + tensor.bytes ==
          Approx(s * h * (10.0 + 24.0 / t + 5.0 * a * s / (h * t))).epsilon(1e-12));
    const Sums tokens = sums(layers(shape, share(shape, t, true)), 7, 8);
    CHECK(2.0 * tokens.numbers + tokens.bytes == Approx(s * h / t * (34.0 + 5.0 * a * s / h)).epsilon(1e-12));
    CHECK(tensor.entrance == s * h);
    CHECK(tokens.entrance == s * h / t);  // full recomputation keeps 2 s h, and 2 s h / t
  }
}

TEST_CASE("shares divide a transformer's flops, and outside of products the work that tokens share") {
  for (const TransformerShape& shape : {gpt(3, 64, 8, 32, 100), small_llama()}) {
    const Sums all = sums(layers(shape));
    const double s = static_cast<double>(shape.sequence), h = static_cast<double>(shape.hidden);
    for (const int t : {2, 4}) {
      const Sums tensor = sums(layers(shape, share(shape, t, false))),
                 tokens = sums(layers(shape, share(shape, t, true)));
      CHECK(tensor.forward * t == Approx(all.forward).epsilon(1e-12));
      CHECK(tensor.backward * t == Approx(all.backward).epsilon(1e-12));
      CHECK(tokens.forward * t == Approx(all.forward).epsilon(1e-12));
      // The look-up writes all tokens on every rank: 2 s h.
      CHECK(t * (tokens.elementwise - 2.0 * s * h) == Approx(all.elementwise - 2.0 * s * h).epsilon(1e-12));
      // A layer's two norms and two residual sums, and with dropout the masks behind the sums; the last norm; the
      // embedding's sum with positions and its mask.
      const double dropout = shape.dropout ? 2.0 : 0.0, learned = shape.positions == Positions::learned ? 1.0 : 0.0;
      const double outside = s * h * (3.0 * (2.0 * (2.0 + 3.0 + dropout)) + 2.0 + learned + dropout);
      CHECK(tensor.elementwise - tokens.elementwise == Approx(outside * (1.0 - 1.0 / t)).epsilon(1e-12));
    }
  }
}

TEST_CASE("the shares of a transformer's parameters, with those of every rank once, are the whole's") {
  for (TransformerShape shape : {gpt(3, 64, 8, 32, 100), small_llama()})
    for (const int t : {1, 2, 4}) {
      std::int64_t all = length(replicated(shape, share(shape, t, false), Among::tensor));
      for (int rank = 0; rank < t; ++rank) {
        const Chunk chunk = share(shape, t, false, rank);
        const Stretches own = parameters_of(shape, chunk);
        const std::vector<Layer> made = layers(shape, chunk);
        CHECK(length(own) == made.back().first + made.back().count);
        all += length(own) - length(replicated(shape, chunk, Among::tensor));
      }
      CHECK(all == parameters(shape));
      // Norms: two a layer and the last; the biases of two sums a layer; the positions.
      const std::int64_t h = shape.hidden, norm = shape.norm_parameters();
      CHECK(length(replicated(shape, share(shape, t, false), Among::tensor)) ==
            7 * norm + (shape.biases ? 6 * h : 0) + (shape.positions == Positions::learned ? shape.sequence * h : 0));
    }
}

TEST_CASE("chunks of a transformer have its layers, and the last one a copy of a tied embedding") {
  const TransformerShape shape = gpt(4, 64, 8, 32, 100);
  const std::vector<Layer> whole = layers(shape);
  const std::vector<Layer> first = layers(shape, {.first_unit = 0, .end_unit = 3});
  const std::vector<Layer> middle = layers(shape, {.first_unit = 3, .end_unit = 4});
  const std::vector<Layer> last = layers(shape, {.first_unit = 4, .end_unit = 6});
  REQUIRE(first.size() + middle.size() + last.size() == whole.size());
  CHECK(middle[0].first == 0);
  CHECK(middle[0].unit == 0);
  CHECK(middle[0].name == "block 3: attention in");
  CHECK(last[0].unit == 0);
  CHECK(last.back().unit == 1);
  CHECK(last.back().count == 100 * 64 + 2 * 64);
  CHECK(sums(first).parameters + sums(middle).parameters + sums(last).parameters == sums(whole).parameters + 100 * 64);
  CHECK(sums(first).forward + sums(middle).forward + sums(last).forward == sums(whole).forward);

  const Chunk first_of_two{.first_unit = 0, .end_unit = 3, .tensor = 2, .tensor_rank = 1};
  const Chunk last_of_two{.first_unit = 3, .end_unit = 6, .tensor = 2, .tensor_rank = 1};
  CHECK(tied(shape, first_of_two) == ParameterStretch{0, 50 * 64});
  // Behind two blocks' shares, (12 h^2 + 7 h) / 2 of matrices and their biases and 6 h on every rank.
  CHECK(tied(shape, last_of_two) == ParameterStretch{2 * ((12 * 64 * 64 + 7 * 64) / 2 + 6 * 64), 50 * 64});
  CHECK(tied(shape, share(shape, 2, false)).count == 0);
  CHECK(tied(shape, {.first_unit = 1, .end_unit = 3, .tensor = 2}).count == 0);
}

TEST_CASE("a transformer's layer is summed twice forwards and twice backwards, as tokens are gathered and scattered") {
  using enum Step::Then;
  const TransformerShape shape = gpt(4, 64, 8, 32, 100);
  const double sh = 32.0 * 64.0;
  const Chunk block{.first_unit = 2, .end_unit = 3, .tensor = 4};
  Chunk with_tokens = block;
  with_tokens.sequence_parallel = true;
  struct Count {
    int sums = 0, gathers = 0, shards = 0, again = 0;
  };
  const auto count = [&](const Chunk& chunk, bool backward) {
    Count made;
    for (const Segment& segment : segments(shape, chunk))
      for (const Step& step : backward ? segment.backward : segment.forward) {
        made.sums += step.then == sum ? 1 : 0;
        made.gathers += step.then == gather ? 1 : 0;
        made.shards += step.then == sum_shard ? 1 : 0;
        made.again += step.again ? 1 : 0;
        if (step.then == sum || step.then == sum_shard) CHECK(step.numbers == sh);
        if (step.then == gather) CHECK(step.numbers == sh / 4.0);
      }
    return made;
  };
  REQUIRE(segments(shape, block).size() == 2);
  CHECK(segments(shape, block)[1].entrance == sh);
  CHECK(segments(shape, with_tokens)[1].exit == sh / 4.0);
  for (const bool backward : {false, true}) {
    const Count tensor = count(block, backward), tokens = count(with_tokens, backward);
    CHECK((tensor.sums == 2 && tensor.gathers == 0 && tensor.shards == 0));
    CHECK((tokens.sums == 0 && tokens.shards == 2));
    CHECK(tokens.gathers - tokens.again == 2);
    CHECK(tokens.again == (backward ? 2 : 0));  // the norms' results, for the gradients of the first products
  }
  // The loss: a maximum, and sums of exponentials with the next token's logit, of each token.
  const std::vector<Segment> head = segments(shape, {.first_unit = 5, .end_unit = 6, .tensor = 4});
  REQUIRE(head.size() == 1);
  REQUIRE(head[0].backward.size() == 4);
  CHECK((head[0].backward[0].then == max && head[0].backward[0].numbers == 32.0));
  CHECK((head[0].backward[1].then == sum && head[0].backward[1].numbers == 64.0));
}

TEST_CASE("numbers that ranks cannot share are refused with those that they can") {
  TransformerShape shape = small_llama();
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = true}).empty());
  CHECK(cut_refusal(shape, {.tensor = 3, .sequence_parallel = false}) ==
        "heads = 8 do not divide among tensor = 3 ranks; take tensor from 1, 2, 4");
  CHECK(cut_refusal(shape, {.tensor = 8, .sequence_parallel = false})
            .starts_with("kv_heads = 4 do not divide among tensor = 8 ranks"));
  CHECK(cut_refusal(shape, {.tensor = 8, .sequence_parallel = false}).ends_with("take tensor from 1, 2, 4"));
  shape.vocabulary = 5;  // shares of two: the last rank would have none
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = false})
            .starts_with("a vocabulary of 5 leaves some of tensor = 4 ranks without a token; give vocabulary = 8"));
  shape.vocabulary = 100;
  shape.sequence = 22;
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = false}).empty());
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = true})
            .starts_with("sequence = 22 does not divide among tensor = 4 ranks, as sequence"));
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = true})
            .ends_with("give sequence = 24, or sequence_parallel = false"));
  shape.feed_forward = 130;
  CHECK(cut_refusal(shape, {.tensor = 4, .sequence_parallel = false})
            .starts_with("feed_forward = 130 does not divide among tensor = 4 ranks; give "
                         "feed_forward = 132, or take tensor from 1, 2"));
}

TEST_CASE("a model by layers is cut between its units") {
  const ResNet50 model;
  const Problem problem = *model.own_problem();
  const std::vector<Layer> all = model.profile();
  const std::int64_t units = all.back().unit + 1;
  REQUIRE(units == 18);
  Sums parts;
  double entrance = 0.0;
  std::int64_t next = 0;
  for (const auto& [first, end] : {std::pair{0, 5}, {5, 6}, {6, 18}}) {
    const Chunk chunk{.first_unit = first, .end_unit = end};
    const std::vector<Layer> own = model.layers(problem, chunk);
    const std::vector<Segment> segments = model.segments(problem, chunk);
    REQUIRE(segments.size() == static_cast<std::size_t>(end - first));
    parts.parameters += sums(own).parameters;
    parts.forward += sums(own).forward;
    CHECK(segments.front().entrance == entrance);
    CHECK(own.front().first == 0);
    CHECK(segments.back().first + segments.back().count == own.back().first + own.back().count);
    CHECK(segments.back().first_layer + segments.back().layers == own.size());
    CHECK(model.parameters_of(problem, chunk) == Stretches{{next, own.back().first + own.back().count}});
    next += own.back().first + own.back().count;
    entrance = segments.back().exit;
  }
  CHECK(parts.parameters == sums(all).parameters);
  CHECK(parts.forward == Approx(sums(all).forward).epsilon(1e-12));
  CHECK(entrance == 0.0);  // behind the last unit is the loss
  // Unit 5 begins behind the first stage of 256 channels and a block of 512: 512 x 28 x 28 numbers.
  CHECK(model.segments(problem, {.first_unit = 5, .end_unit = 6})[0].entrance == 512.0 * 28 * 28);
  CHECK_THAT(model.cut()->refusal(problem, {.tensor = 2, .sequence_parallel = false}),
             ContainsSubstring("set tensor, context and expert to 1"));
  CHECK(model.cut()->refusal(problem, {.tensor = 1, .sequence_parallel = false}).empty());
  CHECK_THROWS_AS(model.run(problem, {0, 18}, 0, false, 0, {}, {}), simgrad::base::InvariantError);
}

TEST_CASE("a vocabulary is padded as Megatron-LM pads it, and the padding is neither stored nor computed") {
  // GPT-2's vocabulary among eight ranks: Shoeybi et al. 2019, section 5.1.
  CHECK(padded_vocabulary(50257, 8) == 51200);
  CHECK(padded_vocabulary(50257, 1) == 50257);
  CHECK(padded_vocabulary(32000, 8) == 32000);
  // Shares of 128 would leave ranks without a token.
  CHECK(padded_vocabulary(101, 4) == 104);
  TransformerShape shape = small_llama();
  shape.vocabulary = 50257;
  const auto tokens = [&](int rank) {
    return share_of(shape, {.end_unit = shape.layers + 2, .tensor = 8, .tensor_rank = rank}).vocabulary;
  };
  CHECK((tokens(0).first == 0 && tokens(0).count == 6400));
  CHECK((tokens(6).first == 38400 && tokens(6).count == 6400));
  CHECK((tokens(7).first == 44800 && tokens(7).count == 5457));
  CHECK(padding_note(shape, 8).starts_with("the vocabulary of 50257 tokens is padded to 51200, so that each of "));
  CHECK(padding_note(shape, 1).empty());
}

}  // namespace cut_layers_test
