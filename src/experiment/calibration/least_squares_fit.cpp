#include "experiment/calibration/least_squares_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

using Vector = std::vector<double>;
using Rows = std::vector<std::size_t>;

constexpr double nudge = 0.01;      ///< of a logarithm, for derivatives
constexpr double converged = 1e-6;  ///< relative gain of the sum of squares, or the length of a step
constexpr int steps_most = 20;
constexpr int dampings_most = 6;

/// Solves a x = b for a symmetric positive definite a, by Cholesky's decomposition. Nothing if it is singular.
std::optional<Vector> solve(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 1e-18)) return {};
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

class Fitter {
 public:
  Fitter(std::span<const double> measured, const Model& model, double tolerance)
      : measured_(measured), model_(model), tolerance_(tolerance) {}

  std::size_t questions() const { return asked_; }

  /// log(predicted / measured) of those rows; nothing if the model refuses the unknowns.
  std::optional<Vector> residuals(const Rows& rows, const Vector& logs) { return answers({rows}, {logs}).front(); }

  /// By unknown: the residuals' derivatives, from a step to one side.  at: the residuals here.
  std::vector<Vector> derivatives(const Rows& rows, const Vector& logs, const Vector& at) {
    std::vector<Vector> up, down;
    for (std::size_t u = 0; u < logs.size(); ++u) {
      up.push_back(logs);
      up.back()[u] += nudge;
      down.push_back(logs);
      down.back()[u] -= nudge;
    }
    std::vector<std::optional<Vector>> there = answers(std::vector(logs.size(), rows), up);
    std::vector<Vector> all;
    for (std::size_t u = 0; u < logs.size(); ++u) {
      double step = nudge;
      if (!there[u]) {  // beyond a bound, as an efficiency above 1 is
        there[u] = residuals(rows, down[u]);
        step = -nudge;
      }
      Vector& slope = all.emplace_back(rows.size(), 0.0);
      for (std::size_t i = 0; i < rows.size() && there[u]; ++i) slope[i] = ((*there[u])[i] - at[i]) / step;
    }
    return all;
  }

  static double squares(const Vector& residuals) {
    return std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0);
  }

  /// Huber's: the squares of residuals up to the tolerance, from there on along the tangent.
  double loss(const Vector& residuals) const {
    double sum = 0.0;
    for (const double residual : residuals) {
      const double size = std::abs(residual);
      sum += size <= tolerance_ ? size * size : tolerance_ * (2.0 * size - tolerance_);
    }
    return sum;
  }

  /// The damped step that reduces the loss; nothing if the derivatives do not tell any.
  std::optional<Vector> step(const std::vector<Vector>& derivatives, const Vector& residuals, double damping) const {
    std::vector<Vector> slopes = derivatives;
    for (Vector& slope : slopes)
      for (std::size_t i = 0; i < slope.size(); ++i)
        slope[i] *= std::min(1.0, tolerance_ / std::max(std::abs(residuals[i]), 1e-300));
    const std::size_t n = slopes.size();
    std::vector<Vector> a(n, Vector(n, 0.0));
    Vector b(n, 0.0);
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v)
        a[u][v] = std::inner_product(slopes[u].begin(), slopes[u].end(), derivatives[v].begin(), 0.0);
      a[u][u] += damping * a[u][u] + 1e-12;
      b[u] = -std::inner_product(slopes[u].begin(), slopes[u].end(), residuals.begin(), 0.0);
    }
    return solve(std::move(a), std::move(b));
  }

  /// Moves to a better place, if there is one. Returns whether there was.
  bool improve(const Rows& rows, const std::vector<Vector>& slopes, Vector& logs, Vector& at) {
    double damping = 1e-3;
    for (int tries = 0; tries < dampings_most; ++tries, damping *= 10.0) {
      const auto move = step(slopes, at, damping);
      if (!move) continue;
      Vector there = logs;
      for (std::size_t u = 0; u < there.size(); ++u) there[u] += std::clamp((*move)[u], -1.0, 1.0);
      const auto then = residuals(rows, there);
      if (!then || !(loss(*then) < loss(at))) continue;
      const bool gained = loss(at) - loss(*then) > converged * loss(at);
      logs = std::move(there);
      at = *then;
      return gained;
    }
    return false;
  }

 private:
  std::vector<std::optional<Vector>> answers(const std::vector<Rows>& rows, const std::vector<Vector>& logs) {
    std::vector<Question> questions;
    for (std::size_t k = 0; k < logs.size(); ++k) {
      Vector unknowns;
      for (const double log : logs[k]) unknowns.push_back(std::exp(log));
      for (const std::size_t row : rows[k]) questions.push_back({row, unknowns});
    }
    asked_ += questions.size();
    const auto answered = model_(questions);
    std::vector<std::optional<Vector>> all;
    std::size_t next = 0;
    for (const Rows& of : rows) {
      std::optional<Vector>& residuals = all.emplace_back(Vector());
      for (const std::size_t row : of) {
        const std::optional<double>& predicted = answered[next++];
        if (!predicted || !(*predicted > 0.0)) residuals.reset();
        if (residuals) residuals->push_back(std::log(*predicted / measured_[row]));
      }
    }
    return all;
  }

  std::span<const double> measured_;
  const Model& model_;
  double tolerance_;
  std::size_t asked_ = 0;
};

