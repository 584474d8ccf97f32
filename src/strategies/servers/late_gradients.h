/// Gradients that were computed at older parameters.
///
/// Source: staleness-aware learning rate: W. Zhang, S. Gupta, X. Lian, J. Liu, "Staleness-aware Async-SGD for
/// Distributed Deep Learning", IJCAI 2016; delay compensation: S. Zheng et al., "Asynchronous Stochastic Gradient
/// Descent with Delay Compensation", ICML 2017, Algorithm 2.
#pragma once

#include <vector>

#include "strategies/servers/parameter_server.h"
#include "strategies/servers/push_service.h"

namespace simgrad::strategies {

/// One worker's part of the gradient, corrected for the present state.
struct LateGradient {
  Tensor g;  ///< (d)
  int worker = 0;
  std::int64_t staleness = 0;
};

/// The server's side; where delays are compensated, it keeps the parameters that every worker has pulled.
class LateGradients {
 public:
  /// Both must outlive it. The service tells it which parameters a worker is sent.
  LateGradients(const ParameterServer& options, PushService& service);
  LateGradients(const LateGradients&) = delete;
  LateGradients& operator=(const LateGradients&) = delete;

  /// A worker's part of the gradient, corrected for the present state.  Virtual time: decoding, and 5 flops a parameter
  /// where delays are compensated.
  LateGradient corrected(const Push& push, std::int64_t staleness) const;
  /// One update: by one worker's part, or for K-batch by the mean gradient over all rows. Counts rows and staleness.
  /// Virtual time: the additions and the optimizer's flops.
  void apply(const std::vector<LateGradient>& parts) const;

 private:
  /// The ratio of a batch to so many rows.
  double shares(std::int64_t rows) const;

  const ParameterServer& options_;
  PushService& service_;
  const Server& server_;
  std::vector<Tensor> pulled_;  ///< by worker
};

/// g + lambda g g (w - v), element by element.  All (d).  Source: as above, equation 10.
Tensor compensated(values::Dispatcher& dispatcher, const Tensor& g, const Tensor& w, const Tensor& v, double lambda);

}  // namespace simgrad::strategies
