// Towers, trunk and heads: against perceptrons of one source each, finite differences, and costs by hand.
#include "models/multimodal_perceptron.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catch.h"

namespace multimodal_perceptron_test {

using namespace simgrad;
using namespace simgrad::models;

namespace {

/// Samples with two rows of a classification of 3 features and one row of a regression of 2.
const Problem two_sources{.features = 11,
                          .sources = {{.name = "a", .first = 0, .features = 3, .rows = 2, .classes = 4},
                                      {.name = "b", .first = 8, .features = 2, .rows = 1, .classes = 0}}};
const Problem one_source{.features = 4, .sources = {{.name = "a", .features = 3, .rows = 1, .classes = 0}}};

MultimodalPerceptron two_towers() {
  MultimodalPerceptron model;
  model.towers.resize(2);
  model.towers[0].hidden = {5.0, 4.0};
  model.towers[0].weight = 0.75;
  model.towers[1].hidden = {};
  model.embedding = 3.0;
  model.hidden = {4.0};
  model.activation = Activation::tanh;
  return model;
}

struct Rows {
  std::vector<double> x, y;
  std::int64_t columns = 0;
  Samples samples() const {
    return {
        .features = x.data(), .targets = y.data(), .columns = columns, .count = static_cast<std::int64_t>(y.size())};
  }
};

Rows rows_of(const Problem& problem, std::int64_t n) {
  Rows rows;
  rows.columns = problem.features;
  for (std::int64_t i = 0; i < n * problem.features; ++i)
    rows.x.push_back(std::sin(1.3 * static_cast<double>(i) + 0.2));
  for (std::int64_t i = 0; i < n; ++i)
    for (const SourceShape& source : problem.sources)
      for (std::int64_t k = 0; k < source.rows && source.classes > 0; ++k)
        rows.x[static_cast<std::size_t>(i * problem.features + source.first + k * (source.features + 1) +
                                        source.features)] = static_cast<double>((i + k) % source.classes);
  rows.y.assign(static_cast<std::size_t>(n), 0.0);
  return rows;
}

std::vector<double> initial(const Model& model, const Problem& problem) {
  std::vector<double> w(static_cast<std::size_t>(model.parameters(problem)));
  model.initial_values(problem, 7, w);
  return w;
}

}  // namespace

TEST_CASE("with one source it is the perceptron of tower, embedding and trunk, bit for bit") {
  MultimodalPerceptron model;
  model.towers.resize(1);
  model.towers[0].hidden = {5.0};
  model.embedding = 4.0;
  model.hidden = {3.0};
  Perceptron alone;
  alone.hidden = {5.0, 4.0, 3.0};
  const Problem problem{.features = 3};
  const Rows rows = rows_of(one_source, 9);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < 9; ++i) {
    x.insert(x.end(), rows.x.begin() + static_cast<std::ptrdiff_t>(4 * i),
             rows.x.begin() + static_cast<std::ptrdiff_t>(4 * i + 3));
    y.push_back(rows.x[4 * i + 3]);
  }
  const Samples same{.features = x.data(), .targets = y.data(), .columns = 3, .count = 9};
  const std::vector<double> w = initial(model, one_source);
  REQUIRE(w == initial(alone, problem));
  std::vector<double> g(w.size()), expected(w.size());
  model.gradient(one_source, rows.samples(), w, 0.125, 0.0, g);
  alone.gradient(problem, same, w, 0.125, 0.0, expected);
  CHECK(g == expected);
  CHECK(model.score(one_source, rows.samples(), w).loss == alone.score(problem, same, w).loss);
  CHECK(model.gradient_flops(one_source, 9) == alone.gradient_flops(problem, 9));
}

TEST_CASE("the loss is the weighted sum of the sources' mean losses, and of_sources has them apart") {
  const MultimodalPerceptron model = two_towers();
  const Rows rows = rows_of(two_sources, 7);
  const std::vector<double> w = initial(model, two_sources);
  const Score score = model.score(two_sources, rows.samples(), w);
  REQUIRE(score.of_sources.size() == 4);
  CHECK(score.loss == Approx(0.75 * score.of_sources[0] / 2 + score.of_sources[2]).epsilon(1e-14));
  CHECK(score.of_sources[0] > 0.0);
  CHECK(score.of_sources[1] >= 0.0);
  CHECK(score.of_sources[1] <= 14.0);
}

