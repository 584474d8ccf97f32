// A transformer whose experts are shared among ranks, against the uncut one: gradients, messages, layers, refusals.
#include <cmath>

#include "base/random.h"
#include "catch.h"
#include "models/cut_run.h"
#include "models/cut_text.h"
#include "models/transformer.h"
#include "models/transformer_cut.h"
#include "models/transformer_router.h"

namespace cut_experts_test {

using namespace simgrad;
using namespace simgrad::models;
using test::CutRun;
using test::Numbers;
using values::Format;

namespace {

constexpr std::int64_t vocabulary = 12;

Transformer small(std::int64_t top_k, double capacity_factor, bool gated, std::int64_t every) {
  Transformer model;
  model.options.layers = 2;
  model.options.hidden = 8;
  model.options.heads = 2;
  model.options.feed_forward = 6;
  model.options.gated = gated;
  model.options.biases = !gated;
  model.options.sequence = 6;
  model.options.tied = gated;
  model.options.experts = 4;
  model.options.top_k = top_k;
  model.options.capacity_factor = capacity_factor;
  model.options.auxiliary_loss = 0.2;
  model.options.expert_every = every;
  model.l2 = 0.1;
  return model;
}

Numbers normal_numbers(std::int64_t count, double deviation) {
  base::Stream stream({.seed = 4, .purpose = base::Purpose::initial_values, .step = 0});
  Numbers numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) number = deviation * stream.normal();
  return numbers;
}

struct Text : test::Text {
  Text() : test::Text(8, 6, vocabulary) {}
};

std::int64_t length(const std::vector<ParameterStretch>& stretches) {
  std::int64_t sum = 0;
  for (const ParameterStretch& stretch : stretches) sum += stretch.count;
  return sum;
}

/// Whether the experts' gradients have the same bits.
bool experts_agree(const TransformerShape& shape, const Numbers& a, const Numbers& b) {
  bool agree = true;
  for (const BlockPlaces& block : TransformerPlaces(shape).blocks)
    for (const auto* places : {&block.experts_in, &block.experts_out})
      for (const LinearPlace& place : *places)
        for (std::int64_t j = 0; j < place.outputs * place.inputs; ++j) {
          const auto at = static_cast<std::size_t>(place.matrix + j);
          agree &= a[at] == b[at];
        }
  return agree;
}

}  // namespace

TEST_CASE("ranks that share experts have the uncut gradient, and agree bit for bit, whatever tokens are dropped") {
  const Text text;
  std::mt19937 random(6);
  for (const std::int64_t top_k : {1, 2})
    for (const double capacity_factor : {0.6, 2.0})
      for (const bool gated : {false, true})
        for (const std::int64_t every : {1, 2}) {
          const Transformer model = small(top_k, capacity_factor, gated, every);
          const Numbers w = normal_numbers(model.parameters(text.problem), 0.5);
          Numbers expected(w.size());
          model.gradient(text.problem, text.all(), w, 0.3, 0.7, expected);
          for (const int expert : {2, 4})
            for (const std::int64_t chunks : {1, 3}) {
              CAPTURE(top_k, capacity_factor, gated, every, expert, chunks);
              REQUIRE(model.cut()->refusal(text.problem, {.expert = expert}).empty());
              CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
              run.expert = expert;
              run.borders = test::random_borders(4, chunks, random);
              const Numbers g = run.gradient();
              CHECK(run.written == std::vector<int>(w.size(), 1));
              CHECK(run.ranks_agree);
              CHECK(test::relative_distance(g, expected) < 1e-13);
            }
        }
}

TEST_CASE("experts among ranks that share products, tokens or both have the uncut gradient, and agree bit for bit") {
  const Text text;
  std::mt19937 random(8);
  for (const std::int64_t top_k : {1, 2})
    for (const double capacity_factor : {0.6, 2.0})
      for (const bool gated : {false, true}) {
        const Transformer model = small(top_k, capacity_factor, gated, 1 + static_cast<std::int64_t>(random() % 2));
        const Numbers w = normal_numbers(model.parameters(text.problem), 0.5);
        Numbers expected(w.size());
        model.gradient(text.problem, text.all(), w, 0.3, 0.7, expected);
        for (const int tensor : {1, 2})
          for (const bool sequence_parallel : {false, true})
            for (const int context : {1, 2, 3, 6})
              for (const int expert : {1, 2, 4}) {
                const Shares shares{tensor, sequence_parallel, context, expert};
                const bool divides = !sequence_parallel || 6 % (tensor * context) == 0;
                REQUIRE(model.cut()->refusal(text.problem, shares).empty() == divides);
                if (!divides) continue;
                CAPTURE(top_k, capacity_factor, gated, tensor, sequence_parallel, context, expert);
                CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
                run.tensor = tensor;
                run.sequence_parallel = sequence_parallel;
                run.context = context;
                run.expert = expert;
                run.borders = test::random_borders(4, 1 + static_cast<std::int64_t>(random() % 3), random);
                const Numbers g = run.gradient();
                CHECK(run.written == std::vector<int>(w.size(), 1));
                CHECK(run.ranks_agree);
                CHECK(test::relative_distance(g, expected) < 1e-13);
              }
      }
}

