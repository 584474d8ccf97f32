#include "experiment/calibration/network_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

/// alpha, L, F: seconds, and seconds a byte.
using Unknowns = std::array<double, 3>;

/// The factors of alpha, L and F in a measurement's time; a flat one is bound by the link or by the flows' limit.
Unknowns factors(const Measured& m, bool bound_by_link) {
  const auto P = static_cast<double>(m.workers);
  switch (m.timed) {
    case Timed::ring:
      return {2.0 * (P - 1.0), 0.0, 2.0 * (P - 1.0) * m.bytes / P};
    case Timed::flat:
      return bound_by_link ? Unknowns{1.0, (P - 1.0) * m.bytes, 0.0} : Unknowns{1.0, 0.0, m.bytes};
    case Timed::rabenseifner:
      return {2.0 * std::log2(P), 0.0, 2.0 * (P - 1.0) / P * m.bytes};
    case Timed::message:
      break;
  }
  return {1.0, 0.0, m.bytes};
}

double product(const Unknowns& a, const Unknowns& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The unknowns of `used` that minimise the sum of (factors . x - 1)^2, the others zero; rows are divided by the
/// seconds. By Gaussian elimination on the normal equations, each unknown scaled to the size of its factors.
Unknowns solve(const std::vector<Unknowns>& rows, const std::array<bool, 3>& used) {
  Unknowns scale{};
  for (const Unknowns& row : rows)
    for (std::size_t i = 0; i < 3; ++i) scale[i] = std::max(scale[i], row[i]);
  std::array<std::array<double, 4>, 3> a{};
  for (const Unknowns& row : rows)
    for (std::size_t i = 0; i < 3; ++i) {
      if (!used[i] || scale[i] == 0.0) continue;
      for (std::size_t j = 0; j < 3; ++j)
        if (used[j] && scale[j] > 0.0) a[i][j] += row[i] / scale[i] * (row[j] / scale[j]);
      a[i][3] += row[i] / scale[i];
    }
  Unknowns x{};
  std::array<bool, 3> pivoted{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(std::abs(a[i][i]) > 1e-14)) continue;
    pivoted[i] = true;
    for (std::size_t k = 0; k < 3; ++k) {
      if (k == i) continue;
      const double times = a[k][i] / a[i][i];
      for (std::size_t j = 0; j < 4; ++j) a[k][j] -= times * a[i][j];
    }
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (pivoted[i]) x[i] = a[i][3] / a[i][i] / scale[i];
  return x;
}

double squares(const std::vector<Unknowns>& rows, const Unknowns& x) {
  double sum = 0.0;
  for (const Unknowns& row : rows) sum += (product(row, x) - 1.0) * (product(row, x) - 1.0);
  return sum;
}

/// The best solution without negative unknowns, by trying every choice of the unknowns that are zero.
Unknowns solve_not_negative(const std::vector<Unknowns>& rows) {
  Unknowns best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned choice = 1; choice < 8; ++choice) {
    const Unknowns x = solve(rows, {(choice & 1u) != 0, (choice & 2u) != 0, (choice & 4u) != 0});
    const double sum = squares(rows, x);
    if (std::ranges::min(x) < 0.0 || !(sum < least)) continue;
    best = x;
    least = sum;
  }
  return best;
}

/// The solution if one flow can fill a link: L and F are one unknown.
Unknowns solve_without_limit(std::vector<Unknowns> rows) {
  for (Unknowns& row : rows) row = {row[0], row[1] + row[2], 0.0};
  Unknowns x = solve_not_negative(rows);
  x[2] = x[1];
  return x;
}

bool bound_by_link(const Measured& m, const Unknowns& x) {
  return m.timed == Timed::flat && static_cast<double>(m.workers - 1) * x[1] >= x[2];
}

}  // namespace

NetworkFit fit_network(const std::vector<Measured>& measured, const std::string& path) {
  const auto [least, most] = std::ranges::minmax(measured, {}, &Measured::bytes);
  if (measured.size() < 2 || least.bytes == most.bytes)
    throw base::ScenarioError(fmt::format(
        "{}: one size alone cannot separate alpha from bandwidth; expected at least two different numbers of bytes",
        path));
  const bool several =
      std::ranges::any_of(measured, [](const Measured& m) { return m.timed == Timed::flat && m.workers > 2; });
  const bool single =
      std::ranges::any_of(measured, [](const Measured& m) { return m.timed != Timed::flat || m.workers == 2; });
  // The unknowns decide which flat measurements are bound by the link, and these decide the unknowns: iterate until
  // both stay.
  std::vector<char> by_link(measured.size(), true);
  Unknowns x{};
  for (int round = 0; round < 50; ++round) {
    std::vector<Unknowns> rows;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      Unknowns row = factors(measured[i], by_link[i] && measured[i].workers > 2);
      for (double& factor : row) factor /= measured[i].seconds;
      rows.push_back(row);
    }
    x = several && single ? solve_not_negative(rows) : solve_without_limit(rows);
    if (x[1] > x[2]) x = solve_without_limit(rows);  // a flow cannot have more than its link
    std::vector<char> next;
    for (const Measured& m : measured) next.push_back(bound_by_link(m, x));
    if (next == by_link) break;
    by_link = std::move(next);
  }
  if (!(x[2] > 0.0))
    throw base::ScenarioError(
        fmt::format("{}: the seconds do not grow with the bytes; expected larger transfers too", path));

  NetworkFit fit{.latency_s = x[0],
                 .link_bytes_per_s = 1.0 / (x[1] > 0.0 ? x[1] : x[2]),
                 .flow_bytes_per_s = {},
                 .tells_flow_from_link = several,
                 .predicted_s = {}};
  if (several && x[2] > 1.001 * x[1]) fit.flow_bytes_per_s = 1.0 / x[2];
  double sum = 0.0;
  for (const Measured& m : measured) {
    fit.predicted_s.push_back(product(factors(m, bound_by_link(m, x)), x));
    const double relative = fit.predicted_s.back() / m.seconds - 1.0;
    sum += relative * relative;
  }
  fit.rms_relative_error = std::sqrt(sum / static_cast<double>(measured.size()));
  return fit;
}

}  // namespace simgrad::experiment
