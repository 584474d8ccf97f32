/// One job inside a run: its own world of ranks, its own record. Stands between the run and its workers.
///
/// Evaluates, stops, keeps checkpoints, and starts the ranks again after a failure. Ending a training ends its ranks,
/// not the engine: several may live in one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/gang_schedule.h"
#include "cluster/ranks/storage.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "training/checkpoints/checkpoints.h"
#include "training/checkpoints/snapshots.h"
#include "training/learning/learning.h"
#include "training/learning/shards.h"
#include "training/options.h"
#include "training/program.h"
#include "training/sparse/sparse_learning.h"
#include "training/sparse/store.h"
#include "training/state.h"

namespace simgrad::training {

class Training {
 public:
  struct Setup {
    Options options;
    StopOptions stop;
    EvaluateOptions evaluate;
    std::optional<cluster::Recovery> recovery = {};  ///< default: the cluster's
    cluster::GangSchedule* turns = nullptr;          ///< in which several jobs compute; null: whenever they like
    int job = 0;                                     ///< its number among the jobs of the run
  };
  /// workers: at nominal speed times their relative one; the program's servers come on top.
  Training(cluster::Cluster& cluster, const Learning& learning, Program program, Setup setup, int workers);
  ~Training();

  /// Starts the ranks; then cluster.run() runs them.
  void start();
  /// After the run.
  record::Record take_record();

  // What ranks say and ask.

  /// A rank's state after state.step updates: checkpoints it, and once all who report have arrived at that step,
  /// observes it. Returns whether the training goes on for the rank.
  bool arrive(int rank, const State& state);
  /// The same of parameters that are changed in place: they become tensors where somebody looks, now or until it
  /// arrives again.
  bool arrive(int rank, std::int64_t step, std::shared_ptr<const Store> store);
  /// In a rank that goes on after so many steps: blocks until it is this job's turn.
  void await_turn(std::int64_t step) const {
    if (setup_.turns) setup_.turns->come(setup_.job, step, reporters());
  }
  /// The state to go on from: of step 0, of the last checkpoint that every rank reached, or from memory.
  State start_state(int rank) const;
  /// Of that state.
  std::int64_t start_step() const { return source_ ? *source_->complete_step() : 0; }
  /// At the start of a worker: who holds a replica sends it to those that have come back without theirs.
  /// Virtual time: alpha + M beta.
  void catch_up(const cluster::Communicator& comm) const;
  /// At the start of a rank after a failure: cluster.failures.restart_time, then reading the checkpoint.
  void restart(const cluster::Communicator& comm) const;
  /// The state of a step that is to be kept: whoever holds it writes it. Replicas that are equal are written once, by
  /// the first.  Virtual time: bytes of parameters and optimizer / cluster.storage_bandwidth, which counts as
  /// communicating.
  void write_checkpoint(const cluster::Communicator& comm, const State& state);
  void write_checkpoint(const cluster::Communicator& comm, std::int64_t step, const Store& store);
  /// Gradient samples: as they are computed where a step is one update by all, else as they are applied.
  void add_samples(std::int64_t samples) { samples_ += samples; }
  /// Of a gradient that is applied; after the end, of none.
  void add_staleness(std::int64_t updates);
  /// Of replicas at their own pace: what a rank's has become since its last report.
  void show(int rank, const State& state);
  /// Of all of them together, in this generation.
  std::int64_t updates() const { return pace_.updates; }
  void set_spectral_gap(double gap) { record_.spectral_gap = gap; }

