/// The fit of alpha, efficiency and flow limit, for [cluster], to measured transfers.
///
/// Source: R. Hockney, "The Communication Challenge for MPP: Intel Paragon and Meiko CS-2", 1994 (alpha + n/B).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// The operation that was timed. Its time is a sum of alpha, seconds a byte of a link (L) and of one flow (F >= L).
enum class Timed {
  message,  ///< one message alone: alpha + n F
  ring,     ///< an allreduce on a ring of P: 2 (P-1) (alpha + n/P F)
  flat,     ///< n bytes from each of P-1 to one, or from one to each: alpha + max((P-1) n L, n F)
  /// Rabenseifner's allreduce, by halving and doubling, P a power of two: 2 lg P alpha + 2 (P-1)/P n F, in messages of
  /// n/2 to n/P
  rabenseifner
};

/// One line of the file.
struct Measured {
  double bytes = 0.0;
  double seconds = 0.0;
  Timed timed = Timed::message;
  std::int64_t workers = 2;
  std::int64_t line = 0;
};

/// A CSV file with a header: bytes, seconds, and where the file has them collective (message, ring, flat,
/// rabenseifner) and workers. Errors: base::ScenarioError `file:line:column: ...` for a line that is no
/// measurement; base::EnvironmentError.
std::vector<Measured> read_measurements(const std::string& path);

struct NetworkFit {
  double latency_s = 0.0;                  ///< alpha
  double link_bytes_per_s = 0.0;           ///< 1 / L: a link's bandwidth over all flows
  std::optional<double> flow_bytes_per_s;  ///< 1 / F, if one flow gets less than the link has
  bool tells_flow_from_link = false;       ///< true if several flows on one link were timed; else 1 / L is one flow's
  std::vector<double> predicted_s;         ///< the fit's time of each measurement
  double rms_relative_error = 0.0;
};

/// Least squares on relative errors, alpha, L and F not negative.
/// Errors: base::ScenarioError if too few different sizes tell alpha from bandwidth.
NetworkFit fit_network(const std::vector<Measured>& measured, const std::string& path);

}  // namespace simgrad::experiment
