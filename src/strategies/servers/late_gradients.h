/// What a gradient is worth that was computed at older parameters.
///
/// Source: staleness-aware learning rate: W. Zhang, S. Gupta, X. Lian, J. Liu, "Staleness-aware Async-SGD for
/// Distributed Deep Learning", IJCAI 2016; delay compensation: S. Zheng et al., "Asynchronous Stochastic Gradient
/// Descent with Delay Compensation", ICML 2017, Algorithm 2.
#pragma once

#include <vector>

#include "strategies/servers/parameter_server.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

/// One worker's part of the gradient, as it counts at the present state.
struct LateGradient {
  Tensor g;  ///< (d)
  int worker = 0;
  std::int64_t staleness = 0;
};

/// The server's side of it: it keeps what every worker has pulled where delays are compensated.
class LateGradients {
 public:
  /// Both must outlive it.
  LateGradients(const ParameterServer& options, const Service& service);

  /// The worker gets these parameters now.
  void pulls(int worker, const State& state);
  /// What becomes of its part of the gradient at the present state.  Virtual time: 5 flops a parameter where delays are
  /// compensated.
  LateGradient corrected(const Tensor& part, int worker, const State& state, std::int64_t staleness) const;
  /// One update: by one worker's part, or for K-batch by the mean gradient over all rows. Counts rows and staleness.
  /// Virtual time: the additions and the optimizer's flops.
  void apply(const std::vector<LateGradient>& parts, State& state) const;

 private:
  /// How many times so many rows a batch is.
  double shares(std::int64_t rows) const;

  const ParameterServer& options_;
  const Service& service_;
  const Server& server_;
  std::vector<Tensor> pulled_;  ///< by worker
};

/// g + lambda g g (w - v), element by element.  All (d).  Source: as above, equation 10.
Tensor compensated(values::Dispatcher& dispatcher, const Tensor& g, const Tensor& w, const Tensor& v, double lambda);

}  // namespace simgrad::strategies
