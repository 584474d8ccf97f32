// A cut perceptron against the uncut one.
#include "catch.h"
#include "models/cut_run.h"
#include "models/perceptron.h"
#include "models/sample_data.h"

namespace cut_perceptron_test {

using namespace simgrad::models;
using simgrad::values::Format;
using test::CutRun;
using test::Numbers;

namespace {

constexpr std::int64_t units = 4;

Perceptron network(Activation activation, bool bias) {
  Perceptron model;
  model.hidden = {8.0, 12.0, 4.0};
  model.activation = activation;
  model.bias = bias;
  model.l2 = 0.1;
  return model;
}

/// More rows than a block of 64 has.
constexpr std::int64_t rows = 150;

template <class Visit>
void for_kinds(Visit visit) {
  for (const int classes : {0, 4, 5})
    for (const Activation activation : {Activation::relu, Activation::tanh})
      for (const bool bias : {false, true}) {
        CAPTURE(classes, static_cast<int>(activation), bias);
        const Perceptron model = network(activation, bias);
        const test::Data data = test::sample_data(rows, 5, classes);
        Numbers w = test::sample_parameters(model.parameters(data.problem));
        for (double& w_j : w) w_j += 0.03;
        visit(model, data, w);
      }
}

}  // namespace

TEST_CASE("layers of a perceptron one after the other have the bits of the uncut gradient, in every format") {
  std::mt19937 random(3);
  for_kinds([&](const Perceptron& model, const test::Data& data, const Numbers& w) {
    for (const Format format : {Format::float64, Format::float32, Format::bfloat16})
      for (std::int64_t chunks = 1; chunks <= units; ++chunks) {
        CAPTURE(static_cast<int>(format), chunks);
        Numbers expected(w.size());
        model.gradient_in(format, data.problem, data.all(), w, 0.3, 0.7, expected);
        CutRun run{model, data.problem, data.all(), w, 0.3, 0.7, format};
        run.borders = test::random_borders(units, chunks, random);
        CHECK(run.gradient() == expected);
        CHECK(run.written == std::vector<int>(w.size(), 1));
      }
  });
}

TEST_CASE("chunks of a perceptron without rows have the gradient of the penalty") {
  const Perceptron model = network(Activation::tanh, true);
  const test::Data data = test::sample_data(rows, 5, 4);
  const Numbers w = test::sample_parameters(model.parameters(data.problem));
  CutRun run{model, data.problem, data.range(3, 0), w, 0.3, 0.7};
  run.tensor = 2;
  run.borders = {0, 2, units};
  const Numbers g = run.gradient();
  for (std::size_t j = 0; j < w.size(); ++j) REQUIRE(g[j] == 0.7 * 0.1 * w[j]);
}

TEST_CASE("ranks that share a perceptron's units have its gradient, and agree bit for bit") {
  std::mt19937 random(4);
  for_kinds([&](const Perceptron& model, const test::Data& data, const Numbers& w) {
    const Numbers expected = test::gradient(model, data.problem, data.all(), w, 0.3, 0.7);
    for (const int tensor : {2, 4})
      for (const std::int64_t chunks : {1, 2, 4}) {
        CAPTURE(tensor, chunks);
        REQUIRE(model.cut()->refusal(data.problem, {.tensor = tensor, .sequence_parallel = false}).empty());
        CutRun run{model, data.problem, data.all(), w, 0.3, 0.7};
        run.tensor = tensor;
        run.borders = test::random_borders(units, chunks, random);
        CHECK(test::relative_distance(run.gradient(), expected) < 1e-13);
        CHECK(run.written == std::vector<int>(w.size(), 1));
        CHECK(run.ranks_agree);
      }
  });
}

TEST_CASE("a perceptron's shares divide its parameters and flops, and outputs that do not divide are every rank's") {
  const Perceptron model = network(Activation::tanh, true);
  const Problem problem{.features = 5, .classes = 0};
  // 5 x 8, 8 x 12, 12 x 4 and 4 x 1, each unit with a bias.
  const std::vector<Layer> own = model.layers(problem, {.first_unit = 1, .end_unit = 4, .tensor = 4, .tensor_rank = 2});
  REQUIRE(own.size() == 3);
  CHECK(own[0].first == 0);
  CHECK(own[0].unit == 0);
  CHECK(own[0].count == 8 * 3 + 3);
  CHECK(own[1].first == own[0].count);
  CHECK(own[1].count == 12 * 1 + 1);
  CHECK(own[2].count == 4 * 1 + 1);
  CHECK(own[0].forward_flops == 2.0 * 8 * 3);
  CHECK(own[0].backward_flops == 4.0 * 8 * 3);
  CHECK(own[0].kept.numbers == 8.0);
  CHECK(own[2].forward_flops == 2.0 * 4);
  using Stretches = std::vector<ParameterStretch>;
  CHECK(model.replicated(problem, {1, 4, 4, 2, false}, Among::tensor) == Stretches{{27 + 13, 5}});
  // Unit 1 begins behind 5 x 8 + 8; rank 2 has its rows 6, 7, 8.
  CHECK(model.parameters_of(problem, {1, 2, 4, 2, false}) == Stretches{{48 + 6 * 8, 3 * 8}, {48 + 8 * 12 + 6, 3}});
}

TEST_CASE("a perceptron refuses ranks among which its units do not divide, and a division of sequences") {
  const Perceptron model = network(Activation::relu, true);
  const Problem problem{.features = 5, .classes = 0};
  CHECK(model.refusal(problem, {.tensor = 1, .sequence_parallel = false}).empty());
  CHECK_THAT(model.refusal(problem, {.tensor = 8, .sequence_parallel = false}),
             ContainsSubstring("a hidden layer of 12 units does not divide among tensor = 8 ranks; give it 16 units"));
  CHECK_THAT(model.refusal(problem, {.tensor = 2, .sequence_parallel = true}),
             ContainsSubstring("set sequence_parallel = false"));
}

}  // namespace cut_perceptron_test
