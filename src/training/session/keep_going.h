/// Progress of replicas that go on without lost ones (recovery = "continue"): a step is complete when every replica at
/// work has passed it. A step has the samples of the replicas that took part in it, so that a number of samples or
/// epochs takes more steps when workers are lost.
#pragma once

#include <map>
#include <vector>

#include "training/learning/batches.h"
#include "training/session/progress.h"
#include "training/session/replicas.h"
#include "training/session/stop_rules.h"

namespace simgrad::training {

class KeepGoing final : public Progress {
 public:
  KeepGoing(Hooks hooks, const Batches& batches, StopRules& rules, Replicas& replicas)
      : Progress(std::move(hooks)), batches_(batches), rules_(rules), replicas_(replicas) {}

  void begin(const Generation& generation) override;
  std::int64_t go_back(std::int64_t step, std::int64_t samples) override;
  std::int64_t arrive(int rank, const State& state) override;
  void lose(int rank) override;

 private:
  struct Arrivals {
    std::vector<values::Tensor> replicas;  ///< by the ranks' places; null of those that have not reported
    std::int64_t samples = 0;              ///< those of the gradients that led to the step
  };
  void observe_complete_steps();

  const Batches& batches_;
  StopRules& rules_;
  Replicas& replicas_;
  const Generation* generation_ = nullptr;
  std::map<std::int64_t, Arrivals> arrivals_;  ///< by step
  std::int64_t samples_ = 0;                   ///< those of all complete steps, undone ones included
  std::vector<std::int64_t> seen_{0};          ///< by complete step: the samples that its state has seen
};

}  // namespace simgrad::training
