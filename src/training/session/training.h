/// One job inside a run: its own world of ranks, its own record.
///
/// Owns the parts of a training, each with one task, and lets them act on each other: ranks report states (Session),
/// Progress makes steps of them, Curve evaluates steps, StopRules end the training, CheckpointStore keeps states,
/// RecoveryDriver starts a new Generation after a failure. Ending a training ends its ranks, not the engine: several
/// may live in one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/gang_schedule.h"
#include "cluster/ranks/storage.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "training/checkpoints/checkpoint_store.h"
#include "training/learning/learning.h"
#include "training/learning/loss_scales.h"
#include "training/learning/row_source.h"
#include "training/options.h"
#include "training/parts/model_parts.h"
#include "training/program.h"
#include "training/session/curve.h"
#include "training/session/divergence.h"
#include "training/session/generation.h"
#include "training/session/progress.h"
#include "training/session/pulse.h"
#include "training/session/recovery_driver.h"
#include "training/session/replicas.h"
#include "training/session/session.h"
#include "training/session/shared_states.h"
#include "training/session/stop_rules.h"
#include "training/session/tally.h"

namespace simgrad::training {

class Worker;

class Training final : public Session, private Recoverable {
 public:
  struct Setup {
    Options options;
    StopOptions stop;
    EvaluateOptions evaluate;
    std::optional<cluster::Recovery> recovery = {};  ///< default: the cluster's
    cluster::GangSchedule* turns = nullptr;          ///< turns in which several jobs compute; null: at any time
    int job = 0;                                     ///< its number among the jobs of the run
    /// Called once, shortly before the training ends by its steps, or as it reaches its target: all that a longer
    /// training would go on from is still there.
    std::function<void()> near_end = {};
    bool keeps_parameters = false;  ///< for evaluated()
  };
  /// workers: at nominal speed times their relative one; the program's servers come on top.
  Training(cluster::Cluster& cluster, const Learning& learning, Program program, Setup setup, int workers);
  ~Training() override;

  /// Starts the ranks; then cluster.run() runs them.
  void start();
  /// After the run.
  record::Record take_record();
  /// The parameters that were evaluated last, whole: the replicas' mean where they differ. Null if nothing was
  /// evaluated, or without Setup::keeps_parameters.
  const values::Tensor& evaluated() const { return curve_.evaluated(); }
  /// Shows the progress of the run there; another process may watch it.
  void show_progress_in(Pulse* pulse) { pulse_ = pulse; }

  const Learning& learning() const override { return learning_; }
  const ModelParts* parts() const override { return parts_.get(); }
  const Options& options() const override { return setup_.options; }
  cluster::World& world() override { return world_; }
  const Generation& generation() const override { return *generation_; }
  Replicas& replicas() override { return replicas_; }
  SharedStates& shared() override { return shared_; }
  Tally& tally() override { return tally_; }
  LossScales& loss_scales() override { return loss_scales_; }
  Progress& progress() override { return *progress_; }
  RowSource* rows() override { return rows_ ? &*rows_ : nullptr; }
  const cluster::Storage* disk() const override { return disk_ ? &*disk_ : nullptr; }
  bool arrive(const cluster::Communicator& comm, const State& state) override;
  bool arrive(const cluster::Communicator& comm, std::int64_t step, std::shared_ptr<const Store> store) override;
  std::int64_t latest_step() const override { return curve_.latest().step; }
  bool last_step(std::int64_t step) const override { return stop_rules_.last_step(step); }
  base::Stream stream(base::Purpose purpose, int rank, std::int64_t step, std::uint32_t retry = 0) const override;

 private:
  // Actions of the recovery driver.
  void forget(int rank) override;
  void crashed(bool recovers) override { checkpoints_.crashed(recovers); }
  void aborted() override { checkpoints_.aborted(); }
  void lose(int rank) override;
  void bring_back(int rank) override;
  void relaunch() override;
  void note_failure(std::string text) override { tally_.note_failure(std::move(text)); }

  cluster::Recovery recovery() const { return setup_.recovery.value_or(cluster_.options().failures.recovery); }
  Holder holder() const { return traits_.holder; }
  std::unique_ptr<Progress> make_progress();
  CheckpointBytes checkpoint_bytes() const;
  double bytes_of_largest_part() const;
  double bytes_of_state_that_one_writes() const;
  double share_of_checkpoint(int rank) const;
  bool enough(const Snapshots& memories) const;
  void keep_copies();
  void catch_up_with(const Worker& worker);
  Snapshots* launch();
  void start_rank(int rank, int position);
  void start_devices(int rank, int worker);
  void restart(const cluster::Communicator& comm) const;
  bool report(int rank, const State& state);
  void write_checkpoint(const cluster::Communicator& comm, const State& state);
  void await_turn(std::int64_t step) const;
  double elapsed_s() const { return world_.now() - world_.start_s(); }
  void observe(Observed state);
  bool times_alone() const;
  bool all_are_alike() const;
  void find_rows();
  void let_ranks_stand_in();
  values::Tensor whole_of_parts(const std::vector<values::Tensor>& states) const;
  Curve::Whole assemble(const std::vector<values::Tensor>& replicas) const;
  bool workers_hold(std::int64_t step) const;
  void evaluate();
  void schedule_timers();
  void look_every(double period_s, std::int64_t count);
  bool over() const;
  bool deadlocked();
  void finish(record::Status status);
  void come_near_end();
  void note_divergence();
  std::int64_t samples_seen() const;
  void go_back(std::int64_t step);
  Observed first_state();
  void finish_at_time_limit();
  void show_progress();
  void record_keys();
  void fill_throughput();
  void fill_memory_limits();
  void fill_mesh();
  void fill_sources();

  cluster::Cluster& cluster_;
  const Learning& learning_;
  Program program_;
  Traits traits_;
  std::unique_ptr<const ModelParts> parts_;  ///< null: every worker has the whole model
  Setup setup_;
  cluster::World world_;
  record::Record record_;
  Tally tally_;
  StopRules stop_rules_;
  Divergence divergence_;
  Replicas replicas_;
  SharedStates shared_;
  LossScales loss_scales_;
  std::optional<cluster::Storage> disk_;   ///< the strategy's, one in each host
  std::optional<cluster::Storage> input_;  ///< training.input's
  std::optional<RowSource> rows_;          ///< none: rows take no time
  CheckpointStore checkpoints_;
  std::vector<int> copied_;  ///< by rank, the rank whose state it keeps a copy of; empty: none
  Curve curve_;
  bool target_met_ = false;  ///< by the loss of the latest row, be it of a mean that no worker holds
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<const Generation> generation_;
  RecoveryDriver recovery_driver_;
  std::map<std::int64_t, std::int64_t> seen_by_step_;  ///< samples that a step's state has seen; only if hosts can fail
  std::int64_t samples_lost_ = 0;                      ///< computed for states that a recovery went back on
  Pulse* pulse_ = nullptr;
};

}  // namespace simgrad::training