Rows all_rows(std::size_t count) {
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Fits to the rows of the other folds, with the derivatives at the fit to all of them.
void predict_folds(Fitter& fitter, std::size_t folds, const std::vector<Vector>& slopes, const Vector& logs, Fit& fit,
                   std::span<const double> measured) {
  fit.out_of_sample.resize(measured.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    Rows inside, outside;
    for (std::size_t row = 0; row < measured.size(); ++row) (row % folds == fold ? outside : inside).push_back(row);
    std::vector<Vector> own(slopes.size());
    for (std::size_t u = 0; u < slopes.size(); ++u)
      for (const std::size_t row : inside) own[u].push_back(slopes[u][row]);
    Vector there = logs;
    Vector at = *fitter.residuals(inside, there);
    for (int steps = 0; steps < 3 && fitter.improve(inside, own, there, at); ++steps) continue;
    const auto then = fitter.residuals(outside, there);
    for (std::size_t i = 0; i < outside.size() && then; ++i)
      fit.out_of_sample[outside[i]] = measured[outside[i]] * std::exp((*then)[i]);
  }
}

}  // namespace

Fit fit_least_squares(std::span<const double> measured, std::vector<double> start, std::size_t folds,
                      const Model& model, double tolerance) {
  Fitter fitter(measured, model, tolerance);
  const Rows rows = all_rows(measured.size());
  Vector logs;
  for (const double unknown : start) logs.push_back(std::log(unknown));
  const auto first = fitter.residuals(rows, logs);
  if (!first) throw base::ScenarioError("the scenario's own values cannot be simulated on every row");
  Vector at = *first;
  std::vector<Vector> slopes = fitter.derivatives(rows, logs, at);
  for (std::size_t u = 0; u < slopes.size(); ++u)
    if (Fitter::squares(slopes[u]) < 1e-16)
      throw base::ScenarioError(fmt::format("number {} of those to fit does not change the time of any row", u + 1));
  for (int steps = 0; steps < steps_most && fitter.improve(rows, slopes, logs, at); ++steps)
    slopes = fitter.derivatives(rows, logs, at);
  Fit fit;
  for (const double log : logs) fit.unknowns.push_back(std::exp(log));
  for (std::size_t row = 0; row < measured.size(); ++row) fit.predicted.push_back(measured[row] * std::exp(at[row]));
  if (folds > 0) predict_folds(fitter, folds, slopes, logs, fit, measured);
  fit.questions = fitter.questions();
  return fit;
}

}  // namespace simgrad::experiment
