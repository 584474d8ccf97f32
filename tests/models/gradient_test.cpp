// Properties of the gradient of every model.
#include <cmath>
#include <functional>
#include <numeric>

#include "base/errors.h"
#include "catch.h"
#include "models/sample_data.h"

namespace gradient_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

double max_difference(std::span<const double> a, std::span<const double> b) {
  REQUIRE(a.size() == b.size());
  double most = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    REQUIRE(std::isfinite(a[j]));
    most = std::max(most, std::abs(a[j] - b[j]));
  }
  return most;
}

std::string fault_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const simgrad::base::InvariantError& error) {
    return error.what();
  }
  return "none";
}

bool names(const std::string& fault, std::string_view what) { return fault.find(what) != std::string::npos; }

/// (f(w + h e_j) - f(w - h e_j)) / 2h of f = scale * sum of losses + penalty_scale * penalty.
std::vector<double> central_differences(const Model& model, const Problem& problem, const Samples& rows,
                                        std::vector<double> w, double scale, double penalty_scale, double h) {
  const auto f = [&] { return scale * model.score(problem, rows, w).loss + penalty_scale * model.penalty(w); };
  std::vector<double> slopes;
  for (double& w_j : w) {
    const double kept = w_j;
    w_j = kept + h;
    const double above = f();
    w_j = kept - h;
    const double below = f();
    w_j = kept;
    slopes.push_back((above - below) / (2.0 * h));
  }
  return slopes;
}

}  // namespace

TEST_CASE("the gradient of every model is the slope of its loss, with and without penalty, on ranges and lists") {
  const std::vector<std::int64_t> indices{9, 2, 2, 14, 0, 7, 11};
  for (const Case& c : all_models)
    for (const double l2 : {0.0, 0.3})
      for (const bool listed : {false, true}) {
        CAPTURE(c.kind, c.classes, l2, listed);
        const Data data = sample_data(c, 15, 7);
        const Samples rows = listed ? data.list(indices) : data.range(2, 11);
        const auto model = make(c, l2);
        const std::vector<double> w = sample_parameters(model->parameters(data.problem));
        const auto g = gradient(*model, data.problem, rows, w, 0.2, 0.7);
        const auto slopes = central_differences(*model, data.problem, rows, w, 0.2, 0.7, 1e-5);
        // f is about 10: rounding 1e-15 / 1e-5; truncation h^2/6 times a third derivative of about 10.
        CHECK(max_difference(g, slopes) < 1e-9);
      }
}

TEST_CASE("an index list that names a range gives bitwise the range's gradient and score") {
  for (const Case& c : all_models)
    for (std::int64_t first = 0; first < 5; ++first)
      for (std::int64_t count = 0; count < 14; ++count) {
        CAPTURE(c.kind, c.classes, first, count);
        const Data data = sample_data(c, 20, 13);
        std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
        std::iota(indices.begin(), indices.end(), first);
        const auto model = make(c, 0.1);
        const std::vector<double> w = sample_parameters(model->parameters(data.problem));
        const Samples range = data.range(first, count), list = data.list(indices);
        CHECK(gradient(*model, data.problem, list, w, 0.3, 1.0) == gradient(*model, data.problem, range, w, 0.3, 1.0));
        CHECK(model->score(data.problem, list, w).loss == model->score(data.problem, range, w).loss);
        CHECK(model->score(data.problem, list, w).metric == model->score(data.problem, range, w).metric);
      }
}

TEST_CASE("the parts of a batch add up to its gradient and score") {
  for (const Case& c : all_models)
    for (const std::int64_t parts : {2, 3, 7}) {
      CAPTURE(c.kind, c.classes, parts);
      const std::int64_t n = 101;
      const Data data = sample_data(c, n, 9);
      const auto model = make(c, 0.2);
      const std::vector<double> w = sample_parameters(model->parameters(data.problem));
      std::vector<double> sum(w.size(), 0.0);
      Score score;
      for (std::int64_t p = 0; p < parts; ++p) {
        const Samples part = data.range(n * p / parts, n * (p + 1) / parts - n * p / parts);
        const auto g = gradient(*model, data.problem, part, w, 1.0 / n, 1.0 / static_cast<double>(parts));
        for (std::size_t j = 0; j < w.size(); ++j) sum[j] += g[j];
        score.loss += model->score(data.problem, part, w).loss;
        score.metric += model->score(data.problem, part, w).metric;
      }
      CHECK(max_difference(gradient(*model, data.problem, data.all(), w, 1.0 / n, 1.0), sum) < 1e-13);
      CHECK(score.loss == Approx(model->score(data.problem, data.all(), w).loss).epsilon(1e-13));
      CHECK(score.metric == Approx(model->score(data.problem, data.all(), w).metric).epsilon(1e-13));
    }
}

TEST_CASE("the gradient of no rows is the penalty's alone, and their score zero") {
  for (const Case& c : all_models) {
    CAPTURE(c.kind, c.classes);
    const Data data = sample_data(c, 4, 3);
    const auto model = make(c, 0.25);
    const std::vector<double> w = sample_parameters(model->parameters(data.problem));
    // penalty_scale * l2 = 2 * 0.25
    std::vector<double> expected = w;
    for (double& g_j : expected) g_j *= 0.5;
    CHECK(gradient(*model, data.problem, data.range(1, 0), w, 1.0, 2.0) == expected);
    CHECK(model->score(data.problem, data.range(1, 0), w).loss == 0.0);
    CHECK(model->score(data.problem, data.range(1, 0), w).metric == 0.0);
  }
}

TEST_CASE("without penalty, infinite parameters do not reach the gradient of no rows") {
  for (const Case& c : all_models) {
    const Data data = sample_data(c, 4, 3);
    const auto model = make(c);
    const std::vector<double> w(static_cast<std::size_t>(model->parameters(data.problem)), INFINITY);
    CHECK(gradient(*model, data.problem, data.range(0, 0), w, 1.0, 1.0) == std::vector<double>(w.size(), 0.0));
    CHECK(model->penalty(w) == 0.0);
  }
}

TEST_CASE("a parameter that is not a number shows in loss and gradient") {
  for (const Case& c : all_models) {
    CAPTURE(c.kind, c.classes);
    const Data data = sample_data(c, 5, 3);
    const auto model = make(c);
    const std::vector<double> w(static_cast<std::size_t>(model->parameters(data.problem)), NAN);
    CHECK(std::isnan(model->score(data.problem, data.all(), w).loss));
    CHECK(std::isnan(gradient(*model, data.problem, data.all(), w, 1.0, 0.0)[0]));
  }
}

TEST_CASE("a gradient of the wrong shape is our mistake, and says so") {
  const Data data = sample_data(4, 3, 0);
  const auto model = make("least_squares");
  const std::vector<double> w(3), w_long(4);
  std::vector<double> g_long(4);
  const Problem wider{.features = 4, .classes = 0};
  CHECK(names(fault_of([&] { model->gradient(data.problem, data.all(), w_long, 1.0, 0.0, g_long); }),
              "w has the model's parameters"));
  CHECK(names(fault_of([&] { model->gradient(data.problem, data.all(), w, 1.0, 0.0, g_long); }),
              "the gradient has the shape of w"));
  CHECK(names(fault_of([&] { model->score(wider, data.all(), w_long); }), "the rows have the problem's features"));
}

}  // namespace gradient_test
