/// One worker, no network: the sequential algorithm, and the baseline of every speed-up.
///
/// Cost per step: the gradient of the whole batch and one update; with a sparse model those of the batch's own keys.
#pragma once

#include "strategies/job.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Single : Strategy {
  static constexpr base::About about{.kind = "single",
                                     .summary = "one worker computes the whole batch; no network",
                                     .cost = "t_c + t_update a step",
                                     .source = ""};

  Job job = Job::gradient;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override {
    return job_refusal(job, circumstances);
  }
  std::shared_ptr<const Strategy> alone() const override { return std::make_shared<Single>(*this); }
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
