/// A device's own part of a gradient, whether it is a worker by itself or one of a worker's devices.
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "training/learning/input.h"
#include "training/learning/learning.h"
#include "training/learning/rank_work.h"
#include "training/learning/task_turn.h"
#include "training/memory/pass_memory.h"
#include "training/options.h"
#include "training/session/generation.h"
#include "training/session/session.h"
#include "training/session/tally.h"
#include "training/sparse/sparse_learning.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

namespace {

/// A worker's devices, seen by one of them.
cluster::Communicator devices_of(Session& session, int worker, int device) {
  const Generation& generation = session.generation();
  std::vector<int> ranks;
  for (int d = 0; d < generation.devices(); ++d)
    ranks.push_back((*generation.members())[static_cast<std::size_t>(worker)] + d);
  return {session.world(), std::make_shared<const std::vector<int>>(std::move(ranks)), device, generation.number()};
}

}  // namespace

Worker::Worker(Session& session, int worker, int device)
    : Participant(session, devices_of(session, worker, device)),
      share_(worker * session.generation().devices() + device),
      input_(std::make_unique<InputPipeline>(comm(), session.rows(), session.learning().batches())),
      iteration_(rounds(session.generation().start_step())),
      first_(iteration_) {}

cluster::Communicator Worker::devices() const {
  const int devices = session().generation().devices();
  return devices_of(session(), share_ / devices, share_ % devices);
}
int Worker::device() const { return share_ % session().generation().devices(); }
int Worker::place() const { return share_ / session().generation().devices(); }
std::int64_t Worker::device_rows(int device) const {
  const int devices = session().generation().devices();
  return learning().batches().count(place() * devices + device, replicas() * devices);
}

/// The gradient of the step before has been applied or sent.
void Worker::begin_device_gradient(std::int64_t step, MicroBatch micro) {
  set_step(step);
  if (micro.part == 0) release_gradients();
}

Tensor Worker::device_gradient(const Tensor& w, std::int64_t step, MicroBatch micro) {
  begin_device_gradient(step, micro);
  const std::int64_t count = micro.count(device_rows());
  const Tensor g = handed_over(learning().gradient(w, share(step, micro), loss_exponent()), step, count);
  count_passes(w, count);
  const RankWork rank = this->work({.first = micro.part == 0});
  count_gradient(session(), world_rank(), rank, count);
  read_rows(count);
  const double flops = learning().gradient_flops(count), work = rank.gradient(flops, count);
  const double whole = micro.parts == 1 ? work : step_work(learning().gradient_flops(1), micro.parts);
  compute_stretched(work, whole, flops, step, Work::gradient);
  session().tally().add_computed(count);
  return g;
}

Tensor Worker::device_gradient(const Tensor& w, std::int64_t step, const LayerReady& ready, MicroBatch micro,
                               ReadyIn ready_in) {
  begin_device_gradient(step, micro);
  const std::int64_t count = micro.count(device_rows());
  const Tensor g = handed_over(learning().gradient(w, share(step, micro), loss_exponent()), step, count);
  read_rows(count);
  const std::vector<models::Layer>& layers = learning().layers();
  const RankWork work = this->work({.first = micro.part == 0});
  count_gradient(session(), world_rank(), work, count);
  double forward_flops = 0.0, backward_flops = 0.0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    forward_flops += layers[i].forward_flops;
    backward_flops += layers[i].backward_flops + learning().recomputed_flops(i);
  }
  const double whole = step_work(forward_flops + backward_flops, micro.parts);
  std::vector<cluster::WorkPiece> pieces;  // the forward pass, then the layers of the backward pass
  std::vector<double> flops;
  const auto add = [&](double its_work, double a_row, Work kind) {
    flops.push_back(a_row * static_cast<double>(count));
    pieces.push_back({stretched(its_work, whole, step), kind});
  };
  add(work.forward(count), forward_flops, Work::forward);
  for (std::size_t i = layers.size(); i-- > 0;)
    add(work.backward(i, count), layers[i].backward_flops + learning().recomputed_flops(i), Work::backward);
  memory().raise(MemoryPart::parameters, number_bytes().parameter * static_cast<double>(w.size()));
  PassMemory passes = pass_memory(count);
  for (std::size_t i = 0; i < layers.size(); ++i) passes.forward(i);
  const double began = now();
  compute(pieces, ready_in, [&](std::size_t piece) {
    count_less(pieces[piece].flops - flops[piece]);
    const std::size_t left = layers.size() - piece;
    if (piece > 0) {
      ready(g, layers[left]);
      passes.leave_backward(left, keeps_gradients_);
    }
    if (left > 0) passes.enter_backward(left - 1);
  });
  pace_.computed_s += now() - began;
  session().tally().add_computed(count);
  return g;
}

