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
  // 5 x 8, 8 x 12, 12 x 4 and 4 x 1, each unit with a bias. The second and the third are a pair.
  const std::vector<Layer> own = model.layers(problem, {.first_unit = 1, .end_unit = 4, .tensor = 4, .tensor_rank = 2});
  REQUIRE(own.size() == 3);
  CHECK(own[0].first == 0);
  CHECK(own[0].unit == 0);
  CHECK(own[0].count == 8 * 3 + 3);
  CHECK(own[1].first == own[0].count);
  CHECK(own[1].count == 3 * 4 + 4);
  CHECK((own[1].rows == 4 && own[1].columns == 3));
  CHECK(own[2].count == 4 * 1 + 1);
  CHECK(own[0].forward_flops == 2.0 * 8 * 3);
  CHECK(own[0].backward_flops == 4.0 * 8 * 3);
  CHECK(own[0].kept.numbers == 8.0);
  CHECK(own[1].forward_flops == 2.0 * 3 * 4);
  CHECK(own[1].kept.numbers == 3.0);
  CHECK(own[2].forward_flops == 2.0 * 4);
  using Stretches = std::vector<ParameterStretch>;
  // The biases behind the pair's sum, and the last layer.
  CHECK(model.replicated(problem, {1, 4, 4, 2, false}, Among::tensor) == Stretches{{27 + 12, 4 + 5}});
  // Unit 1 begins behind 5 x 8 + 8; rank 2 has its rows 6, 7, 8.
  const Stretches rows{{48 + 6 * 8, 3 * 8}, {48 + 8 * 12 + 6, 3}};
  CHECK(model.parameters_of(problem, {1, 2, 4, 2, false}) == rows);
  // In a pair it has columns 6, 7, 8 of unit 2's four rows, and all of its biases.
  Stretches both = rows;
  for (const std::int64_t row : {0, 1, 2, 3}) both.push_back({48 + 108 + row * 12 + 6, 3});
  both.push_back({48 + 108 + 48, 4});
  CHECK(model.parameters_of(problem, {1, 3, 4, 2, false}) == both);
}

TEST_CASE("two layers of a perceptron have one sum in each direction, and gather nothing") {
  using enum Step::Then;
  Perceptron model;
  model.hidden = {16.0, 6.0, 32.0};
  const Problem problem{.features = 5, .classes = 3};
  const std::vector<Segment> all = model.segments(problem, {.end_unit = 4, .tensor = 2});
  REQUIRE(all.size() == 2);
  CHECK((all[0].layers == 2 && all[0].exit == 6.0 && all[1].layers == 2 && all[1].entrance == 6.0));
  REQUIRE(all[0].forward.size() == 2);
  CHECK((all[0].forward[0].then == sum && all[0].forward[0].numbers == 6.0 && all[0].forward[1].then == nothing));
  REQUIRE(all[0].backward.size() == 1);
  CHECK((all[0].backward[0].then == nothing && all[0].backward[0].gradients));  // samples have no derivatives
  CHECK(all[1].forward.empty());
  REQUIRE(all[1].backward.size() == 2);
  CHECK((all[1].backward[0].then == sum && all[1].backward[0].numbers == 3.0));
  CHECK((all[1].backward[1].then == sum && all[1].backward[1].numbers == 6.0));
}

TEST_CASE("a perceptron's pairs are those that send least") {
  // Numbers that each rank sends, in parts of (t - 1) / t: n of a gathering of n, 2 n of a sum.
  const auto sent = [](const std::vector<Segment>& all, int tensor) {
    double numbers = 0.0;
    for (const Segment& segment : all)
      for (const auto& steps : {segment.forward, segment.backward})
        for (const Step& step : steps) {
          if (step.then == Step::Then::gather) numbers += tensor * step.numbers;
          if (step.then == Step::Then::sum) numbers += 2.0 * step.numbers;
        }
    return numbers;
  };
  std::mt19937 random(9);
  int with_both = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int tensor = trial % 2 == 0 ? 2 : 4;
    Perceptron model;
    model.hidden.clear();
    for (auto layers = 1 + random() % 5; layers > 0; --layers)
      model.hidden.push_back(tensor * static_cast<double>(1 + random() % (random() % 2 == 0 ? 4 : 40)));
    const Problem problem{.features = 7, .classes = static_cast<int>(2 + random() % 20)};
    const std::vector<std::int64_t> widths = model.widths(problem);
    const std::size_t layers = widths.size() - 1;
    double least = 1e300;
    for (std::size_t pairs = 0; pairs < std::size_t{1} << layers; ++pairs) {  // bit l: layers l and l + 1 are a pair
      if ((pairs & pairs << 1U) != 0 || (pairs >> (layers - 1) & 1U) != 0) continue;
      double numbers = 0.0;
      for (std::size_t l = 0; l < layers; ++l) {
        const double in = l == 0 ? 0.0 : static_cast<double>(widths[l]), out = static_cast<double>(widths[l + 1]);
        if ((pairs >> l & 1U) != 0) {
          numbers += 2.0 * in + 2.0 * static_cast<double>(widths[l + 2]);
          ++l;
        } else if (widths[l + 1] % tensor == 0) {
          numbers += 2.0 * in + out;
        }
      }
      least = std::min(least, numbers);
    }
    const std::vector<Segment> all =
        model.segments(problem, {.end_unit = static_cast<std::int64_t>(layers), .tensor = tensor});
    CHECK(sent(all, tensor) == least);
    with_both += all.size() < layers && 2 * all.size() > layers + 1 ? 1 : 0;
  }
  CHECK(with_both > 20);
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
