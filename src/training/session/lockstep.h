/// Progress of a training whose ranks all report every step: a step is complete with its last report.
#pragma once

#include <map>

#include "training/session/progress.h"
#include "training/session/stop_rules.h"
#include "training/session/tally.h"

namespace simgrad::training {

class Lockstep final : public Progress {
 public:
  /// batch: a step's samples where every step is one update by all gradients of the step; else the tally counts.
  Lockstep(Hooks hooks, std::optional<std::int64_t> batch, const Tally& tally, StopRules& rules)
      : Progress(std::move(hooks)), batch_(batch), tally_(tally), rules_(rules) {}

  void begin(const Generation& generation) override;
  std::int64_t go_back(std::int64_t step, std::int64_t samples) override;
  std::int64_t arrive(int rank, const State& state) override;
  std::int64_t samples_at(const Observed& state) const override;

 private:
  struct Arrivals {
    std::vector<values::Tensor> replicas;  ///< by the ranks' places
    int reports = 0;
    std::int64_t samples = 0;
  };

  std::optional<std::int64_t> batch_;
  const Tally& tally_;
  StopRules& rules_;
  const Generation* generation_ = nullptr;
  std::map<std::int64_t, Arrivals> arrivals_;  ///< by step
  std::int64_t lost_samples_ = 0;              ///< computed, then undone by a crash
};

}  // namespace simgrad::training
