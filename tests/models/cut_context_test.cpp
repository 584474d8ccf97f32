// A transformer whose tokens are shared among context ranks, against the uncut one: gradients, messages, layers.
#include <cmath>

#include "catch.h"
#include "models/cut_run.h"
#include "models/cut_text.h"
#include "models/published_shapes.h"
#include "models/sample_data.h"
#include "models/transformer.h"
#include "models/transformer_cut.h"

namespace cut_context_test {

using namespace simgrad::models;
using simgrad::values::Format;
using test::CutRun;
using test::gpt;
using test::Numbers;

namespace {

constexpr std::int64_t vocabulary = 12;
constexpr std::int64_t units = 4;

Transformer small(bool tied, bool gated, Norm norm, Positions positions) {
  Transformer model;
  model.options.layers = 2;
  model.options.hidden = 16;
  model.options.heads = 4;
  model.options.kv_heads = gated ? 2 : 4;
  model.options.feed_forward = 20;
  model.options.gated = gated;
  model.options.sequence = 8;
  model.options.tied = tied;
  model.options.biases = norm == Norm::layer_norm;
  model.options.norm = norm;
  model.options.positions = positions;
  model.l2 = 0.1;
  return model;
}

struct Text : test::Text {
  Text() : test::Text(3, 8, vocabulary) {}
};

Numbers parameters_of(const Transformer& model, const Problem& problem) {
  Numbers w = test::sample_parameters(model.parameters(problem));
  for (double& w_j : w) w_j += 0.03;
  return w;
}

Numbers uncut(const Transformer& model, const Text& text, const Numbers& w, Format format = Format::float64) {
  Numbers g(w.size());
  model.gradient_in(format, text.problem, text.all(), w, 0.3, 0.7, g);
  return g;
}

Chunk share(const TransformerShape& shape, int context, int tensor = 1, bool sequence_parallel = false) {
  return {.first_unit = 0,
          .end_unit = shape.layers + 2,
          .tensor = tensor,
          .sequence_parallel = sequence_parallel,
          .context = context};
}

}  // namespace

TEST_CASE("ranks that share tokens have a transformer's gradient and agree bit for bit, beside all other cuts") {
  const Text text;
  std::mt19937 random(7);
  for (const bool tied : {false, true})
    for (const bool gated : {false, true})
      for (const Norm norm : {Norm::layer_norm, Norm::rms_norm})
        for (const Positions positions : {Positions::learned, Positions::rotary}) {
          const Transformer model = small(tied, gated, norm, positions);
          const Numbers w = parameters_of(model, text.problem);
          const Numbers expected = uncut(model, text, w);
          for (const int context : {2, 4, 8})
            for (const int tensor : {1, 2, 4})
              for (const bool sequence_parallel : {false, true}) {
                const Shares shares{.tensor = tensor, .sequence_parallel = sequence_parallel, .context = context};
                if (!model.cut()->refusal(text.problem, shares).empty()) continue;
                CAPTURE(tied, gated, static_cast<int>(norm), static_cast<int>(positions), context, tensor,
                        sequence_parallel);
                CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
                run.tensor = tensor;
                run.sequence_parallel = sequence_parallel;
                run.context = context;
                run.borders = test::random_borders(units, 1 + static_cast<std::int64_t>(random() % 3), random);
                const Numbers g = run.gradient();
                CHECK(run.written == std::vector<int>(w.size(), 1));
                CHECK(run.ranks_agree);
                CHECK(test::relative_distance(g, expected) < 1e-13);
              }
        }
}

TEST_CASE("in float32 and bfloat16 ranks that share tokens have the uncut gradient but for the rounding of its parts") {
  const Text text;
  const Transformer model = small(true, true, Norm::layer_norm, Positions::rotary);
  const Numbers w = parameters_of(model, text.problem);
  for (const auto& [format, most] : {std::pair{Format::float32, 1e-6}, {Format::bfloat16, 2e-2}}) {
    CutRun run{model, text.problem, text.all(), w, 0.3, 0.7, format};
    run.context = 4;
    run.borders = {0, 2, units};
    const Numbers g = run.gradient();
    CHECK(run.ranks_agree);
    CHECK(test::relative_distance(g, uncut(model, text, w, format)) < most);
  }
}

TEST_CASE("ranks that share tokens and have no rows have the gradient of the penalty") {
  const Text text;
  Samples none = text.all();
  none.count = 0;
  const Transformer model = small(true, false, Norm::layer_norm, Positions::learned);
  const Numbers w = parameters_of(model, text.problem);
  CutRun run{model, text.problem, none, w, 0.3, 0.7};
  run.tensor = 2;
  run.sequence_parallel = true;
  run.context = 4;
  run.borders = {0, 2, units};
  const Numbers g = run.gradient();
  for (std::size_t j = 0; j < w.size(); ++j) REQUIRE(g[j] == 0.7 * 0.1 * w[j]);
}

TEST_CASE("keys and values go around c - 1 times forwards and twice as often backwards, beside attention's own flops") {
  using enum Step::Then;
  TransformerShape shape = gpt(2, 64, 8, 32, 100);
  shape.kv_heads = 4;
  for (const int c : {2, 4})
    for (const int t : {1, 2})
      for (const bool sequence_parallel : {false, true}) {
        Chunk chunk = share(shape, c, t, sequence_parallel);
        chunk.first_unit = 1;
        chunk.end_unit = 2;
        const std::vector<Layer> own = layers(shape, chunk);
        const std::vector<Segment> block = segments(shape, chunk);
        REQUIRE(block.size() == 2);
        double attention = 0.0, all = 0.0;  // scores and weighted sums; the first layer's
        for (const Product& product : own[0].products) {
          all += product.flops();
          attention += product.parameters ? 0.0 : product.flops();
        }
        for (const bool backward : {false, true}) {
          double sent = 0.0, beside = 0.0;  // numbers of a sample to the neighbour, by rings
          for (const Segment& segment : block)
            for (const Step& step : backward ? segment.backward : segment.forward) {
              if (step.among != Among::context) continue;
              REQUIRE((step.then == gather || step.then == sum_shard));
              sent += (c - 1) * (step.then == gather ? step.numbers : step.numbers / c);
              beside += step.beside;
              CHECK(step.again == (backward && step.then == gather));
              CHECK(step.layers == 1);  // the first product, or backward the second one, comes before
            }
          // 2 b (s / c) h a_kv / a numbers, c - 1 times; of the tensor rank's heads.
          CHECK(sent == (backward ? 2.0 : 1.0) * (c - 1) * 2.0 * (32.0 / c) * 64.0 * 4 / 8 / t);
          CHECK(beside == Approx(attention / all).epsilon(1e-14));
        }
        CHECK(block[1].entrance == 32.0 * 64.0 / c / (sequence_parallel ? t : 1));
      }
}

TEST_CASE("context ranks divide a transformer's work and what it keeps, and each has all parameters") {
  for (const TransformerShape& shape : {gpt(3, 64, 8, 32, 100), test::small_llama(8, 4)})
    for (const int t : {1, 2})
      for (const bool sequence_parallel : {false, true}) {
        const std::vector<Layer> alone = layers(shape, share(shape, 1, t, sequence_parallel));
        const std::vector<Layer> own = layers(shape, share(shape, 4, t, sequence_parallel));
        REQUIRE(own.size() == alone.size());
        for (std::size_t l = 0; l < own.size(); ++l) {
          CAPTURE(alone[l].name);
          CHECK(own[l].count == alone[l].count);
          const auto quarter = [](double part, double whole) { CHECK(part == Approx(whole / 4.0).epsilon(1e-14)); };
          quarter(own[l].forward_flops, alone[l].forward_flops);
          quarter(own[l].backward_flops, alone[l].backward_flops);
          quarter(own[l].elementwise, alone[l].elementwise);
          quarter(own[l].kept.numbers, alone[l].kept.numbers);
          quarter(own[l].kept.bytes, alone[l].kept.bytes);
          quarter(own[l].selective.numbers, alone[l].selective.numbers);
          quarter(own[l].selective_flops, alone[l].selective_flops);
          quarter(own[l].entrance, alone[l].entrance);
        }
        const Chunk chunk = share(shape, 4, t, sequence_parallel);
        const std::int64_t all = own.back().first + own.back().count;
        CHECK(replicated(shape, chunk, Among::context) == std::vector<ParameterStretch>{{0, all}});
        CHECK(parameters_of(shape, chunk) == parameters_of(shape, share(shape, 1, t, sequence_parallel)));
      }
}

TEST_CASE("tokens that context ranks cannot share are refused with a sequence that they can") {
  TransformerShape shape = test::small_llama(8, 4);
  shape.sequence = 20;
  CHECK(cut_refusal(shape, {.context = 4}).empty());
  CHECK(
      cut_refusal(shape, {.context = 8}) ==
      "sequence = 20 does not divide among context = 8 ranks; give sequence = 24, or take context from 1, 2, 4, 5, 10");
  CHECK(cut_refusal(shape, {.tensor = 2, .context = 4}).empty());
  CHECK(cut_refusal(shape, {.tensor = 2, .sequence_parallel = true, .context = 2}).empty());
  CHECK(cut_refusal(shape, {.tensor = 2, .sequence_parallel = true, .context = 4}) ==
        "sequence = 20 does not divide among context x tensor = 4 x 2 ranks, as sequence parallelism needs; give "
        "sequence = 24, or sequence_parallel = false");
}

}  // namespace cut_context_test
