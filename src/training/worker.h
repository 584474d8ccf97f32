/// One rank at work: its communicator, its share of the data, its host's clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cluster/ranks/world.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "training/learning/input.h"
#include "training/session/training.h"
#include "training/state.h"

namespace simgrad::training {

/// What workers and servers have in common.
class Participant {
 public:
  Participant(Training& training, int position);

  /// The living workers, then the servers.
  const cluster::Communicator& comm() const { return comm_; }
  int workers() const { return training_.living_workers(); }  ///< P
  double now() const { return comm_.now(); }
  Training& training() const { return training_; }

  /// Parameters, optimizer state and step to begin with: fresh, or from a checkpoint after a failure.
  State start() const;
  /// Reports the state to the training, which evaluates and tests the stopping rules, in no virtual time; then a
  /// checkpoint is written, if one is due. Returns whether to go on.
  bool continues(const State& state) const;
  /// The same of parameters that are changed in place, after `step` updates.
  bool continues(const std::shared_ptr<const Store>& store, std::int64_t step) const;
  /// Whether it has come back among others that have gone on meanwhile: it has no state, and asks for one.
  bool rejoins() const { return world_rank() < training_.world().workers() && training_.rejoins(world_rank()); }
  /// How the parameters are dealt to the servers.
  const Shards& shards() const { return training_.shards(); }
  /// One update with gradient g, at so many times the learning rate.  Virtual time: the optimizer's flops, unless
  /// reductions are free.
  void update(State& state, const values::Tensor& g, double rate_factor = 1.0) const;
  /// Of the update that follows so many.
  double learning_rate(std::int64_t step) const;
  /// One step of Lloyd's algorithm: every centre in state.w moves to the mean of its rows.  sums: those of all ranks'
  /// `assignments`.  Virtual time: a division a number, unless reductions are free.
  void move_centres(State& state, const values::Tensor& sums) const;

 protected:
  int world_rank() const { return comm_.world_rank(comm_.rank()); }
  void charge_update(const State& state) const;
  double learning_rate_after(double rounds) const;
  /// One update at the learning rate of that many rounds, times a factor; takes no time.
  void apply(double rounds, State& state, const values::Tensor& g, double rate_factor = 1.0) const;

 private:
  Training& training_;
  cluster::Communicator comm_;
};

class Worker : public Participant {
 public:
  Worker(Training& training, int position);

  /// This rank's part of the gradient of the mean loss over the next batch, at w; the parts of all ranks add up to the
  /// gradient.  w: (d).  Returns (d).  Virtual time: flops / speed. Every call takes the next step's batch.
  values::Tensor gradient(const values::Tensor& w) { return gradient(w, iteration_); }
  /// The same over that step's batch.
  values::Tensor gradient(const values::Tensor& w, std::int64_t step);
  /// The next batch's gradient, layer by layer: forwards through all of them, then backwards, from the last to the
  /// first. ready(g, layer): called when the backward pass has gone through a layer, whose stretch of g is complete
  /// then.
  using LayerReady = std::function<void(const values::Tensor& g, const models::Layer& layer)>;
  values::Tensor gradient(const values::Tensor& w, const LayerReady& ready);
  /// The next batch's gradient, or nothing if a message comes in before it is done.  Virtual time: flops / speed, or
  /// until then.
  std::optional<values::Tensor> gradient_unless(cluster::Inbox& news, const values::Tensor& w);
  /// The next step's batch of a sparse model; and this rank's part of its gradient, as SparseLearning has it.
  /// Virtual time: none; flops / speed.
  std::shared_ptr<const SparseBatch> sparse_batch(SparseLearning& learning);
  values::Tensor sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                                 const values::Tensor& at, const values::Tensor& replica);
  /// This rank's part of the next batch's gradient of those tasks, where the model has several: zero for the outputs of
  /// others.  Virtual time: the flops of the shared layers and these outputs / speed.
  values::Tensor task_gradient(const values::Tensor& w, const models::Tasks& tasks);
  /// This rank's part of Lloyd's map over the next batch: the sums and numbers of each centre's rows, to be added over
  /// all ranks.  w: (k x d).  Returns (k x (d + 1)).  Virtual time: flops / speed. Only where the model is k-means.
  values::Tensor assignments(const values::Tensor& w);
  /// Blocks until so many of its next rows have been read, where they are not in memory. The gradients above do so
  /// themselves.
  void read_rows(std::int64_t rows) { input_.next(rows); }
  /// What a piece of that step's gradient, `flops` of `whole`, takes in flops as the scenario's stragglers stretch it
  /// for this rank and step. Every piece of a step is stretched by the same draw.
  double stretched(double flops, double whole, std::int64_t step) const;
  /// The state that all workers share, where they are cores of one host: whoever has made an update reports it.
  State& memory() const { return training().memory(); }
  /// An update of it is made by this core's gradient: its rows count as samples, its age as staleness.
  void count(std::int64_t staleness) const;
  /// A replica of its own after `step` updates, w; and its next update, at the learning rate of its own step.
  State start_alone(const values::Tensor& w, std::int64_t step);
  void update_alone(State& state, const values::Tensor& g) const;
  /// One update of a replica at the learning rate of so many rounds, by an actor that may outlive the rank's main one
  /// for a moment: it needs no worker.  Virtual time: the optimizer's flops, of the actor whose communicator that is.
  static void update_beside(const cluster::Communicator& by, const Training& training, State& state,
                            const values::Tensor& g, double rounds);
  /// Begins among others that have gone on: the next batch is that of this step.
  void go_on_from(std::int64_t step) { iteration_ = step; }
  /// How many rows there are by now, where they come in during the training; else nothing.
  std::optional<std::int64_t> arrived() const;
  /// The first server's place in comm(), and how many there are.
  int server() const { return workers(); }
  int servers() const { return comm().size() - workers(); }

 private:
  /// Passes over this rank's share of that step's batch.
  void compute(double flops, std::int64_t step);

  InputPipeline input_;
  std::int64_t iteration_ = 0;  ///< which step's batch comes next
  std::uint32_t given_up_ = 0;  ///< gradients of it that were begun and given up: the next one is drawn anew
};

class Server : public Participant {
 public:
  using Participant::Participant;

  /// A vector of as many numbers as there are parameters: for their number alone.
  values::Tensor shape() const { return training().learning().dispatcher().zeros(training().learning().parameters()); }
  /// Its place among the servers.
  int shard() const { return comm().rank() - workers(); }
  /// How many rows a worker's part of the gradient is taken over.
  std::int64_t rows(int worker) const { return training().learning().batches().count(worker, workers()); }
  /// A worker's gradient is applied: its rows count as samples, its age as staleness. Servers of shards all say it; it
  /// counts once, by the first.
  void count(int worker, std::optional<std::int64_t> staleness = {}) const;
  /// One update with the part of one worker alone, computed at the parameters of an earlier step.
  void apply_late(State& state, const values::Tensor& part, int worker, std::int64_t computed_at_step) const;
};

}  // namespace simgrad::training
