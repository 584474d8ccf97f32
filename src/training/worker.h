/// A rank's program: its share of the data and its gradients, or its share of the parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "cluster/ranks/equal_work.h"
#include "training/gradient_maker.h"
#include "training/pace.h"
#include "training/participant.h"

namespace simgrad::cluster {
class Inbox;
}

namespace simgrad::record {
struct BlockUse;
}

namespace simgrad::training {

class InputPipeline;
class PassMemory;
class Passes;
struct RowsToRead;
struct SharedTable;
struct SparseBatch;
struct TaskTurn;

class Worker : public Participant {
 public:
  Worker(Session& session, int position);
  /// A device of that worker behind the first one (Traits::devices_a_worker). It makes its part of the worker's
  /// gradients, and reports no states; comm() are the worker's devices.
  Worker(Session& session, int worker, int device);
  ~Worker() override;

  using Participant::rows;
  std::int64_t rows() const { return rows(replica()); }  ///< its share of a step's batch

  /// As a participant's; then calls the functions registered with at_every_step.
  bool continues(const State& state) const;
  using Participant::continues;

  /// This rank's part of the gradient of the mean loss over the next batch, at w; the parts of all ranks add up to the
  /// gradient.  w: (d).  Returns (d).  Virtual time: flops / speed. Every call takes the next step's batch.
  values::Tensor gradient(const values::Tensor& w) { return gradient(w, iteration_); }
  /// Its part of the gradient over that step's batch.
  values::Tensor gradient(const values::Tensor& w, std::int64_t step);
  /// Its part of the gradient over a micro-batch of the next batch; the last one completes the batch. The parts of all
  /// micro-batches add up.
  values::Tensor gradient(const values::Tensor& w, MicroBatch micro);
  /// P times its part: the gradient as a rank that steps alone estimates it. With equal shares it is the mean over the
  /// rank's own rows. With unequal ones every row of a batch counts equally, so that replicas that average with equal
  /// weights approach the minimum of the mean loss.
  values::Tensor own_gradient(const values::Tensor& w) { return workers() * gradient(w); }
  /// The next batch's gradient, layer by layer: forwards through all of them, then backwards, from the last to the
  /// first. ready(g, layer): called when the backward pass has gone through a layer, whose stretch of g is complete
  /// then.
  using LayerReady = training::LayerReady;
  /// Where ready() is called.  any_actor: perhaps in that of a rank whose layers take as long; it neither blocks nor
  /// sends messages, and many ranks take less time to simulate.
  enum class ReadyIn : unsigned char { own_actor, any_actor };
  values::Tensor gradient(const values::Tensor& w, const LayerReady& ready, MicroBatch micro = {},
                          ReadyIn ready_in = ReadyIn::own_actor);
  /// The next batch's gradient by passes that read the parameters of one unit after the other, as the visitor has them.
  void gradient(UnitVisitor& visitor, MicroBatch micro);
  /// The gradient over that step's batch by such passes.
  void gradient_of_step(UnitVisitor& visitor, std::int64_t step);
  /// The visits of such passes, in a micro-batch.
  UnitVisits unit_visits() const;
  /// gradient() asks it from now on. It must outlive the calls.
  void make_gradients_with(GradientMaker& maker) { maker_ = &maker; }
  /// As the maker's.
  bool adds_up_micro_batches() const { return maker_ && maker_->adds_up_micro_batches(); }

  // The devices of a worker, whose own parts a maker puts together.

