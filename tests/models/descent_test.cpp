// Gradient descent on small inputs against numbers from another implementation: this program, Python 3 without
// packages, whose sums are exact to the last bit (fsum).
//
//   from math import exp, fsum, log, log1p
//
//   def data(n, d, k):
//       X = [[((7*i + 3*j + i*j) % 11 - 5) / 4 for j in range(d)] for i in range(n)]
//       return X, [((5*i + i*i) % 7 - 3) / 2 if k == 0 else (i*i + i % 3) % k for i in range(n)]
//
//   def loss_and_residuals(kind, s, y):
//       if kind == "least_squares": return (s[0] - y)**2 / 2, [s[0] - y]
//       if kind == "logistic_regression": return log1p(exp(s[0])) - y * s[0], [1 / (1 + exp(-s[0])) - y]
//       total = fsum(exp(t) for t in s)
//       return log(total) - s[y], [exp(t) / total - (c == y) for c, t in enumerate(s)]
//
//   def descend(kind, k, n, d, lr, l2, steps):
//       X, y = data(n, d, k)
//       w = [[0.0] * d for _ in range(k if kind == "softmax_regression" else 1)]
//       for step in range(steps):
//           rows = [loss_and_residuals(kind, [fsum(a * b for a, b in zip(x, v)) for v in w], t) for x, t in zip(X, y)]
//           print(kind, step, repr(fsum(r[0] for r in rows) / n + l2 / 2 * fsum(a * a for v in w for a in v)))
//           w = [[a - lr * (fsum(r[1][c] * x[j] for r, x in zip(rows, X)) / n + l2 * a) for j, a in enumerate(v)]
//                for c, v in enumerate(w)]
//
//   descend("least_squares", 0, 23, 5, 0.5, 0.01, 6)
//   descend("logistic_regression", 2, 23, 5, 1.0, 0.02, 6)
//   descend("softmax_regression", 3, 23, 5, 1.0, 0.03, 6)
#include "catch.h"
#include "models/sample_data.h"

namespace descent_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

/// Mean loss, penalty included, before each of so many steps w -= lr * g.
std::vector<double> losses(std::string_view kind, int classes, double lr, double l2, int steps) {
  const std::int64_t n = 23;
  const Data data = sample_data(n, 5, classes);
  const auto model = make(kind, l2);
  std::vector<double> w(static_cast<std::size_t>(model->parameters(data.problem)));
  model->initial_values(data.problem, 1, w);
  std::vector<double> curve;
  for (int step = 0; step < steps; ++step) {
    curve.push_back(model->score(data.problem, data.all(), w).loss / n + model->penalty(w));
    const std::vector<double> g = gradient(*model, data.problem, data.all(), w, 1.0 / n, 1.0);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= lr * g[j];
  }
  return curve;
}

void check_equal(std::span<const double> curve, std::span<const double> recorded) {
  REQUIRE(curve.size() == recorded.size());
  for (std::size_t step = 0; step < curve.size(); ++step) CHECK(curve[step] == Approx(recorded[step]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("least squares descends as an outside implementation does") {
  const std::vector<double> recorded{0.6684782608695652, 0.5552268559423029,  0.5178989855261841,
                                     0.5033493189368129, 0.49658866764620263, 0.492978605265306};
  check_equal(losses("least_squares", 0, 0.5, 0.01, 6), recorded);
}

TEST_CASE("logistic regression descends as an outside implementation does") {
  const std::vector<double> recorded{0.6931471805599453, 0.6364108943749051, 0.5992321292349493,
                                     0.5743669238495,    0.5573111673155514, 0.5453122797817657};
  check_equal(losses("logistic_regression", 2, 1.0, 0.02, 6), recorded);
}

TEST_CASE("softmax regression descends as an outside implementation does") {
  const std::vector<double> recorded{1.0986122886681098, 0.8966078726541133, 0.809137886963348,
                                     0.76718093894638,   0.7445569409177044, 0.7311304917603538};
  check_equal(losses("softmax_regression", 3, 1.0, 0.03, 6), recorded);
}

}  // namespace descent_test