void Worker::pass_over_rows(double work, double flops, std::int64_t step) {
  read_rows(device_rows());
  compute_stretched(work, work, flops, step, Work::gradient);
  session().tally().add_computed(device_rows());
}

Tensor Worker::device_assignments(const Tensor& w, std::int64_t step) {
  set_step(step);
  const Share step_share = share(step);
  const Tensor sums = learning().assignments(w, step_share);
  const double flops = learning().assignment_flops(step_share.part, step_share.parts);
  pass_over_rows(work_of(flops), flops, step);
  return sums;
}

Tensor Worker::device_sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                                      const Tensor& at, const Tensor& replica) {
  set_step(batch->step);
  const Tensor g = handed_over(learning.gradient(batch, at, replica), batch->step, device_rows());
  pass_over_rows(work_of(learning.flops(*batch)), learning.flops(*batch), batch->step);
  return g;
}

Tensor Worker::device_task_gradient(const Tensor& w, const TaskTurn& turn) {
  set_step(iteration_);
  const std::int64_t step = turn.last ? iteration_++ : iteration_;
  Share step_share = share(step);
  step_share.part = turn.part;
  step_share.parts = turn.parts;
  const std::int64_t count = learning().batches().count(turn.part, turn.parts);
  const Tensor g = handed_over(learning().task_gradient(w, turn.tasks, step_share, loss_exponent()), step, count);
  PassMemory(memory(), turn.layers, Recompute::none, number_bytes(), count, turn.gradients).go_there_and_back();
  const cluster::World& world = session().world();
  const int host = world.host(world_rank());
  const RankWork work(turn.layers, world.cluster().device(host), session().options().precision,
                      world.cluster().speed(host));
  count_task_gradient(session(), world_rank(), work, count);
  if (turn.first)
    read_rows({.part = turn.part, .parts = turn.parts, .count = count, .share_of_row = turn.share_of_row});
  const double flops = turn.flops_a_row() * static_cast<double>(count), own = work.gradient(flops, count);
  compute_stretched(own, own / turn.share_of_work, flops, step, Work::gradient);
  if (turn.last) session().tally().add_computed(device_rows());
  return g;
}

// Ranks of a cut model have neither centres, nor tasks, nor keys.
Tensor GradientMaker::assignments(const Tensor& /*w*/, std::int64_t /*step*/) {
  throw base::InvariantError("a cut model has no centres");
}
Tensor GradientMaker::task_gradient(const Tensor& /*w*/, const TaskTurn& /*turn*/) {
  throw base::InvariantError("a cut model has no tasks");
}
Tensor GradientMaker::sparse_gradient(const SparseLearning& /*learning*/,
                                      const std::shared_ptr<const SparseBatch>& /*batch*/, const Tensor& /*at*/,
                                      const Tensor& /*replica*/) {
  throw base::InvariantError("a cut model has no keys");
}

void Worker::compute(std::span<const cluster::WorkPiece> pieces, ReadyIn ready_in,
                     const cluster::EqualWork::Over& over) const {
  cluster::World& world = session().world();
  const bool together = world.computes_collectives() && !world.cluster().options().failures.any();
  if (ready_in == ReadyIn::any_actor && together && !world.ranks().shares_cores(world_rank()))
    return world.equal_work().compute(world_rank(), pieces, over);
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    compute(pieces[piece].flops, pieces[piece].work);
    over(piece);
  }
}

}  // namespace simgrad::training
