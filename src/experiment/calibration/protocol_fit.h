/// The fit of a protocol to measured transfers: latency and bandwidth by a message's size, piece by piece.
///
/// Source: P.-N. Clauss et al., "Single Node On-Line Simulation of MPI Applications with SMPI", IPDPS 2011 (lines
/// piecewise in the size); the pieces are those of least squares by dynamic programming: R. Bellman, "On the
/// Approximation of Curves by Line Segments Using Dynamic Programming", CACM 4, 1961; their number is that of the least
/// Bayesian information criterion: G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978.
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

/// A row's measurements have two sizes of messages at least; a ring of P on n bytes has messages of n/P.
/// Errors: base::ScenarioError if no size tells latency from bandwidth.
ProtocolFit fit_protocol(const std::vector<Measured>& measured, const std::string& path);

}  // namespace simgrad::experiment
