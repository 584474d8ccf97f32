/// The ways into and out of the states in which an actor's virtual time passes.
///
/// A rank's main actor that is killed in a scope leaves its account alone: the account was settled before, and its
/// state since then (down, say) must stay. A side actor that is killed while it is blocked is blocked no more.
#pragma once

#include "cluster/ranks/actor_state.h"

namespace simgrad::cluster {

class Cluster;

/// While it lives, idle time has this cause, and so has, within a checkpoint or a recovery, all waiting for the calling
/// actor; the outermost scope counts.  actor: null where its time is not kept.
class WithinScope {
 public:
  WithinScope(const Cluster& clock, ActorState* actor, record::TimePart within);
  ~WithinScope();
  WithinScope(const WithinScope&) = delete;
  WithinScope& operator=(const WithinScope&) = delete;

 private:
  const Cluster& clock_;
  ActorState* actor_;
  int exceptions_;
};

/// While it lives, the calling actor computes, or communicates with a storage.  actor: null where its time is not kept.
class BusyScope {
 public:
  /// part: of the actor's time, of computing or communicating.
  BusyScope(const Cluster& clock, ActorState* actor, record::TimePart part, const SpanLabel& label);
  /// Computes: the label's work says which part it is.
  BusyScope(const Cluster& clock, ActorState* actor, const SpanLabel& label);
  ~BusyScope();
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  const Cluster& clock_;
  ActorState* actor_;
  int exceptions_;
};

/// While it lives, the calling actor is blocked: it waits, and communicates from the start of its transfer on.
class BlockedScope {
 public:
  BlockedScope(const Cluster& clock, ActorState* actor, const BlockedOn& on);
  ~BlockedScope();
  BlockedScope(const BlockedScope&) = delete;
  BlockedScope& operator=(const BlockedScope&) = delete;

  /// The actor's track, for which label() is worth its time; null: nobody records.
  Track* track() const { return actor_ ? actor_->track() : nullptr; }
  void label(const SpanLabel& label) const {
    if (Track* const recorded = track()) recorded->transfer(label);
  }
  /// Sets the start of the transfer that the actor was blocked on; negative: it never started.
  void started(double transfer_start_s) { transfer_start_s_ = transfer_start_s; }
  /// Sets the actor that was waited for.
  void awaited(const ActorState& actor) {
    if (actor_) actor_->blocked_on_.awaited = &actor;
  }
  /// Sets the seconds of computing and communicating in this scope, and the causes of the rest, which is waiting.
  void divided(double compute_s, double communicate_s, const record::TimeParts& causes) {
    divided_ = true;
    compute_s_ = compute_s;
    communicate_s_ = communicate_s;
    causes_ = causes;
  }

 private:
  const Cluster& clock_;
  ActorState* actor_;
  int exceptions_;
  bool divided_ = false;
  double transfer_start_s_ = -1.0;
  double compute_s_ = 0.0;
  double communicate_s_ = 0.0;
  record::TimeParts causes_;
};

}  // namespace simgrad::cluster
