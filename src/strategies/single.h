/// One worker, no network: the sequential algorithm, and the baseline of every speed-up.
///
/// Cost per step: the gradient of the whole batch and one update; of a sparse model those of the batch's own keys.
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
  std::int64_t workers(std::int64_t) const override { return 1; }
  std::shared_ptr<const Strategy> alone() const override { return std::make_shared<Single>(*this); }
  bool optimizes() const override { return job == Job::gradient; }
  std::optional<Unfit> unfit(const Fit& fit) const override { return job_misfit(job, fit); }
  /// With its only host all memory is gone.
  std::vector<cluster::Recovery> recoveries() const override {
    return {cluster::Recovery::restart, cluster::Recovery::wait};
  }
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
