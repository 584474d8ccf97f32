/// From measured transfers to alpha, efficiency and flow limit: what to write into [cluster].
///
/// Source: R. Hockney, "The Communication Challenge for MPP: Intel Paragon and Meiko CS-2", 1994 (alpha + n/B).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// What was timed. Each is a sum of alpha, seconds a byte of a link (L) and seconds a byte of one flow (F >= L).
enum class Timed {
  message,  ///< one message alone: alpha + n F
  ring,     ///< an allreduce on a ring of P: 2 (P-1) (alpha + n/P F)
  flat      ///< n bytes from each of P-1 to one, or from one to each: alpha + max((P-1) n L, n F)
};

/// One line of the file.
struct Measured {
  double bytes = 0.0;
  double seconds = 0.0;
  Timed timed = Timed::message;
  std::int64_t workers = 2;
  std::int64_t line = 0;
};

/// A CSV file with a header: bytes, seconds, and where the file has them collective (message, ring, flat) and workers.
/// Errors: base::ScenarioError `file:line:column: ...` for what cannot be a measurement; base::EnvironmentError.
std::vector<Measured> read_measurements(const std::string& path);

struct NetworkFit {
  double latency_s = 0.0;                  ///< alpha
  double link_bytes_per_s = 0.0;           ///< 1 / L: all that a link gives, however many flows
  std::optional<double> flow_bytes_per_s;  ///< 1 / F, where one flow gets less than the link
  bool tells_flow_from_link = false;       ///< whether several flows were timed on one link; else 1 / L is one flow's
  std::vector<double> predicted_s;         ///< of each measurement
  double rms_relative_error = 0.0;
};

/// Least squares on relative errors, alpha, L and F not negative.
/// Errors: base::ScenarioError where there are too few different sizes to tell alpha from bandwidth.
NetworkFit fit_network(const std::vector<Measured>& measured, const std::string& path);

}  // namespace simgrad::experiment
