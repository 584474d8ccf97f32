/// How the states that ranks report make up the steps of a training.
///
/// A training has one of three kinds: Lockstep, KeepGoing, AsyncReplicas.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "training/state.h"

namespace simgrad::training {

class Generation;

/// The state that a training has reached with a step: each replica's parameters, or each server's.
struct Observed {
  std::int64_t step = 0;
  std::vector<values::Tensor> replicas;  ///< null where a rank's parameters are changed in place
  std::int64_t samples = 0;              ///< counted up to this step
};

class Progress {
 public:
  struct Hooks {
    /// Takes a step's state, once all its ranks have reported. Returns whether the training goes on.
    std::function<bool(Observed)> observe;
    /// Keeps a rank's state in memory for a recovery.  reporters: how many ranks' states make up the step.
    std::function<void(int rank, const State& state, int reporters)> remember;
  };
  explicit Progress(Hooks hooks) : hooks_(std::move(hooks)) {}
  virtual ~Progress() = default;

  virtual void begin(const Generation& generation) = 0;
  /// Goes back to that step, with so many samples counted. Returns the number from which samples_at() goes on.
  virtual std::int64_t go_back(std::int64_t /*step*/, std::int64_t samples) { return samples; }
  /// A rank's state after state.step updates. Returns the step that the stopping rules are to judge for this rank.
  virtual std::int64_t arrive(int rank, const State& state) = 0;
  /// A worker is lost while the others go on: steps that lacked only its report are complete.
  virtual void lose(int /*rank*/) {}
  /// Replaces the last state that the rank has reported, without counting an update.
  virtual void show(int /*rank*/, const State& /*state*/) {}
  /// Asynchronous replicas: updates of all replicas together in this generation.
  virtual std::int64_t updates() const { return 0; }
  /// Samples that were counted until the state, those of states that were given up included.
  virtual std::int64_t samples_at(const Observed& state) const { return state.samples; }
  /// The state that this rank is to write as a checkpoint now, if any.  chosen: whether a step's state is to be kept.
  virtual std::optional<State> due_checkpoint(int /*rank*/, const State& state,
                                              const std::function<bool(std::int64_t step)>& chosen) {
    return state.step > 0 && chosen(state.step) ? std::optional(state) : std::nullopt;
  }

 protected:
  const Hooks hooks_;
};

}  // namespace simgrad::training