TEST_CASE("the gradient of two sources is that of differences, and that of its tasks added up") {
  const MultimodalPerceptron model = two_towers();
  const Rows rows = rows_of(two_sources, 5);
  std::vector<double> w = initial(model, two_sources);
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += 0.05 * std::cos(static_cast<double>(j));
  std::vector<double> g(w.size()), sum(w.size()), one(w.size());
  model.gradient(two_sources, rows.samples(), w, 1.0, 0.0, g);
  for (std::int64_t s = 0; s < 2; ++s) {
    model.task_gradient(two_sources, rows.samples(), {s, 1}, w, 1.0, one);
    for (std::size_t j = 0; j < w.size(); ++j) sum[j] += one[j];
    for (const ParameterRange& range : model.own(two_sources, {1 - s, 1}))
      CHECK(std::all_of(one.begin() + range.first, one.begin() + range.first + range.count,
                        [](double g_j) { return g_j == 0.0; }));
  }
  constexpr double h = 1e-5;
  for (std::size_t j = 0; j < w.size(); ++j) {
    std::vector<double> up = w, down = w;
    up[j] += h;
    down[j] -= h;
    const double slope =
        (model.score(two_sources, rows.samples(), up).loss - model.score(two_sources, rows.samples(), down).loss) /
        (2 * h);
    CAPTURE(j);
    CHECK(g[j] == Approx(slope).epsilon(1e-6).margin(1e-8));
    CHECK(sum[j] == Approx(g[j]).epsilon(1e-13).margin(1e-15));
  }
}

TEST_CASE("towers, trunk and heads are all of w, each parameter once, and layers are as long") {
  const MultimodalPerceptron model = two_towers();
  const auto count = static_cast<std::size_t>(model.parameters(two_sources));
  // 3-5-4-3 and 2-3, the trunk 3-4, heads 4-4 and 4-1, each with biases.
  CHECK(count == (20 + 24 + 15) + 9 + 16 + 20 + 5);
  std::vector<int> times(count);
  const auto mark = [&](const ParameterRange& range) {
    for (std::int64_t j = 0; j < range.count; ++j) ++times[static_cast<std::size_t>(range.first + j)];
  };
  mark(model.shared(two_sources));
  for (std::int64_t s = 0; s < 2; ++s)
    for (const ParameterRange& range : model.own(two_sources, {s, 1})) mark(range);
  CHECK(times == std::vector<int>(count, 1));
  std::int64_t next = 0;
  for (const Layer& layer : model.layers(two_sources)) {
    CHECK(layer.first == next);
    next += layer.count;
  }
  CHECK(next == static_cast<std::int64_t>(count));
  CHECK(model.own(two_sources, {0, 2}).front().count == 20 + 24 + 15 + 9);
}

TEST_CASE("a source costs its perceptron's flops for each of its rows, and all of them are the layers'") {
  const MultimodalPerceptron model = two_towers();
  const double a = 2 * (4 * 15 + 6 * 20 + 6 * 12 + 6 * 12 + 6 * 16), b = 4 * 6 + 6 * 12 + 6 * 4;
  CHECK(model.task_gradient_flops(two_sources, 10, {0, 1}) == 10 * a);
  CHECK(model.task_gradient_flops(two_sources, 10, {1, 1}) == 10 * b);
  CHECK(model.gradient_flops(two_sources, 10) == 10 * (a + b));
}

TEST_CASE("the parameters of a source alone predict as the whole model does") {
  const MultimodalPerceptron model = two_towers();
  const Rows rows = rows_of(two_sources, 6);
  const std::vector<double> w = initial(model, two_sources);
  const Score whole = model.score(two_sources, rows.samples(), w);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < 6; ++i) {
    x.insert(x.end(), {rows.x[11 * i + 8], rows.x[11 * i + 9]});
    y.push_back(rows.x[11 * i + 10]);
  }
  const Samples source_rows{.features = x.data(), .targets = y.data(), .columns = 2, .count = 6};
  const Score alone = model.network(two_sources, 1)
                          ->score(MultimodalPerceptron::problem_of(two_sources, 1), source_rows,
                                  model.parameters_of(two_sources, 1, w));
  CHECK(alone.loss == whole.of_sources[2]);
}

TEST_CASE("towers that are not as many as the sources are refused, and data of one source") {
  const MultimodalPerceptron model = two_towers();
  CHECK(model.refusal(two_sources).empty());
  CHECK(model.refusal(one_source).find("2 towers, but the mixture has 1 part;") != std::string::npos);
  CHECK(model.refusal({.features = 3}).find("source = \"mixture\"") != std::string::npos);
}

}  // namespace multimodal_perceptron_test
