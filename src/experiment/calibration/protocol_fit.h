/// The fit of a protocol to measured transfers: latency and bandwidth by a message's size, piece by piece.
///
/// Source: P.-N. Clauss et al., "Single Node On-Line Simulation of MPI Applications with SMPI", IPDPS 2011 (lines
/// piecewise in the size). Rows are added one by one, each where it helps most, as long as the Bayesian information
/// criterion falls: G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978. Neither latencies
/// nor times of bytes are below 0: C. Lawson, R. Hanson, "Solving Least Squares Problems", 1974, chapter 23.
#pragma once

#include <string>
#include <vector>

#include "experiment/calibration/network_fit.h"

namespace simgrad::experiment {

/// Messages of at least so many bytes, up to the next row's.
struct FittedRow {
  double from_bytes = 0.0;
  double latency_s = 0.0;
  double bytes_per_s = 0.0;
};

struct ProtocolFit {
  std::vector<FittedRow> rows;      ///< ascending, the first one from 0 bytes on
  std::vector<double> predicted_s;  ///< of each measurement
  double rms_relative_error = 0.0;
  double median_relative_error = 0.0;  ///< of absolute errors
};

/// At most eight rows. A ring of P on n bytes has messages of n/P, halving and doubling of n/2, n/4 ... n/P.
/// Errors: base::ScenarioError if no size tells latency from bandwidth.
ProtocolFit fit_protocol(const std::vector<Measured>& measured, const std::string& path);

}  // namespace simgrad::experiment