TEST_CASE(
    "the gradients of shared experts have the bits of the uncut ones in every format: their tokens come in order") {
  const Text text;
  for (const Format format : {Format::float64, Format::float32, Format::bfloat16}) {
    const Transformer model = small(2, 0.6, false, 1);
    const Numbers w = normal_numbers(model.parameters(text.problem), 0.5);
    Numbers expected(w.size());
    model.gradient_in(format, text.problem, text.all(), w, 0.3, 0.7, expected);
    CutRun run{model, text.problem, text.all(), w, 0.3, 0.7, format};
    run.expert = 2;
    run.borders = {0, 1, 4};
    const Numbers g = run.gradient();
    CHECK(run.ranks_agree);
    CHECK(experts_agree(model.options.shape(vocabulary), g, expected));
    // Other gradients are sums over two ranks, each rounded: 8 bits of bfloat16, 24 of float32.
    CHECK(test::relative_distance(g, expected) < (format == Format::bfloat16 ? 1e-2 : 1e-6));
  }
}

TEST_CASE("ranks that share experts and have no rows have the gradient of the penalty") {
  const Text text;
  Samples none = text.all();
  none.count = 0;
  const Transformer model = small(2, 1.0, true, 1);
  const Numbers w = normal_numbers(model.parameters(text.problem), 0.5);
  CutRun run{model, text.problem, none, w, 0.3, 0.7};
  run.expert = 4;
  run.borders = {0, 2, 4};
  const Numbers g = run.gradient();
  for (std::size_t j = 0; j < w.size(); ++j) REQUIRE(g[j] == 0.7 * 0.1 * w[j]);
}

TEST_CASE("a block of shared experts exchanges capacity copies of each expert twice forwards and twice backwards") {
  using enum Step::Then;
  TransformerShape shape = small(2, 1.25, false, 2).options.shape(vocabulary);
  const double copies = 4.0 * 4 * 8;  // ceil(1.25 x 6 x 2 / 4) = 4 copies of 8 numbers for each of 4 experts
  const std::vector<Segment> block = segments(shape, {.first_unit = 2, .end_unit = 3, .expert = 2});
  REQUIRE(block.size() == 2);
  for (const Step& step : block[0].forward) CHECK(step.then == nothing);
  for (const bool backward : {false, true}) {
    std::vector<Step> steps = backward ? block[1].backward : block[1].forward;
    if (!backward) {  // how many tokens each expert takes, which decides what travels
      CHECK((steps[0].counts_tokens && steps[0].then == nothing && steps[0].numbers == 4.0));
      steps.erase(steps.begin());
    }
    REQUIRE(steps.size() == 3);
    CHECK((steps[0].then == all_to_all && steps[1].then == all_to_all_back && steps[2].then == nothing));
    // The router and two layers of experts: tokens go out behind the router, their derivatives before the experts.
    CHECK(steps[0].layers == (backward ? 0 : 1));
    CHECK(std::min(steps[1].layers, block[1].layers) == (backward ? 2 : 3));
    for (const std::size_t i : {0, 1}) {
      CHECK(steps[i].among == Among::expert);
      CHECK(steps[i].numbers == copies);
      CHECK(steps[i].kept == !backward);
      CHECK(steps[i].places == 4);
    }
    CHECK(steps[2].numbers == 6.0 * 8);
    CHECK_FALSE(steps[2].kept);
  }
  // Experts that are padded to their capacity need no counts.
  shape.pad_experts = true;
  for (const Step& step : segments(shape, {.first_unit = 2, .end_unit = 3, .expert = 2})[1].forward)
    CHECK((!step.counts_tokens && step.places == 0));
  shape.pad_experts = false;
  // Another block, and one expert rank, exchange nothing.
  for (const Chunk& chunk : {Chunk{.first_unit = 1, .end_unit = 2, .expert = 2}, Chunk{.first_unit = 2, .end_unit = 3}})
    for (const Segment& segment : segments(shape, chunk))
      for (const std::vector<Step>* steps : {&segment.forward, &segment.backward})
        for (const Step& step : *steps) CHECK(step.then == nothing);
}