  /// The worker's devices, of which this rank is one; its place among them; and the worker's among all workers.
  cluster::Communicator devices() const;
  int device() const;
  int place() const;
  /// A device's rows of a step's batch.
  std::int64_t device_rows(int device) const;
  /// This device's part of the gradient over a micro-batch of that step's batch.  w: (d).  Returns (d).  Virtual time:
  /// flops / speed.
  values::Tensor device_gradient(const values::Tensor& w, std::int64_t step, MicroBatch micro);
  /// A device's gradient, layer by layer.
  values::Tensor device_gradient(const values::Tensor& w, std::int64_t step, const LayerReady& ready, MicroBatch micro,
                                 ReadyIn ready_in = ReadyIn::own_actor);
  /// A device's assignments, and its gradients of tasks and of a sparse batch, as the functions below have them.
  /// turn.part, batch: of this device's rows.
  values::Tensor device_assignments(const values::Tensor& w, std::int64_t step);
  values::Tensor device_task_gradient(const values::Tensor& w, const TaskTurn& turn);
  values::Tensor device_sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                                        const values::Tensor& at, const values::Tensor& replica);
  /// The stretches of w whose gradient another rank counts in the norm of the whole one, ascending.
  std::vector<models::ParameterStretch> counted_elsewhere() const;
  /// Counts the age of a micro-batch's weights, in updates, as its gradient is made.
  void count_staleness(std::int64_t updates) const;
  /// The work of a step's gradient on this rank's part, in so many micro-batches.
  double step_work(int micro_batches) const;
  /// Whether a layer's gradient stays in memory until the update (the default), or the strategy accounts for it.
  void keep_gradients(bool keep) { keeps_gradients_ = keep; }
  /// The next batch's gradient (that step's, where one is given), or nothing if a message comes in before it is done.
  /// Virtual time: flops / speed, or until then.
  std::optional<values::Tensor> gradient_unless(cluster::Inbox& news, const values::Tensor& w,
                                                std::optional<std::int64_t> of_step = {});
  /// Its gradient of some tasks, where the model has several: zero for what other tasks alone have.  Virtual time: the
  /// work of the turn's layers.
  values::Tensor task_gradient(const values::Tensor& w, const TaskTurn& turn);
  /// This rank's part of Lloyd's map over the next batch: the sums and numbers of each centre's rows, to be added over
  /// all ranks.  w: (k x d).  Returns (k x (d + 1)).  Virtual time: flops / speed. Only where the model is k-means.
  values::Tensor assignments(const values::Tensor& w);
  /// The next step's batch of a sparse model; and this rank's part of its gradient, as SparseLearning has it.
  /// Virtual time: none; flops / speed.
  std::shared_ptr<const SparseBatch> sparse_batch(SparseLearning& learning);
  values::Tensor sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                                 const values::Tensor& at, const values::Tensor& replica);
  /// Blocks until so many of its next rows have been read, where they are not in memory. The gradients above do so
  /// themselves.
  void read_rows(std::int64_t rows);
  /// As read_rows(), the rows of one of so many splits of a batch, which any worker may map. Gives up when a message
  /// comes in or is there already. Returns whether it finished.
  bool read_split_unless(cluster::Inbox& news, int split, int splits);
  /// The flops that a piece of that step's work takes, `flops` of `whole`, as the scenario's stragglers stretch it for
  /// this rank and step. Every piece of a step is stretched by the same draw.
  double stretched(double flops, double whole, std::int64_t step) const;
  /// This rank's part of a step's gradient over so many rows, as others get it: of a faulty worker (cluster.faulty)
  /// another one. A worker alone, without a server, hands over nothing, and so keeps its own.
  values::Tensor handed_over(const values::Tensor& g, std::int64_t step, std::int64_t rows) const;
  /// Flops of a gradient over so many rows, or of other passes over rows, as flops at the host's speed: a device has
  /// another speed for each product.
  double gradient_work(double flops, std::int64_t rows) const;
  double work_of(double flops) const;
  /// The exponent of this rank's loss scale; 0 unless precision = "float16".
  int loss_exponent() const;
  /// Counts gradients over so many rows. Only for gradients that are computed by other means than gradient() and the
  /// like.
  void count_samples(std::int64_t rows) const;

  // Workers that hold one state together, as cores of one host.

  /// The state; the worker that has made an update reports it.
  State& shared_memory() const;
  /// The shared state as a table of a sparse model. Only where `updates_rows` (strategies/sparse_single.h).
  SharedTable& shared_table() const;
  /// An update is made by this worker's gradient: its rows count as samples, its age as staleness.
  void count(std::int64_t staleness) const;
  /// The updates that replicas have made by their own gradients, as counted above.
  std::int64_t counted() const;
  /// A function that counts the age of a member's gradient as another replica applies it: the updates since `read_at`
  /// of them were counted, without the gradient's own. An actor beside the rank may call it.
  using CountAge = std::function<void(int member, std::int64_t read_at)>;
  CountAge counts_ages() const;

  // Replicas that step alone.

  /// A replica after `step` updates, w, with a fresh optimizer; the next batch is that of this step.
  State start_alone(const values::Tensor& w, std::int64_t step);
  /// Its next update, at the learning rate of its own step.
  void update_alone(State& state, const values::Tensor& g) const;
  /// Its next update at the learning rate of so many rounds; the rank's step, by which codes draw, stays as it is.
  void update_in_round(State& state, const values::Tensor& g, double round) const;
  /// The updates of all replicas together, in this generation.
  std::int64_t updates() const;
  /// Whether a number of steps, samples or epochs ends the training with that step.
  bool ends_after(std::int64_t step) const;
  /// A random stream of this rank and step.
  base::Stream draws(base::Purpose purpose, std::int64_t step) const;
  /// For the run's record.
  void report_spectral_gap(double gap) const;
  /// Reports the time of a step that a cost model predicts.
  void report_predicted_step(double seconds) const;
  /// Counts a step of replicas that synchronise blocks.  due: all blocks, with one synchronisation where it was due.
  /// The first worker's call counts.
  void count_blocks(const std::vector<record::BlockUse>& due) const;
  /// Whether this rank is at the run's beginning: it has neither failed nor come back.
  bool begins_the_run() const;
  /// The number of workers that the scenario has, lost ones included; of a cut model, of ranks with this one's part.
  int all_workers() const;

  // Replicas that go on when others are lost, and come back: for the classes below the strategies.

  /// Whether this rank has come back among others that have gone on meanwhile: it has no state, and asks for one.
  bool rejoins() const;
  /// The last step that is complete.
  std::int64_t latest_step() const;
  /// Whether a member is alive and its replica at work; and whether it takes part in that step.
  bool at_work(int member) const;
  bool takes_part(int member, std::int64_t step) const;
  /// A replica that is back takes part from that step on, and gets the parameters from that member then.
  void join(std::int64_t step, int from) const;
  /// The members that want this rank's parameters of that step; each is told once.
  std::vector<int> joiners(std::int64_t step) const;
  /// Registers a function, called whenever the state was reported and the training goes on.
  void at_every_step(std::function<void(const State&)> call) { calls_.push_back(std::move(call)); }
  /// Registers a function, called with each state of the generation but its first one, before that is reported.
  void before_each_report(std::function<void(const State&)> call) { before_ = std::move(call); }
  /// A function that shows the training a replica between two of its reports. An actor that outlives the worker for a
  /// moment may call it.
  std::function<void(const State&)> shows() const;

  /// Shows the training this worker's replica, where servers hold the state that is trained: the distance of the
  /// replicas is evaluated with that state.
  void show_replica(const values::Tensor& w) const;

  /// The number of rows by now, where they come in during the training; else nothing.
  std::optional<std::int64_t> arrived() const;
  /// The first server's place in comm(), and the number of servers.
  int server() const { return workers(); }
  int servers() const { return comm().size() - workers(); }

 private:
  values::Tensor squares_of_all(const values::Tensor& g, const values::Tensor& squares) const override;
  friend class Passes;
  friend class PartPasses;
  /// This rank's share of that step's batch, of the rows that have come in by now; and the number of its rows.
  Share share(std::int64_t step, MicroBatch micro = {}) const { return share(step, share_, micro); }
  Share share(std::int64_t step, int part, MicroBatch micro) const;
  std::int64_t device_rows() const { return device_rows(device()); }
  bool is_faulty() const;
  void begin_device_gradient(std::int64_t step, MicroBatch micro);
  /// The memory of passes over so many rows; and of all layers, at once.
  PassMemory pass_memory(std::int64_t rows) const;
  void count_passes(const values::Tensor& w, std::int64_t rows) const;
  /// Returns the step of whose batch that micro-batch is; the last one completes it.
  std::int64_t begin_micro_batch(MicroBatch micro);
  /// The work of a step's gradient in so many micro-batches.
  double step_work(double flops_a_row, int micro_batches) const;
  /// Computes work (see RankWork), stretched, of which the record counts the flops.
  void compute_stretched(double work, double whole, double flops, std::int64_t step, record::Work kind) const;
  using Participant::compute;
  void compute(std::span<const cluster::WorkPiece> pieces, ReadyIn ready_in,
               const cluster::EqualWork::Over& over) const;
  /// Charges the work of a pass over that step's rows, which has so many flops.
  void pass_over_rows(double work, double flops, std::int64_t step);
  void read_rows(const RowsToRead& rows);
  /// The multiple of its time that the step's gradient takes because nobody waits for it; else 1.
  double own_pace(std::int64_t step) const;
  int share_;  ///< its place among all devices, which share each step's batch
  std::unique_ptr<InputPipeline> input_;
  std::int64_t iteration_ = 0;  ///< the step whose batch comes next
  std::int64_t first_ = 0;      ///< the step of its first gradient
  std::uint32_t given_up_ = 0;  ///< gradients of it that were begun and given up: the next one is drawn anew
  mutable Pace pace_;           ///< of a worker that waits for nobody
  std::vector<std::function<void(const State&)>> calls_;
  std::function<void(const State&)> before_;  ///< null: none
  bool keeps_gradients_ = true;
  bool faulty_ = is_faulty();
  GradientMaker* maker_ = nullptr;  ///< null: this rank has the whole model
};

class Server : public Participant {
 public:
  using Participant::Participant;

  /// Its place among the servers, and their number.
  int shard() const { return rank() - workers(); }
  int servers() const { return comm().size() - workers(); }
  /// A worker's gradient is applied: its rows count as samples, its age as staleness. Every server of a shard calls it;
  /// only the first server's call counts.
  void count(int worker, std::optional<std::int64_t> staleness = {}) const;
  /// Shows the training a worker's replica, as the worker's show_replica does; and drops all that were shown.
  void show_replica(int worker, const values::Tensor& w) const;
  void drop_replicas() const;
  /// Counts the age of a worker's gradient whose rows are counted elsewhere.
  void count_staleness(int worker, std::int64_t updates) const;
};

}  // namespace simgrad::training
