#include "experiment/calibration/protocol_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

constexpr std::size_t most_protocol_rows = 8;

/// Messages of one size that a measurement waits for one after the other.
struct Messages {
  double latencies = 1.0;
  double bytes = 0.0;  ///< of all
  double size = 0.0;   ///< of one, which decides about its row
};

std::vector<Messages> messages_of(const Measured& m) {
  const auto P = static_cast<double>(m.workers);
  switch (m.timed) {
    case Timed::ring:
      return {{2.0 * (P - 1.0), 2.0 * (P - 1.0) / P * m.bytes, m.bytes / P}};
    case Timed::flat:
      return {{1.0, (P - 1.0) * m.bytes, m.bytes}};
    case Timed::rabenseifner: {
      std::vector<Messages> rounds;
      for (double part = m.bytes / 2.0; part > 0.75 * m.bytes / P; part /= 2.0)
        rounds.push_back({2.0, 2.0 * part, part});
      return rounds;
    }
    case Timed::message:
      break;
  }
  return {{1.0, m.bytes, m.bytes}};
}

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// G x = b for those unknowns alone; the others are 0. By Gaussian elimination; G is positive definite, or an unknown
/// of which it is not is 0.
Vector solved(const Matrix& G, const Vector& b, const std::set<std::size_t>& unknowns) {
  const std::vector<std::size_t> at(unknowns.begin(), unknowns.end());
  Matrix rows;
  for (const std::size_t i : at) {
    Vector row;
    for (const std::size_t j : at) row.push_back(G[i][j]);
    row.push_back(b[i]);
    rows.push_back(row);
  }
  Vector x(b.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!(rows[i][i] > 1e-13)) continue;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (k == i) continue;
      const double times = rows[k][i] / rows[i][i];
      for (std::size_t j = i; j <= at.size(); ++j) rows[k][j] -= times * rows[i][j];
    }
  }
  for (std::size_t i = 0; i < at.size(); ++i)
    if (rows[i][i] > 1e-13) x[at[i]] = rows[i].back() / rows[i][i];
  return x;
}

/// The x >= 0 that minimises x G x - 2 b x.
Vector not_negative(const Matrix& G, const Vector& b) {
  Vector x(b.size());
  std::set<std::size_t> free;
  for (std::size_t round = 0; round < 3 * b.size(); ++round) {
    std::size_t steepest = b.size();
    double most = 1e-10;
    for (std::size_t i = 0; i < b.size(); ++i) {
      double slope = b[i];
      for (std::size_t j = 0; j < b.size(); ++j) slope -= G[i][j] * x[j];
      if (!free.contains(i) && slope > most) most = slope, steepest = i;
    }
    if (steepest == b.size()) break;
    free.insert(steepest);
    for (;;) {
      const Vector wanted = solved(G, b, free);
      double part = 1.0;
      for (const std::size_t i : free)
        if (wanted[i] < 0.0) part = std::min(part, x[i] / (x[i] - wanted[i]));
      for (const std::size_t i : free) x[i] += part * (wanted[i] - x[i]);
      if (part == 1.0) break;
      std::erase_if(free, [&](std::size_t i) { return x[i] <= 1e-14 && wanted[i] < 0.0; });
    }
  }
  return x;
}

/// Latencies and times of bytes for given beginnings of rows.
class Table {
 public:
  Table(const std::vector<Measured>& measured, Vector begins) : begins_(std::move(begins)) {
    const std::size_t unknowns = 2 * begins_.size();
    Matrix terms;
    Vector scale(unknowns);
    for (const Measured& m : measured) {
      terms.push_back(terms_of(m));
      for (std::size_t i = 0; i < unknowns; ++i) scale[i] = std::max(scale[i], terms.back()[i] /= m.seconds);
    }
    for (double& each : scale)
      if (each == 0.0) each = 1.0;
    Matrix G(unknowns, Vector(unknowns));
    Vector b(unknowns);
    for (const Vector& row : terms)
      for (std::size_t i = 0; i < unknowns; ++i) {
        b[i] += row[i] / scale[i];
        for (std::size_t j = 0; j < unknowns; ++j) G[i][j] += row[i] / scale[i] * row[j] / scale[j];
      }
    unknowns_ = not_negative(G, b);
    for (std::size_t i = 0; i < unknowns; ++i) unknowns_[i] /= scale[i];
    for (std::size_t row = 0; row < begins_.size(); ++row)
      if (!(unknowns_[2 * row + 1] > 0.0)) grows_ = false;
    for (const Measured& m : measured) {
      const double error = seconds(m) / m.seconds - 1.0;
      squares_ += error * error;
    }
  }

