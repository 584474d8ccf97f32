// Models of sparse rows against dense ones, formulas written out, and flops counted by hand.
#include <cmath>

#include "catch.h"
#include "models/sample_data.h"

namespace sparse_models_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

/// Rows of different lengths, one of them empty, over 6 features; no values: all are 1.
struct Clicks {
  std::vector<std::int64_t> starts{0, 2, 2, 5, 6};
  std::vector<std::uint32_t> keys{1, 4, 0, 4, 5, 2};
  std::vector<double> y{1.0, 0.0, 0.0, 1.0};
  Problem problem{.features = 6, .classes = 2, .nonzeros = 1.5};

  Samples all() const {
    return {.targets = y.data(), .columns = 6, .count = 4, .starts = starts.data(), .keys = keys.data()};
  }
};

double sigmoid(double s) { return 1.0 / (1.0 + std::exp(-s)); }

}  // namespace

TEST_CASE("sparse_logistic is logistic_regression to rounding") {
  const Data dense = sample_data({"logistic_regression", 2}, 30, 9),
             sparse = sample_data({"sparse_logistic", 2}, 30, 9);
  const std::vector<double> w = sample_parameters(9);
  const auto a = gradient(*make("sparse_logistic", 0.1), sparse.problem, sparse.all(), w, 0.5, 1.0);
  const auto b = gradient(*make("logistic_regression", 0.1), dense.problem, dense.all(), w, 0.5, 1.0);
  for (std::size_t j = 0; j < w.size(); ++j) CHECK(a[j] == Approx(b[j]).epsilon(1e-12).margin(1e-14));
  const Score one = make("sparse_logistic")->score(sparse.problem, sparse.all(), w);
  const Score other = make("logistic_regression")->score(dense.problem, dense.all(), w);
  CHECK(one.loss == Approx(other.loss).epsilon(1e-12));
  CHECK(one.metric == other.metric);
}

TEST_CASE("rows without values have ones, and an empty row adds nothing but a loss of log 2") {
  const Clicks clicks;
  const std::vector<double> w{0.5, -1.0, 2.0, 7.0, 0.25, -0.5};
  const auto g = gradient(*make("sparse_logistic"), clicks.problem, clicks.all(), w, 1.0, 0.0);
  const double r0 = sigmoid(-0.75) - 1.0, r2 = sigmoid(0.25), r3 = sigmoid(2.0) - 1.0;
  const std::vector<double> expected{r2, r0, r3, 0.0, r0 + r2, r2};
  for (std::size_t j = 0; j < 6; ++j) CHECK(g[j] == Approx(expected[j]).epsilon(1e-12));
  const double loss =
      std::log1p(std::exp(0.75)) + std::log(2.0) + std::log1p(std::exp(0.25)) + std::log1p(std::exp(-2.0));
  CHECK(make("sparse_logistic")->score(clicks.problem, clicks.all(), w).loss == Approx(loss).epsilon(1e-12));
}

TEST_CASE("a factorization machine's score is the sum over all pairs, written out") {
  const Data data = sample_data({"factorization_machine", 2}, 6, 5);
  const auto model = make(Case{"factorization_machine", 2});
  const std::vector<double> w = sample_parameters(model->parameters(data.problem));
  const auto at = [&](std::size_t key, std::size_t number) { return w[key * 3 + number]; };
  double loss = 0.0;
  for (std::size_t i = 0; i < 6; ++i) {
    double s = w.back();
    for (std::size_t a = 0; a < 5; ++a) {
      s += at(a, 0) * data.x[i * 5 + a];
      for (std::size_t b = a + 1; b < 5; ++b)
        s += (at(a, 1) * at(b, 1) + at(a, 2) * at(b, 2)) * data.x[i * 5 + a] * data.x[i * 5 + b];
    }
    loss += std::log1p(std::exp(-(2.0 * data.y[i] - 1.0) * s));
  }
  CHECK(model->score(data.problem, data.all(), w).loss == Approx(loss).epsilon(1e-12));
}

