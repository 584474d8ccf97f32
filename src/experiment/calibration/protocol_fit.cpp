#include "experiment/calibration/protocol_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

constexpr double none = std::numeric_limits<double>::infinity();
constexpr std::size_t most_rows = 8;

/// Bytes of a measurement's messages.
double message_bytes(const Measured& m) {
  return m.timed == Timed::ring ? m.bytes / static_cast<double>(m.workers) : m.bytes;
}

/// Its time is latencies x latency + bytes / bandwidth.
struct Terms {
  double latencies = 1.0;
  double bytes = 0.0;
};
Terms terms_of(const Measured& m) {
  const auto P = static_cast<double>(m.workers);
  if (m.timed == Timed::ring) return {2.0 * (P - 1.0), 2.0 * (P - 1.0) / P * m.bytes};
  return {1.0, m.timed == Timed::flat ? (P - 1.0) * m.bytes : m.bytes};
}

/// Latency and seconds a byte, and the sum of squared relative errors with them.
struct Line {
  double latency_s = 0.0, byte_s = 0.0, squares = none;

  double seconds(const Measured& m) const { return terms_of(m).latencies * latency_s + terms_of(m).bytes * byte_s; }
};

/// Least squares on relative errors with neither unknown below 0; a time that does not grow with the bytes is no line.
Line line_through(const std::vector<Measured>& all, std::size_t first, std::size_t end) {
  double aa = 0.0, ab = 0.0, bb = 0.0, a1 = 0.0, b1 = 0.0;
  for (std::size_t i = first; i < end; ++i) {
    const double a = terms_of(all[i]).latencies / all[i].seconds, b = terms_of(all[i]).bytes / all[i].seconds;
    aa += a * a, ab += a * b, bb += b * b, a1 += a, b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  Line line;
  if (determinant > 1e-12 * aa * bb) {
    line.latency_s = (a1 * bb - b1 * ab) / determinant;
    line.byte_s = (b1 * aa - a1 * ab) / determinant;
  }
  if (!(line.latency_s > 0.0)) line = {.latency_s = 0.0, .byte_s = b1 / bb};
  if (!(line.byte_s > 0.0)) return {};
  line.squares = 0.0;
  for (std::size_t i = first; i < end; ++i) {
    const double error = line.seconds(all[i]) / all[i].seconds - 1.0;
    line.squares += error * error;
  }
  return line;
}

/// The best pieces of sorted measurements, for each number of pieces.
class Pieces {
 public:
  explicit Pieces(const std::vector<Measured>& sorted) : all_(sorted) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (i == 0 || message_bytes(all_[i]) > message_bytes(all_[i - 1])) begins_.push_back(i);
    begins_.push_back(all_.size());
    const std::size_t sizes = begins_.size() - 1;
    best_.assign(std::min(most_rows, sizes / 2) + 1, std::vector<Step>(sizes + 1));
    best_[0][0].squares = 0.0;
    for (std::size_t k = 1; k < best_.size(); ++k)
      for (std::size_t end = 2; end <= sizes; ++end)
        for (std::size_t first = 0; first + 2 <= end; ++first) try_piece(k, first, end);
  }

  /// The beginnings of the pieces, among the measurements, by the criterion's best number of them.
  std::vector<std::size_t> chosen() const {
    const auto n = static_cast<double>(all_.size());
    const std::size_t sizes = begins_.size() - 1;
    double least = none;
    std::size_t pieces = 0;
    for (std::size_t k = 1; k < best_.size(); ++k) {
      if (best_[k][sizes].squares == none) continue;
      // No measurement is better than a thousandth. A piece has a latency, a bandwidth and a beginning.
      const double mean = std::max(best_[k][sizes].squares / n, 1e-6);
      const double criterion = n * std::log(mean) + 3.0 * static_cast<double>(k) * std::log(n);
      if (criterion < least) least = criterion, pieces = k;
    }
    std::vector<std::size_t> starts;
    for (std::size_t end = sizes; pieces > 0; --pieces)
      starts.insert(starts.begin(), begins_[end = best_[pieces][end].first]);
    return starts;
  }

 private:
  struct Step {
    double squares = none;
    std::size_t first = 0;  ///< of the last piece, among the sizes
  };

  void try_piece(std::size_t k, std::size_t first, std::size_t end) {
    const double before = best_[k - 1][first].squares;
    if (before == none) return;
    const double squares = before + line_through(all_, begins_[first], begins_[end]).squares;
    if (squares < best_[k][end].squares) best_[k][end] = {squares, first};
  }

  const std::vector<Measured>& all_;
  std::vector<std::size_t> begins_;      ///< of each size, among the measurements
  std::vector<std::vector<Step>> best_;  ///< by number of pieces, by the sizes that they cover
};

}  // namespace

ProtocolFit fit_protocol(const std::vector<Measured>& measured, const std::string& path) {
  std::vector<Measured> sorted = measured;
  std::ranges::stable_sort(sorted, {}, message_bytes);
  const std::vector<std::size_t> starts = Pieces(sorted).chosen();
  if (starts.empty())
    throw base::ScenarioError(fmt::format(
        "{}: no two sizes of messages tell latency from bandwidth; expected times that grow with the bytes", path));
  ProtocolFit fit;
  std::vector<Line> lines;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const std::size_t end = k + 1 < starts.size() ? starts[k + 1] : sorted.size();
    lines.push_back(line_through(sorted, starts[k], end));
    // The next protocol begins somewhere between the two sizes.
    const double from =
        k == 0 ? 0.0 : std::sqrt(message_bytes(sorted[starts[k] - 1]) * message_bytes(sorted[starts[k]]));
    fit.rows.push_back({std::round(from), lines.back().latency_s, 1.0 / lines.back().byte_s});
  }
  std::vector<double> errors;
  for (const Measured& m : measured) {
    const auto behind = std::ranges::upper_bound(fit.rows, message_bytes(m), {}, &FittedRow::from_bytes);
    fit.predicted_s.push_back(lines[static_cast<std::size_t>(behind - fit.rows.begin()) - 1].seconds(m));
    errors.push_back(std::abs(fit.predicted_s.back() / m.seconds - 1.0));
    fit.rms_relative_error += errors.back() * errors.back() / static_cast<double>(measured.size());
  }
  fit.rms_relative_error = std::sqrt(fit.rms_relative_error);
  std::ranges::sort(errors);
  fit.median_relative_error = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2.0;
  return fit;
}

}  // namespace simgrad::experiment
