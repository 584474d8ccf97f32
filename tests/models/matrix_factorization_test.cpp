// Matrix factorization against PyTorch; its layers and costs counted by hand; its first values.
#include "models/matrix_factorization.h"

#include <cmath>
#include <numeric>

#include "base/errors.h"
#include "catch.h"
#include "models/sample_data.h"

namespace matrix_factorization_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

MatrixFactorization with_factors(std::int64_t f, bool bias, double l2 = 0.0) {
  MatrixFactorization model;
  model.factors = f;
  model.bias = bias;
  model.l2 = l2;
  return model;
}

}  // namespace

// Recorded from PyTorch 1.13.1 (float64, autograd through indexing), 50 ratings of 3 items by 4 users, 3 factors,
// l2 = 0.1: the mean loss with the penalty, the sum of squared errors, and of the gradient the sum, the norm and the
// sum of j g_j with j from 1.
TEST_CASE("loss and gradient of matrix factorization are PyTorch's, with biases and without") {
  struct Recorded {
    bool bias;
    double loss, squares, sum, norm, weighted;
  };
  const Recorded all[] = {
      {false, 0.79201416015625, 67.795166015625, -0.2715234375, 0.3409567330841982, -3.0076562500000006},
      {true, 1.05443603515625, 90.131103515625, 1.7266015625, 0.9506510308769061, 43.506093750000005}};
  const Data data = sample_ratings(50);
  for (const Recorded& r : all) {
    CAPTURE(r.bias);
    const MatrixFactorization model = with_factors(3, r.bias, 0.1);
    const std::vector<double> w = sample_parameters(model.parameters(data.problem));
    const Score score = model.score(data.problem, data.all(), w);
    CHECK(score.loss / 50 + model.penalty(w) == Approx(r.loss).epsilon(1e-12));
    CHECK(score.metric == Approx(r.squares).epsilon(1e-12));
    const auto g = gradient(model, data.problem, data.all(), w, 1.0 / 50, 1.0);
    double weighted = 0.0, squares = 0.0;
    for (std::size_t j = 0; j < g.size(); ++j) {
      weighted += static_cast<double>(j + 1) * g[j];
      squares += g[j] * g[j];
    }
    CHECK(std::accumulate(g.begin(), g.end(), 0.0) == Approx(r.sum).epsilon(1e-11));
    CHECK(std::sqrt(squares) == Approx(r.norm).epsilon(1e-12));
    CHECK(weighted == Approx(r.weighted).epsilon(1e-11));
  }
}

TEST_CASE("a rating costs 6 f flops, 4 more with biases, and the parameters are users', items', biases") {
  const Problem problem{.features = 2, .classes = 0, .users = 10, .items = 7};
  const MatrixFactorization plain = with_factors(5, false), biased = with_factors(5, true);
  CHECK(plain.parameters(problem) == 17 * 5);
  CHECK(biased.parameters(problem) == 17 * 6);
  // 5 multiplications and 5 additions for p.q; as many for each of the two gradients.
  CHECK(plain.gradient_flops(problem, 3) == 3 * 30);
  CHECK(biased.gradient_flops(problem, 3) == 3 * (30 + 2 + 2));
  const auto layers = biased.layers(problem);
  REQUIRE(layers.size() == 3);
  CHECK(layers[1].first == 50);
  CHECK(layers[2].first == 85);
  CHECK(layers[2].count == 17);
}

TEST_CASE("factors start at a standard deviation of 0.1 by the seed, biases at 0") {
  const Problem problem{.features = 2, .classes = 0, .users = 300, .items = 200};
  const MatrixFactorization model = with_factors(10, true);
  std::vector<double> w(5500, 9.0), other(5500);
  model.initial_values(problem, 1, w);
  model.initial_values(problem, 2, other);
  double squares = 0.0;
  for (std::size_t j = 0; j < 5000; ++j) squares += w[j] * w[j];
  CHECK(squares / 5000 == Approx(0.01).epsilon(0.06));  // three standard errors: 3 sqrt(2 / 5000)
  for (std::size_t j = 5000; j < 5500; ++j) CHECK(w[j] == 0.0);
  CHECK(w != other);
}

TEST_CASE("matrix factorization needs users and items, and refuses a rating by nobody") {
  const MatrixFactorization model = with_factors(2, false);
  CHECK(model.predicts() == Predicts::rating);
  CHECK(model.metric({.features = 2, .classes = 0, .users = 1, .items = 1}) == "r2");
  CHECK(model.refusal({.features = 2, .classes = 0}) ==
        "matrix_factorization needs ratings of items by users; use the data source \"ratings\" or \"csv\"");
  CHECK(model.refusal({.features = 2, .classes = 0, .users = 2, .items = 1}).empty());
  Data data = sample_ratings(5);
  data.x[2] = 4.0;
  const std::vector<double> w(14, 0.0);
  CHECK_THROWS_AS(model.score(data.problem, data.all(), w), simgrad::base::InvariantError);
}

}  // namespace matrix_factorization_test