TEST_CASE("wide and deep has a layer for its table, and one for each dense layer") {
  const Problem problem{.features = 5, .classes = 2, .fields = 5};
  const auto model = make(Case{"wide_and_deep", 2});  // 2 numbers an embedding, layers 10-4-3-1
  const auto layers = model->layers(problem);
  REQUIRE(layers.size() == 4);
  const std::int64_t firsts[] = {0, 15, 15 + 44, 15 + 44 + 15, 15 + 44 + 15 + 4};
  const double weights[] = {0, 40, 12, 3};
  for (std::size_t l = 0; l < 4; ++l) {
    CHECK(layers[l].first == firsts[l]);
    CHECK(layers[l].count == firsts[l + 1] - firsts[l]);
    if (l == 0) continue;
    CHECK(layers[l].forward_flops == 2.0 * weights[l]);
    CHECK(layers[l].backward_flops == 4.0 * weights[l]);
    CHECK(static_cast<double>(layers[l].rows * layers[l].columns) == weights[l]);
  }
  CHECK(model->parameters(problem) == firsts[4]);
}

TEST_CASE("wide and deep is its linear part plus a perceptron on the embeddings") {
  const Data data = sample_data({"wide_and_deep", 2}, 6, 5);
  const auto model = make(Case{"wide_and_deep", 2});  // 2 numbers an embedding, layers 10-4-3-1
  const std::vector<double> w = sample_parameters(model->parameters(data.problem));
  Perceptron deep;
  deep.hidden = {4.0, 3.0};
  Data embedded{.problem = {.features = 10}, .x = {}, .y = std::vector<double>(6, 0.0)};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 1; k <= 2; ++k) embedded.x.push_back(w[j * 3 + k] * data.x[i * 5 + j]);
  const std::vector<double> layers(w.begin() + 15, w.end());
  REQUIRE(std::cmp_equal(layers.size(), deep.parameters(embedded.problem)));
  double loss = 0.0;
  for (std::int64_t i = 0; i < 6; ++i) {
    // The perceptron's gradient of z^2/2 in its last bias is z itself.
    double s = gradient(deep, embedded.problem, embedded.range(i, 1), layers, 1.0, 0.0).back();
    for (std::size_t j = 0; j < 5; ++j) s += w[j * 3] * data.x[static_cast<std::size_t>(i) * 5 + j];
    loss += std::log1p(std::exp(-(2.0 * data.y[static_cast<std::size_t>(i)] - 1.0) * s));
  }
  CHECK(model->score(data.problem, data.all(), w).loss == Approx(loss).epsilon(1e-12));
}

TEST_CASE("the flops of sparse models go by the entries of the rows") {
  const Problem problem{.features = 1000, .classes = 2, .nonzeros = 5.0, .fields = 5};
  const auto flops = [&](const Case& c, std::int64_t rows, std::int64_t entries) {
    const auto model = make(c);
    return dynamic_cast<const SparseModel&>(*model).sparse_flops(problem, rows, entries);
  };
  CHECK(flops({"sparse_logistic", 2}, 3, 17) == 4.0 * 17);
  CHECK(flops({"factorization_machine", 2}, 3, 17) == (4.0 + 8.0 * 2) * 17 + (2.0 * 2 + 4.0) * 3);
  // Layers 10-4-3-1, each forwards, its weights' gradients and its inputs'.
  CHECK(flops({"wide_and_deep", 2}, 3, 15) == (4.0 + 3.0 * 2) * 15 + 6.0 * (10 * 4 + 4 * 3 + 3) * 3);
  // A dense strategy counts by the average row.
  CHECK(make("sparse_logistic")->gradient_flops(problem, 3) == 4.0 * 5 * 3);
}

TEST_CASE("sparse models refuse data of other than two classes, wide_and_deep rows of different lengths") {
  const Problem numbers{.features = 3, .classes = 0, .nonzeros = 2.0};
  CHECK(make("sparse_logistic")->refusal(numbers).find("a number to predict") != std::string::npos);
  const Problem three{.features = 3, .classes = 3, .nonzeros = 2.0};
  CHECK(make("factorization_machine")->refusal(three).find("the data have 3") != std::string::npos);
  const Problem uneven{.features = 3, .classes = 2, .nonzeros = 1.5};
  CHECK(make("wide_and_deep")->refusal(uneven).find("the same number of entries") != std::string::npos);
}

}  // namespace sparse_models_test
