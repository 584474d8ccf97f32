#include "training/worker.h"

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/work_scope.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

Participant::Participant(Training& training, int position)
    : training_(training), comm_(training.world(), training.members(), position, training.generation()) {}

State Participant::start() const { return training_.start_state(world_rank()); }

bool Participant::continues(const State& state) const {
  training_.world().ranks().set_step(world_rank(), state.step);
  if (!training_.arrive(world_rank(), state)) return false;
  training_.write_checkpoint(comm_, state);
  const cluster::WorkScope work_scope(comm_, Work::turn);
  training_.await_turn(state.step);
  return true;
}

bool Participant::continues(const std::shared_ptr<const Store>& store, std::int64_t step) const {
  training_.world().ranks().set_step(world_rank(), step);
  if (!training_.arrive(world_rank(), step, store)) return false;
  training_.write_checkpoint(comm_, step, *store);
  const cluster::WorkScope work_scope(comm_, Work::turn);
  training_.await_turn(step);
  return true;
}

void Participant::update(State& state, const Tensor& g, double rate_factor) const {
  charge_update(state);
  apply(training_.rounds(state.step), state, g, rate_factor);
}

void Participant::charge_update(const State& state) const {
  const double flops = training_.setup().options.optimizer->flops();
  comm_.charge_reduction(flops * static_cast<double>(state.w.size()), Work::update);
}

void Participant::apply(double rounds, State& state, const Tensor& g, double rate_factor) const {
  training_.setup().options.optimizer->update(state, g, learning_rate_after(rounds) * rate_factor,
                                              training_.learning().layers());
  ++state.step;
  training_.world().ranks().set_step(world_rank(), state.step);
}

double Participant::learning_rate(std::int64_t step) const { return learning_rate_after(training_.rounds(step)); }

double Participant::learning_rate_after(double rounds) const {
  const Options& options = training_.setup().options;
  return options.scaled_learning_rate(training_.learning().batches().batch()) * options.rate_factor(rounds);
}

void Participant::move_centres(State& state, const Tensor& sums) const {
  comm_.charge_reduction(static_cast<double>(state.w.size()), Work::update);
  state.w = training_.learning().centres(state.w, sums);
  ++state.step;
  training_.world().ranks().set_step(world_rank(), state.step);
}

Worker::Worker(Training& training, int position)
    : Participant(training, position),
      input_(comm(), training.setup().options.input, training.input(), training.learning().row_bytes()),
      iteration_(
          static_cast<std::int64_t>(training.rounds(rejoins() ? training.latest_step() : training.start_step()))) {}

std::optional<std::int64_t> Worker::arrived() const {
  const Batches& batches = training().learning().batches();
  if (!batches.flows_in()) return {};
  return batches.arrived(training().elapsed_s());
}

Tensor Worker::gradient(const Tensor& w, std::int64_t step) {
  training().world().ranks().set_step(world_rank(), step);
  const Learning& learning = training().learning();
  iteration_ = step + 1;
  const Tensor g = learning.gradient(w, step, comm().rank(), workers(), arrived());
  compute(learning.gradient_flops(comm().rank(), workers()), step);
  return g;
}

Tensor Worker::gradient(const Tensor& w, const LayerReady& ready) {
  training().world().ranks().set_step(world_rank(), iteration_);
  const Learning& learning = training().learning();
  const std::int64_t step = iteration_++;
  const Tensor g = learning.gradient(w, step, comm().rank(), workers(), arrived());
  const std::int64_t rows = learning.batches().count(comm().rank(), workers());
  read_rows(rows);
  const std::vector<models::Layer>& layers = learning.layers();
  double forward_flops = 0.0, backward_flops = 0.0;
  for (const models::Layer& layer : layers) {
    forward_flops += layer.forward_flops;
    backward_flops += layer.backward_flops;
  }
  const auto pass = [&](double flops_a_row, Work what) {
    training().world().ranks().compute(world_rank(),
                                       stretched(flops_a_row * static_cast<double>(rows),
                                                 (forward_flops + backward_flops) * static_cast<double>(rows), step),
                                       what);
  };
  pass(forward_flops, Work::forward);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    pass(layer->backward_flops, Work::backward);
    ready(g, *layer);
  }
  training().add_samples(rows);
  return g;
}

