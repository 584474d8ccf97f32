// A cut transformer against the uncut one: gradients of chunks and of shares, layers, memory, refusals.
#include <cmath>

#include "catch.h"
#include "models/cut_run.h"
#include "models/cut_text.h"
#include "models/sample_data.h"
#include "models/transformer.h"

namespace cut_transformer_test {

using namespace simgrad::models;
using simgrad::values::Format;
using test::CutRun;
using test::Numbers;

namespace {

Transformer small(bool tied, bool gated, Norm norm, Positions positions, std::int64_t kv_heads) {
  Transformer model;
  model.options.layers = 3;
  model.options.hidden = 16;
  model.options.heads = 4;
  model.options.kv_heads = kv_heads;
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

constexpr std::int64_t vocabulary = 12;
constexpr std::int64_t units = 5;

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

/// Calls `visit` with transformers of all kinds.
template <class Visit>
void for_kinds(Visit visit) {
  for (const bool tied : {false, true})
    for (const bool gated : {false, true})
      for (const Norm norm : {Norm::layer_norm, Norm::rms_norm})
        for (const Positions positions : {Positions::learned, Positions::rotary}) {
          CAPTURE(tied, gated, static_cast<int>(norm), static_cast<int>(positions));
          visit(small(tied, gated, norm, positions, gated ? 2 : 4));
        }
}

}  // namespace

TEST_CASE("chunks of a transformer one after the other have the bits of the uncut gradient, in every format") {
  const Text text;
  std::mt19937 random(1);
  for_kinds([&](const Transformer& model) {
    const Numbers w = parameters_of(model, text.problem);
    for (const Format format : {Format::float64, Format::float32, Format::bfloat16}) {
      const Numbers expected = uncut(model, text, w, format);
      for (std::int64_t chunks = 1; chunks <= units; ++chunks) {
        CAPTURE(static_cast<int>(format), chunks);
        CutRun run{model, text.problem, text.all(), w, 0.3, 0.7, format};
        run.borders = test::random_borders(units, chunks, random);
        const Numbers g = run.gradient();
        CHECK(run.written == std::vector<int>(w.size(), 1));
        if (!model.options.tied)
          CHECK(g == expected);
        else if (format == Format::float64)  // the embedding's two gradients add up in another order
          CHECK(test::relative_distance(g, expected) < 1e-14);
      }
    }
  });
}

TEST_CASE("chunks of a transformer without rows have the gradient of the penalty, with experts too") {
  const Text text;
  Samples none = text.all();
  none.count = 0;
  for (const std::int64_t experts : {0, 3})
    for (const bool sequence_parallel : {false, true}) {
      Transformer model = small(true, true, Norm::layer_norm, Positions::learned, 4);
      model.options.experts = experts;
      const Numbers w = parameters_of(model, text.problem);
      CutRun run{model, text.problem, none, w, 0.3, 0.7};
      run.tensor = 2;
      run.sequence_parallel = sequence_parallel;
      run.borders = {0, 2, units};
      const Numbers g = run.gradient();
      for (std::size_t j = 0; j < w.size(); ++j) REQUIRE(g[j] == 0.7 * 0.1 * w[j]);
    }
}

TEST_CASE("ranks that share a transformer's products have its gradient, and agree bit for bit") {
  const Text text;
  std::mt19937 random(2);
  for_kinds([&](const Transformer& model) {
    const Numbers w = parameters_of(model, text.problem);
    const Numbers expected = uncut(model, text, w);
    for (const int tensor : {2, 4})
      for (const bool sequence_parallel : {false, true})
        for (const std::int64_t chunks : {1, 3}) {
          if (!model.cut()->refusal(text.problem, {.tensor = tensor, .sequence_parallel = sequence_parallel}).empty())
            continue;
          CAPTURE(tensor, sequence_parallel, chunks);
          CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
          run.tensor = tensor;
          run.sequence_parallel = sequence_parallel;
          run.borders = test::random_borders(units, chunks, random);
          const Numbers g = run.gradient();
          CHECK(run.written == std::vector<int>(w.size(), 1));
          CHECK(run.ranks_agree);
          CHECK(test::relative_distance(g, expected) < 1e-13);
        }
  });
}

}  // namespace cut_transformer_test
