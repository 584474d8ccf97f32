// Tensor ranks with shares of unlike sizes: gradients of the uncut model, whole units by largest remainders, refusals.
#include "catch.h"
#include "models/cut_run.h"
#include "models/cut_text.h"
#include "models/perceptron.h"
#include "models/sample_data.h"
#include "models/transformer.h"
#include "models/transformer_cut.h"

namespace cut_by_weights_test {

using namespace simgrad::models;
using test::CutRun;
using test::Numbers;

namespace {

/// The weights of so many ranks, one of which is several times as fast as the last one.
Numbers weights_of(int tensor, std::mt19937& random) {
  Numbers weights;
  for (int rank = 0; rank < tensor; ++rank) weights.push_back(0.2 + static_cast<double>(random() % 1000) / 500.0);
  return weights;
}

Numbers parameters_of(const Model& model, const Problem& problem) {
  Numbers w = test::sample_parameters(model.parameters(problem));
  for (double& w_j : w) w_j += 0.03;
  return w;
}

void check_run(CutRun& run, const Numbers& expected) {
  const Numbers g = run.gradient();
  CHECK(run.written == std::vector<int>(expected.size(), 1));
  CHECK(run.ranks_agree);
  CHECK(test::relative_distance(g, expected) < 1e-13);
}

Transformer transformer(bool tied, bool gated, std::int64_t experts) {
  Transformer model;
  model.options.layers = 2;
  model.options.hidden = 24;
  model.options.heads = 12;
  model.options.kv_heads = gated ? 6 : 12;
  model.options.feed_forward = 21;
  model.options.gated = gated;
  model.options.sequence = 12;
  model.options.tied = tied;
  model.options.positions = gated ? Positions::rotary : Positions::learned;
  model.options.experts = experts;
  model.l2 = 0.1;
  return model;
}

struct Text : test::Text {
  Text() : test::Text(4, 12, 13) {}
};

}  // namespace

TEST_CASE("ranks with unlike shares of a perceptron have its gradient, and agree bit for bit") {
  std::mt19937 random(11);
  for (const int classes : {0, 3, 7})
    for (const int tensor : {2, 3, 5})
      for (const std::int64_t chunks : {1, 2, 5}) {
        CAPTURE(classes, tensor, chunks);
        Perceptron model;
        model.hidden = {8.0, 13.0, 5.0, 40.0};
        model.l2 = 0.1;
        const test::Data data = test::sample_data(70, 5, classes);
        const Numbers w = parameters_of(model, data.problem);
        REQUIRE(model.refusal(data.problem, {.tensor = tensor, .by_weights = true}).empty());
        CutRun run{model, data.problem, data.all(), w, 0.3, 0.7};
        run.tensor = tensor;
        run.tensor_weights = weights_of(tensor, random);
        run.borders = test::random_borders(5, chunks, random);
        check_run(run, test::gradient(model, data.problem, data.all(), w, 0.3, 0.7));
      }
}

TEST_CASE("ranks with unlike shares of a transformer have its gradient, with context and expert ranks too") {
  const Text text;
  std::mt19937 random(12);
  for (const bool tied : {false, true})
    for (const bool gated : {false, true})
      for (const std::int64_t experts : {0, 2})
        for (const int tensor : {2, 3})
          for (const bool sequence_parallel : {false, true})
            for (const int context : {1, 2}) {
              CAPTURE(tied, gated, experts, tensor, sequence_parallel, context);
              const Transformer model = transformer(tied, gated, experts);
              const Numbers w = parameters_of(model, text.problem);
              CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
              run.tensor = tensor;
              run.tensor_weights = weights_of(tensor, random);
              run.sequence_parallel = sequence_parallel;
              run.context = context;
              run.expert = experts > 0 ? 2 : 1;
              run.borders = test::random_borders(4, 2, random);
              Numbers expected(w.size());
              model.gradient_in(run.format, text.problem, text.all(), w, 0.3, 0.7, expected);
              check_run(run, expected);
            }
}

TEST_CASE("equal weights are equal shares, bit for bit") {
  const test::Text text(4, 12, 12);
  Transformer model = transformer(true, true, 0);
  model.options.feed_forward = 24;
  const Numbers w = parameters_of(model, text.problem);
  const auto gradient = [&](const Numbers& weights) {
    CutRun run{model, text.problem, text.all(), w, 0.3, 0.7};
    run.tensor = 3;
    run.tensor_weights = weights;
    run.borders = {0, 4};
    return run.gradient();
  };
  CHECK(gradient({0.7, 0.7, 0.7}) == gradient({}));
  CHECK(gradient({0.7, 0.7, 1.4}) != gradient({}));
}

TEST_CASE("shares by weights are whole heads, columns and tokens by largest remainders") {
  const Transformer model = transformer(false, true, 0);
  const Problem problem{.features = 12, .vocabulary = 13};
  // There are 6 heads of keys and values, 21 columns and 13 tokens. Parts of 3 : 2 : 1 are 3 + 2 + 1, 10.5 + 7 + 3.5
  // and 6.5 + 4.33 + 2.17. Remainders of a half are equal, and the first one gets the column.
  const Numbers weights{3.0, 2.0, 1.0};
  const std::vector<std::vector<std::int64_t>> expected{{6, 11, 7}, {4, 7, 4}, {2, 3, 2}};
  double flops = 0.0, of_block = 0.0;
  for (int rank = 0; rank < 3; ++rank) {
    const Chunk chunk{.end_unit = 4, .tensor = 3, .tensor_rank = rank, .tensor_weights = weights};
    const std::vector<SharedUnits> units = model.tensor_units(problem, chunk);
    REQUIRE(units.size() == 3);
    CHECK((units[0].name == "heads" && units[1].name == "columns" && units[2].name == "tokens"));
    for (std::size_t k = 0; k < 3; ++k) CHECK(units[k].count == expected[static_cast<std::size_t>(rank)][k]);
    const std::vector<Layer> all = model.layers(problem, chunk);
    const double s = 12, h = 24, d = 2;
    const auto heads = static_cast<double>(units[0].count), f = static_cast<double>(units[1].count);
    // A block's products: q and half as many numbers of k and of v, scores and their use, the second product; gated
    // feed-forward columns with three matrices.
    const double products = 2.0 * s * (h * heads * d * 2.0 + 2.0 * s * heads * d + h * heads * d + 3.0 * h * f);
    double own = 0.0;
    for (const Layer& layer : all) {
      flops += layer.forward_flops;
      if (layer.unit == 1) own += layer.forward_flops;
    }
    CHECK(own == Approx(products).epsilon(1e-12));
    of_block += own;
  }
  double whole = 0.0, whole_block = 0.0;
  for (const Layer& layer : model.layers(problem)) {
    whole += layer.forward_flops;
    if (layer.unit == 1) whole_block += layer.forward_flops;
  }
  CHECK(flops == Approx(whole).epsilon(1e-12));
  CHECK(of_block == Approx(whole_block).epsilon(1e-12));
}

TEST_CASE("each rank has a unit at least, and a model with too few is refused") {
  Perceptron model;
  model.hidden = {4.0, 4.0};
  const Problem problem{.features = 5};
  const Chunk slow{.end_unit = 3, .tensor = 4, .tensor_rank = 3, .tensor_weights = {100.0, 100.0, 100.0, 1.0}};
  CHECK(model.tensor_units(problem, slow)[0].count >= 1);
  CHECK_THAT(model.refusal(problem, {.tensor = 5, .by_weights = true}),
             ContainsSubstring("a hidden layer of 4 units has none for some of tensor = 5 ranks; expected 5 units"));
  const Transformer few = transformer(false, true, 0);
  CHECK_THAT(few.refusal({.vocabulary = 13}, {.tensor = 8, .by_weights = true}),
             ContainsSubstring("kv_heads = 6 leave some of tensor = 8 ranks without any"));
  CHECK(few.refusal({.vocabulary = 13}, {.tensor = 4, .by_weights = true}).empty());
  CHECK_THAT(few.refusal({.vocabulary = 13}, {.tensor = 4}), ContainsSubstring("kv_heads = 6 do not divide"));
}

}  // namespace cut_by_weights_test