  const Learning& learning() const { return learning_; }
  const Setup& setup() const { return setup_; }
  cluster::World& world() { return world_; }
  /// The living workers, then the servers, of the present generation.
  const cluster::Communicator::Members& members() const { return members_; }
  int generation() const { return generation_; }
  double elapsed_s() const { return world_.now() - world_.start_s(); }
  /// The last one that is complete.
  std::int64_t latest_step() const { return latest_.step; }
  /// Random draws of a rank's step. A step that is repeated after a failure draws anew (a new attempt); batches are
  /// dealt by step alone, so that a repeated step sees the same rows.
  /// retry: of a rank that gives its step's work up and begins again, in the same generation.
  base::Stream stream(base::Purpose purpose, int rank, std::int64_t step, std::uint32_t retry = 0) const;
  int living_workers() const { return living_workers_; }
  /// How the parameters are dealt to the servers of this generation; all to each where the program does not deal them.
  const Shards& shards() const { return *shards_; }
  /// The one state of workers that share their memory.
  State& memory();
  /// What the ranks of a sparse training share; made by whoever asks first, in every generation.
  SparseLearning& sparse(const SparseLearning::Options& options);
  /// Where batches are read from; null where they are in memory.
  const cluster::Storage* input() const { return input_ ? &*input_ : nullptr; }
  bool synchronous() const { return program_.synchronous; }
  /// After so many steps every worker has given so many gradients, on average.
  double rounds(std::int64_t step) const;

  /// Whether a number of steps, samples or epochs ends the training with that step.
  bool last_step(std::int64_t step) const;

  /// How far the run is, 0 .. 1, for a progress line; may be watched from another process.
  void show_progress_in(double* progress) { progress_ = progress; }

  // Of trainings that go on in place when a worker is lost (in_place.cpp).

  bool keeps_going() const { return recovery() == cluster::Recovery::keep_going; }
  /// Whether the rank has come back during this generation, and begins in the middle of it.
  bool rejoins(int rank) const;
  /// Where replicas are trained: whether the rank is at work on its own.
  bool active(int rank) const { return alongside_.at(static_cast<std::size_t>(rank)).active; }
  /// Whether its replica takes part in that step.
  bool takes_part(int rank, std::int64_t step) const;
  /// A replica that is back: from which step on it takes part, and who sends it the parameters then.
  void join(int rank, std::int64_t step, int from);
  /// Who wants this rank's parameters of that step; each is told once.
  std::vector<int> joiners(int from, std::int64_t step);

  // What the recovery driver asks and does.

  /// Whether the others can go on when this rank's host is lost.
  bool goes_on_without(int rank) const;
  /// A rank is lost in place: steps that waited for it alone are complete.
  void lose(int rank);
  void bring_back(int rank);
  /// The run is over: nobody of that role is left.
  void fail_without(const char* role);

  cluster::Recovery recovery() const { return setup_.recovery.value_or(cluster_.options().failures.recovery); }
  Holder holder() const;
  /// What these ranks had in memory is gone.
  void forget(int rank);
  /// A host is down; whether a recovery begins with it.
  void count_crash(bool recovers);
  /// All stop, for somebody joins them: the step under way is lost.
  void join_begins() { losses_.crashed(world_.now()); }

  void note(std::string text) { record_.notes.push_back(std::move(text)); }
  /// The same of what may happen thousands of times: the first ten are told, then how many more there were.
  void note_failure(std::string text) {
    if (++failures_told_ <= most_failures_told) note(std::move(text));
  }
  cluster::Cluster& cluster() const { return cluster_; }
  /// Starts a new generation, from memory or from the last checkpoint.
  void relaunch();

 private:
  /// Of a replica in a training that goes on in place.
  struct Alongside {
    bool active = true;
    bool rejoins = false;
    std::int64_t passed = -1;            ///< its last report
    std::int64_t since = 0;              ///< the step from which on it takes part
    std::optional<int> joins_from = {};  ///< until that one has sent its parameters
  };
  /// All reports of one step, until everybody's is in.
  struct Arrivals {
    std::vector<values::Tensor> replicas;  ///< in the order of the ranks, whoever comes first
    int reports = 0;
    std::int64_t samples = 0;  ///< that an asynchronous training has counted up to this step
  };
  struct Observed {
    std::int64_t step = 0;
    std::vector<values::Tensor> replicas;
    std::int64_t samples = 0;
  };

