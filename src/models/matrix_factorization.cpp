#include "models/matrix_factorization.h"

#include <algorithm>

#include "base/errors.h"
#include "base/random.h"

namespace simgrad::models {

namespace {

/// The places in w at which a rating's parameters begin.
struct Places {
  std::size_t p, q, b_u, b_i;
};

/// Calls `visit` with each rating's places in w and its error: prediction minus rating.
struct Rating {
  Places at;
  double predicted;
  double error;
};

class Ratings {
 public:
  Ratings(const Problem& problem, std::int64_t factors, bool bias)
      : users_(static_cast<std::size_t>(problem.users)),
        items_(static_cast<std::size_t>(problem.items)),
        f_(static_cast<std::size_t>(factors)),
        bias_(bias) {}

  template <class Visit>
  void for_each(const Samples& rows, std::span<const double> w, Visit visit) const {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t row = rows.row(i);
      const Places at = places(rows.features + row * rows.columns);
      double rating = bias_ ? w[at.b_u] + w[at.b_i] : 0.0;
      for (std::size_t k = 0; k < f_; ++k) rating += w[at.p + k] * w[at.q + k];
      visit(Rating{at, rating, rating - rows.targets[row]});
    }
  }

 private:
  Places places(const double* user_and_item) const {
    base::check(user_and_item[0] >= 0.0 && user_and_item[0] < static_cast<double>(users_) && user_and_item[1] >= 0.0 &&
                    user_and_item[1] < static_cast<double>(items_),
                "a rating is one of the users' and of the items'");
    const auto u = static_cast<std::size_t>(user_and_item[0]), i = static_cast<std::size_t>(user_and_item[1]);
    const std::size_t biases = (users_ + items_) * f_;
    return {u * f_, (users_ + i) * f_, biases + u, biases + users_ + i};
  }

  std::size_t users_, items_, f_;
  bool bias_;
};

}  // namespace

void MatrixFactorization::describe(base::Describer& d) {
  d.integer("factors", factors, "the length of the vectors that describe a user and an item",
            base::Bounds::between(1.0, 1e6));
  d.flag("bias", bias, "a constant for every user and every item; penalised like the factors");
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

std::string MatrixFactorization::refusal(const Problem& problem) const {
  if (problem.users > 0 && problem.items > 0) return {};
  return "matrix_factorization needs ratings of items by users; use the data source \"ratings\" or \"csv\"";
}

std::int64_t MatrixFactorization::parameters(const Problem& problem) const {
  return (problem.users + problem.items) * (factors + (bias ? 1 : 0));
}

std::vector<Layer> MatrixFactorization::layers(const Problem& problem) const {
  const auto f = static_cast<double>(factors);
  const std::int64_t p = problem.users * factors, q = problem.items * factors;
  std::vector<Layer> all{{.first = 0,
                          .count = p,
                          .forward_flops = 2.0 * f,
                          .backward_flops = 2.0 * f,
                          .rows = problem.users,
                          .columns = factors},
                         {.first = p,
                          .count = q,
                          .forward_flops = 0.0,
                          .backward_flops = 2.0 * f,
                          .rows = problem.items,
                          .columns = factors}};
  if (bias)
    all.push_back(
        {.first = p + q, .count = problem.users + problem.items, .forward_flops = 2.0, .backward_flops = 2.0});
  return all;
}

void MatrixFactorization::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
  base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values});
  for (double& w_j : w.first(static_cast<std::size_t>((problem.users + problem.items) * factors)))
    w_j = 0.1 * stream.normal();
}

void MatrixFactorization::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                                   double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  Ratings(problem, factors, bias).for_each(rows, w, [&](const Rating& rating) {
    const double r = scale * rating.error;
    const Places& at = rating.at;
    for (std::size_t k = 0; k < static_cast<std::size_t>(factors); ++k) {
      gradient[at.p + k] += r * w[at.q + k];
      gradient[at.q + k] += r * w[at.p + k];
    }
    if (!bias) return;
    gradient[at.b_u] += r;
    gradient[at.b_i] += r;
  });
}

void MatrixFactorization::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                                  std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  std::size_t next = 0;
  Ratings(problem, factors, bias).for_each(rows, w, [&](const Rating& rating) {
    predictions[next++] = rating.predicted;
  });
}

Score MatrixFactorization::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  Ratings(problem, factors, bias).for_each(rows, w, [&](const Rating& rating) {
    sum.loss += 0.5 * rating.error * rating.error;
    sum.metric += rating.error * rating.error;
  });
  return sum;
}

}  // namespace simgrad::models