Tensor Worker::assignments(const Tensor& w) {
  training().world().ranks().set_step(world_rank(), iteration_);
  const Learning& learning = training().learning();
  const std::int64_t step = iteration_++;
  const Tensor sums = learning.assignments(w, step, comm().rank(), workers(), arrived());
  compute(learning.assignment_flops(comm().rank(), workers()), step);
  return sums;
}

std::shared_ptr<const SparseBatch> Worker::sparse_batch(SparseLearning& learning) {
  return learning.batch(iteration_++, comm().rank(), workers(), arrived());
}

Tensor Worker::sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                               const Tensor& at, const Tensor& replica) {
  training().world().ranks().set_step(world_rank(), batch->step);
  const Tensor g = learning.gradient(batch, at, replica);
  compute(learning.flops(*batch), batch->step);
  return g;
}

Tensor Worker::task_gradient(const Tensor& w, const models::Tasks& tasks) {
  training().world().ranks().set_step(world_rank(), iteration_);
  const Learning& learning = training().learning();
  const std::int64_t step = iteration_++;
  const Tensor g = learning.task_gradient(w, tasks, step, comm().rank(), workers(), arrived());
  compute(learning.task_gradient_flops(tasks, comm().rank(), workers()), step);
  return g;
}

double Worker::stretched(double flops, double whole, std::int64_t step) const {
  const cluster::World& world = training().world();
  const cluster::Stragglers& stragglers = *world.cluster().options().stragglers;
  if (!stragglers.draws() || !stragglers.concerns(world_rank()) || !(whole > 0.0)) return flops;
  base::Stream stream = training().stream(base::Purpose::straggler, world_rank(), step, given_up_);
  const cluster::Stretch stretch = stragglers.draw(stream);
  const double speed = world.cluster().speed(world.host(world_rank())) * world.ranks().relative_speed(world_rank());
  return stretch.factor * flops + stretch.more_s * speed * (flops / whole);
}

void Worker::compute(double flops, std::int64_t step) {
  read_rows(training().learning().batches().count(comm().rank(), workers()));
  training().world().ranks().compute(world_rank(), stretched(flops, flops, step), Work::gradient);
  if (training().synchronous()) training().add_samples(training().learning().batches().count(comm().rank(), workers()));
}

std::optional<Tensor> Worker::gradient_unless(cluster::Inbox& news, const Tensor& w) {
  training().world().ranks().set_step(world_rank(), iteration_);
  const Learning& learning = training().learning();
  const double flops = learning.gradient_flops(comm().rank(), workers());
  read_rows(learning.batches().count(comm().rank(), workers()));
  if (!news.compute(stretched(flops, flops, iteration_))) {
    ++given_up_;
    return {};
  }
  given_up_ = 0;
  return learning.gradient(w, iteration_++, comm().rank(), workers(), arrived());
}

void Worker::count(std::int64_t staleness) const {
  training().add_samples(training().learning().batches().count(comm().rank(), workers()));
  training().add_staleness(staleness);
}

State Worker::start_alone(const Tensor& w, std::int64_t step) {
  State state{.w = w, .memory = {}, .step = step};
  training().setup().options.optimizer->start(state);
  iteration_ = step;
  return state;
}

void Worker::update_alone(State& state, const Tensor& g) const {
  charge_update(state);
  apply(static_cast<double>(state.step), state, g);
}

void Worker::update_beside(const cluster::Communicator& by, const Training& training, State& state, const Tensor& g,
                           double rounds) {
  const Options& options = training.setup().options;
  by.charge_reduction(options.optimizer->flops() * static_cast<double>(state.w.size()), Work::update);
  const double learning_rate =
      options.scaled_learning_rate(training.learning().batches().batch()) * options.rate_factor(rounds);
  options.optimizer->update(state, g, learning_rate, training.learning().layers());
  ++state.step;
}

void Server::count(int worker, std::optional<std::int64_t> staleness) const {
  if (shard() != 0) return;
  training().add_samples(rows(worker));
  if (staleness) training().add_staleness(*staleness);
}

void Server::apply_late(State& state, const Tensor& part, int worker, std::int64_t computed_at_step) const {
  count(worker, state.step - computed_at_step);
  update(state, part);
}

}  // namespace simgrad::training