  /// Of replicas that are updated each at its own pace, in this generation.
  struct Pace {
    std::vector<State> states;  ///< by place; without numbers of those that are lost
    std::vector<bool> begun;
    std::int64_t first_step = 0;
    std::int64_t updates = 0;
    std::int64_t chosen_step = 0;       ///< the last one to be written as a checkpoint
    std::vector<std::int64_t> written;  ///< the last one that each has written
  };

  bool arrive_at_own_pace(int rank, const State& state);
  void observe_at_own_pace();
  void lose_at_own_pace(int rank);
  std::optional<State> due_at_own_pace(int rank, const State& state);
  /// Whether every living worker goes on from a state of its own, and nobody is missing.
  bool everybody_is_kept() const;
  void launch();
  void start_rank(int rank, int position);
  void count_members();
  void schedule_timers();
  void look_every(double period_s, std::int64_t count);
  void choose_source();
  std::int64_t restored_step() const;
  void deal_shards();
  int reporters() const;
  bool arrive_in_place(int rank, const State& state);
  void observe_complete_steps();
  void plan_checkpoints();
  void record_losses();
  void record_keys();
  double storage_s(double bytes) const;
  double state_bytes() const;
  bool remembers() const;
  void keep(int rank, const State& state);
  std::size_t place(int rank) const;
  std::int64_t samples_at(const Observed& state) const;
  bool deadlocked();
  /// With the stores' tensors, as they are now, where nobody made one.
  std::vector<values::Tensor> looked_at(const std::vector<values::Tensor>& replicas) const;
  void observe(Observed state);
  void evaluate(const Observed& state);
  bool due(std::int64_t step) const;
  void finish(record::Status status);
  void finish_at_time_limit();
  void update_progress(std::int64_t step);

  cluster::Cluster& cluster_;
  const Learning& learning_;
  Program program_;
  Setup setup_;
  cluster::World world_;
  record::Record record_;
  std::optional<std::int64_t> step_limit_;       ///< of a synchronous training, from steps, samples and epochs
  std::optional<std::int64_t> sample_limit_;     ///< of an asynchronous one
  std::optional<std::int64_t> last_by_samples_;  ///< the step that reached it
  cluster::Communicator::Members members_;
  std::optional<Shards> shards_;
  std::optional<State> memory_;
  std::optional<SparseLearning> sparse_;
  std::map<int, std::shared_ptr<const Store>> stores_;  ///< by rank, of this generation
  std::optional<cluster::Storage> input_;
  int living_workers_ = 0;
  int living_servers_ = 0;
  int generation_ = 0;
  std::map<std::int64_t, Arrivals> arrivals_;
  std::optional<CheckpointClock> checkpoint_clock_;
  double checkpoint_cost_s_ = 0.0;
  Losses losses_;
  std::int64_t crashes_ = 0;
  std::optional<cluster::Storage> stable_storage_;
  Snapshots checkpoints_;
  Snapshots recent_;             ///< what the ranks remember, where a recovery goes on from that
  Snapshots* source_ = nullptr;  ///< of this generation's start; null: step 0
  Pace pace_;
  bool resumes_whole_ = false;          ///< this generation has everybody's own state to go on from
  std::vector<Alongside> alongside_;    ///< by rank
  std::int64_t alongside_samples_ = 0;  ///< of the steps that are complete
  Observed latest_;
  bool evaluated_latest_ = false;
  bool resumed_ = false;  ///< the next state seen is the one gone back to
  std::int64_t samples_ = 0;
  std::int64_t lost_samples_ = 0;  ///< computed, then given up in a crash
  std::int64_t stalenesses_ = 0;
  double staleness_sum_ = 0.0;
  static constexpr int most_failures_told = 10;
  int failures_told_ = 0;
  double* progress_ = nullptr;
  std::unique_ptr<class Recovery> recovery_;
};

}  // namespace simgrad::training
