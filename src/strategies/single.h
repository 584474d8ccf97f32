/// One worker, no network: the sequential algorithm, and the baseline of every speed-up.
///
/// Cost per step: the gradient of the whole batch and one update.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Single : Strategy {
  static constexpr base::About about{.kind = "single",
                                     .summary = "one worker computes the whole batch; no network",
                                     .cost = "t_c + t_update a step",
                                     .source = ""};

  std::int64_t workers(std::int64_t) const override { return 1; }
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