TEST_CASE("tensor ranks sum the experts' results, and context ranks gather the router's probabilities") {
  using enum Step::Then;
  const TransformerShape shape = small(2, 1.25, false, 1).options.shape(vocabulary);
  const auto steps = [&](const Chunk& chunk, bool backward) {
    const Segment part = segments(shape, chunk)[1];
    std::vector<std::pair<Step::Then, double>> made;
    for (const Step& step : backward ? part.backward : part.forward)
      if (step.then != nothing) made.emplace_back(step.then, step.numbers);
    return made;
  };
  using Steps = std::vector<std::pair<Step::Then, double>>;
  const Chunk tensor{.first_unit = 1, .end_unit = 2, .tensor = 2};
  for (const bool backward : {false, true}) CHECK(steps(tensor, backward) == Steps{{sum, 4.0 * 4 * 8}});
  Chunk all = tensor;
  all.context = 3;
  all.expert = 2;
  // 4 probabilities of a token forwards alone, for they are kept. Of 2 own tokens an expert takes 2 at most, of the 4
  // that it takes of a sequence.
  const double copies = 4.0 * 2 * 8;
  CHECK(steps(all, false) == Steps{{gather, 2.0 * 4}, {all_to_all, copies}, {sum, copies}, {all_to_all_back, copies}});
  CHECK(steps(all, true) == Steps{{all_to_all, copies}, {sum, copies}, {all_to_all_back, copies}});
}

TEST_CASE("tensor ranks divide the experts' products, and each has the router and the biases behind the sum") {
  for (const bool gated : {false, true}) {
    const TransformerShape shape = small(2, 1.25, gated, 1).options.shape(vocabulary);
    const std::vector<Layer> whole = layers(shape);
    std::int64_t all = 0, everywhere = 0;
    for (int rank = 0; rank < 2; ++rank) {
      const Chunk chunk{.first_unit = 0, .end_unit = 4, .tensor = 2, .tensor_rank = rank};
      const std::vector<Layer> own = layers(shape, chunk);
      everywhere = length(replicated(shape, chunk, Among::tensor));
      CHECK(length(parameters_of(shape, chunk)) == own.back().first + own.back().count);
      all += length(parameters_of(shape, chunk)) - everywhere;
      for (std::size_t l = 0; l < own.size(); ++l) {
        const double shares = own[l].name.ends_with("router") ? 1.0 : 2.0;
        CHECK(own[l].forward_flops * shares == Approx(whole[l].forward_flops).epsilon(1e-14));
      }
    }
    CHECK(all + everywhere == parameters(shape));
  }
}

TEST_CASE("ranks that share experts have all parameters but those of the others' experts, and their samples' work") {
  for (const std::int64_t every : {1, 2}) {
    const TransformerShape shape = small(2, 1.25, false, every).options.shape(vocabulary);
    const std::vector<Layer> whole = layers(shape);
    std::int64_t all = 0, everywhere = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const Chunk chunk{.first_unit = 0, .end_unit = 4, .expert = 4, .expert_rank = rank};
      const std::vector<Layer> own = layers(shape, chunk);
      everywhere = length(replicated(shape, chunk, Among::expert));
      all += length(parameters_of(shape, chunk)) - everywhere;
      CHECK(length(parameters_of(shape, chunk)) == own.back().first + own.back().count);
      REQUIRE(own.size() == whole.size());
      for (std::size_t l = 0; l < own.size(); ++l) {
        const bool shared = own[l].name.ends_with("experts in") || own[l].name.ends_with("experts out");
        CHECK(own[l].count == (shared ? whole[l].count / 4 : whole[l].count));
        CHECK(own[l].forward_flops == Approx(whole[l].forward_flops).epsilon(1e-14));
        CHECK(own[l].kept.numbers == whole[l].kept.numbers);
        if (shared) CHECK(own[l].products[0].m == 4.0 * whole[l].products[0].m);  // one expert's tokens of four ranks
      }
    }
    CHECK(all + everywhere == parameters(shape));
    // An expert: 8 x 6 + 6 and 6 x 8 + 8 numbers; four of them in each block that has experts.
    CHECK(all == 4 * (2 / every) * (8 * 6 + 6 + 6 * 8 + 8));
  }
}

TEST_CASE("experts that ranks cannot share are refused with those that they can") {
  TransformerShape shape = small(1, 1.0, false, 1).options.shape(vocabulary);
  shape.experts = 6;
  CHECK(cut_refusal(shape, {.expert = 3}).empty());
  CHECK(cut_refusal(shape, {.context = 2}).empty());
  shape.pad_experts = true;
  CHECK(cut_refusal(shape, {.expert = 3}).empty());
  CHECK(cut_refusal(shape, {.context = 2}) ==
        "pad_experts = true has places for the tokens of a whole sequence, which each of context = 2 ranks would send "
        "and compute; set pad_experts = false, or context = 1");
  CHECK(cut_refusal(shape, {.expert = 4}) ==
        "experts = 6 do not divide among expert = 4 ranks; take expert from 1, 2, 3, 6, or give experts = 8");
  shape.experts = 0;
  CHECK(cut_refusal(shape, {.expert = 2}) ==
        "no block has experts that expert = 2 ranks could share; set expert = 1, or give experts");
  shape.experts = 4;
  shape.expert_every = 3;  // of two blocks
  CHECK(cut_refusal(shape, {.expert = 2}).starts_with("no block has experts"));
}

}  // namespace cut_experts_test
