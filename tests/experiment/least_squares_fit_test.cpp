// Fits of unknowns to measured times, for models in closed form.
#include "experiment/calibration/least_squares_fit.h"

#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "experiment/calibration/fit_runs.h"

namespace least_squares_fit_test {

using namespace simgrad;
using experiment::Fit;
using experiment::Question;

namespace {

/// alpha + x / B on rows x = 1, 10, 100, 1000.
std::optional<double> line(const Question& question) {
  const double x = std::pow(10.0, static_cast<double>(question.row));
  return question.unknowns[0] + x / question.unknowns[1];
}

template <class One>
experiment::Model each(One one) {
  return [one](const std::vector<Question>& questions) {
    std::vector<std::optional<double>> all;
    for (const Question& question : questions) all.push_back(one(question));
    return all;
  };
}

}  // namespace

TEST_CASE("a fit finds the unknowns that made the times, from a start tenfold off") {
  std::vector<double> measured;
  for (std::size_t row = 0; row < 4; ++row) measured.push_back(*line({row, {0.5, 20.0}}));
  const Fit fit = experiment::fit_least_squares(measured, {5.0, 2.0}, 4, each(line));
  CHECK(fit.unknowns[0] == Approx(0.5).epsilon(1e-6));
  CHECK(fit.unknowns[1] == Approx(20.0).epsilon(1e-6));
  for (std::size_t row = 0; row < 4; ++row) {
    CHECK(fit.predicted[row] == Approx(measured[row]).epsilon(1e-6));
    CHECK(fit.out_of_sample[row].value() == Approx(measured[row]).epsilon(1e-5));
  }
  CHECK(fit.questions > 0);
}

TEST_CASE("a row that lies off the others is predicted by them, and not by itself") {
  std::vector<double> measured;
  for (std::size_t row = 0; row < 4; ++row) measured.push_back(*line({row, {0.5, 20.0}}));
  measured[2] *= 1.5;
  const Fit fit = experiment::fit_least_squares(measured, {0.5, 20.0}, 4, each(line));
  // The three others lie on the line.
  CHECK(fit.out_of_sample[2].value() == Approx(*line({2, {0.5, 20.0}})).epsilon(1e-3));
  CHECK(fit.predicted[2] > 1.05 * *line({2, {0.5, 20.0}}));
}

TEST_CASE("beyond the tolerance a row pulls by its side alone, however far it lies") {
  // ln u fitted to ln 1 three times and to ln k once. Squares: the mean, ln u = ln k / 4. Beyond a tolerance c the last
  // row's pull is c, and the others' 3 ln u: ln u = c / 3.
  const auto itself = each([](const Question& question) { return std::optional(question.unknowns[0]); });
  for (const double k : {2.0, 200.0}) {
    const std::vector<double> measured{1.0, 1.0, 1.0, k};
    CHECK(std::log(experiment::fit_least_squares(measured, {1.1}, 0, itself).unknowns[0]) ==
          Approx(std::log(k) / 4.0).epsilon(1e-4));
    CHECK(std::log(experiment::fit_least_squares(measured, {1.1}, 0, itself, 0.06).unknowns[0]) ==
          Approx(0.02).epsilon(1e-4));
  }
}

TEST_CASE("a value that the model refuses is not tried again, and the fit stays below its bound") {
  std::vector<double> measured;
  for (std::size_t row = 0; row < 4; ++row) measured.push_back(*line({row, {0.5, 20.0}}));
  const auto bounded = [](const Question& question) -> std::optional<double> {
    if (question.unknowns[1] > 20.05) return {};
    return line(question);
  };
  const Fit fit = experiment::fit_least_squares(measured, {0.4, 20.0}, 0, each(bounded));
  CHECK(fit.unknowns[0] == Approx(0.5).epsilon(1e-3));
  CHECK(fit.out_of_sample.empty());
}

TEST_CASE("a fit refuses unknowns that change nothing, and a start that cannot be simulated") {
  const std::vector<double> measured{1.0, 2.0};
  const auto first_alone = [](const Question& question) { return std::optional(question.unknowns[0]); };
  CHECK_THROWS_AS(experiment::fit_least_squares(measured, {1.0, 1.0}, 0, each(first_alone)), base::ScenarioError);
  const auto nothing = [](const Question&) { return std::optional<double>(); };
  CHECK_THROWS_AS(experiment::fit_least_squares(measured, {1.0}, 0, each(nothing)), base::ScenarioError);
}

TEST_CASE("the correlation of ranks is 1 for one order, -1 for the reverse, and shares ranks of equal values") {
  CHECK(experiment::rank_correlation({1, 2, 3}, {10, 100, 1000}).value() == Approx(1.0));
  CHECK(experiment::rank_correlation({1, 2, 3}, {3, 2, 1}).value() == Approx(-1.0));
  // Ranks 1, 2, 3 and 1.5, 1.5, 3: covariance 1.5, variances 2 and 1.5.
  CHECK(experiment::rank_correlation({1, 2, 3}, {5, 5, 6}).value() == Approx(1.5 / std::sqrt(2.0 * 1.5)));
  CHECK_FALSE(experiment::rank_correlation({1, 2}, {5, 5}).has_value());
}

}  // namespace least_squares_fit_test