  const Vector& begins() const { return begins_; }
  double latency_s(std::size_t row) const { return unknowns_[2 * row]; }
  double byte_s(std::size_t row) const { return unknowns_[2 * row + 1]; }
  /// Whether the times of every row grow with the bytes.
  bool grows() const { return grows_; }
  double seconds(const Measured& m) const {
    const Vector terms = terms_of(m);
    double sum = 0.0;
    for (std::size_t i = 0; i < terms.size(); ++i) sum += terms[i] * unknowns_[i];
    return sum;
  }
  /// The criterion. No measurement is better than a thousandth; a row has a latency, a bandwidth and a beginning.
  double criterion(std::size_t measurements) const {
    const auto n = static_cast<double>(measurements);
    return n * std::log(std::max(squares_ / n, 1e-6)) + 3.0 * static_cast<double>(begins_.size()) * std::log(n);
  }

 private:
  Vector terms_of(const Measured& m) const {
    Vector terms(2 * begins_.size());
    for (const Messages& messages : messages_of(m)) {
      const auto row = static_cast<std::size_t>(std::ranges::upper_bound(begins_, messages.size) - begins_.begin()) - 1;
      terms[2 * row] += messages.latencies;
      terms[2 * row + 1] += messages.bytes;
    }
    return terms;
  }

  Vector begins_;    ///< of the rows, ascending, the first one 0
  Vector unknowns_;  ///< a latency and the time of a byte for each row
  double squares_ = 0.0;
  bool grows_ = true;
};

/// Between two successive sizes of messages, where another row may begin.
Vector places_of(const std::vector<Measured>& measured) {
  std::set<double> sizes;
  for (const Measured& m : measured)
    for (const Messages& messages : messages_of(m)) sizes.insert(messages.size);
  Vector places;
  for (auto size = sizes.begin(); size != sizes.end() && std::next(size) != sizes.end(); ++size)
    if (const double between = std::round(std::sqrt(*size * *std::next(size))); between > 0.0)
      places.push_back(between);
  return places;
}

/// The table with one row more that has the least criterion.
Table extended(const std::vector<Measured>& measured, const Table& table, const Vector& places) {
  Table best = table;
  double least = std::numeric_limits<double>::infinity();
  for (const double place : places) {
    if (std::ranges::binary_search(table.begins(), place)) continue;
    Vector begins = table.begins();
    begins.insert(std::ranges::lower_bound(begins, place), place);
    Table longer(measured, std::move(begins));
    if (!longer.grows() || !(longer.criterion(measured.size()) < least)) continue;
    least = longer.criterion(measured.size());
    best = std::move(longer);
  }
  return best;
}

}  // namespace

ProtocolFit fit_protocol(const std::vector<Measured>& measured, const std::string& path) {
  Table best(measured, {0.0});
  if (!best.grows())
    throw base::ScenarioError(
        fmt::format("{}: the seconds do not grow with the bytes; expected larger transfers too", path));
  const Vector places = places_of(measured);
  Table table = best;
  // A further row may help where the next one alone does not. Fewer than four measurements a row would fit noise.
  while (table.begins().size() < std::min(most_protocol_rows, measured.size() / 4)) {
    const std::size_t rows = table.begins().size();
    table = extended(measured, table, places);
    if (table.begins().size() == rows) break;
    if (table.criterion(measured.size()) < best.criterion(measured.size())) best = table;
  }
  ProtocolFit fit;
  for (std::size_t row = 0; row < best.begins().size(); ++row)
    fit.rows.push_back({best.begins()[row], best.latency_s(row), 1.0 / best.byte_s(row)});
  std::vector<double> errors;
  for (const Measured& m : measured) {
    fit.predicted_s.push_back(best.seconds(m));
    errors.push_back(std::abs(fit.predicted_s.back() / m.seconds - 1.0));
    fit.rms_relative_error += errors.back() * errors.back() / static_cast<double>(measured.size());
  }
  fit.rms_relative_error = std::sqrt(fit.rms_relative_error);
  std::ranges::sort(errors);
  fit.median_relative_error = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2.0;
  return fit;
}

}  // namespace simgrad::experiment
