/// Progress of asynchronous replicas: every worker updates its own replica at its own pace, and a step is P updates by
/// any workers.
#pragma once

#include "training/session/progress.h"
#include "training/session/replicas.h"
#include "training/session/stop_rules.h"
#include "training/session/tally.h"

namespace simgrad::training {

class AsyncReplicas final : public Progress {
 public:
  /// alive: whether a rank's host is up now.
  AsyncReplicas(Hooks hooks, std::function<bool(int rank)> alive, const Tally& tally, StopRules& rules,
                Replicas& replicas)
      : Progress(std::move(hooks)), alive_(std::move(alive)), tally_(tally), rules_(rules), replicas_(replicas) {}

  void begin(const Generation& generation) override;
  std::int64_t arrive(int rank, const State& state) override;
  void lose(int rank) override;
  void show(int rank, const State& state) override;
  std::int64_t updates() const override { return updates_; }
  /// Ranks report at different times: each writes the last chosen step at its next report.
  std::optional<State> due_checkpoint(int rank, const State& state,
                                      const std::function<bool(std::int64_t step)>& chosen) override;

 private:
  void observe();
  void remember() const;

  std::function<bool(int rank)> alive_;
  const Tally& tally_;
  StopRules& rules_;
  Replicas& replicas_;

  // All that follows belongs to the present generation.
  const Generation* generation_ = nullptr;
  std::vector<State> states_;   ///< by place, null of those that are lost; empty before the first report
  std::vector<bool> reported_;  ///< by place: whether the rank's start state was reported
  std::int64_t step_ = 0;
  std::int64_t updates_ = 0;
  std::int64_t chosen_step_ = 0;             ///< the last one to be written as a checkpoint
  std::vector<std::int64_t> written_steps_;  ///< by place: the last one that the rank has written
};

}  // namespace simgrad::training
