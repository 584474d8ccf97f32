#include "training/worker.h"

#include "cluster/recording/work_scope.h"
#include "training/training.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

Participant::Participant(Training& training, int position)
    : training_(training), comm_(training.world(), training.members(), position, training.generation()) {}

int Participant::workers() const { return training_.living_workers(); }
const Learning& Participant::learning() const { return training_.learning(); }
const Optimizer& Participant::optimizer() const { return *training_.setup().options.optimizer; }
const Shards& Participant::shards() const { return training_.shards(); }
SparseLearning& Participant::sparse(const SparseLearning::Options& options) const { return training_.sparse(options); }
State Participant::start() const { return training_.start_state(world_rank()); }
void Participant::note(std::string text) const { training_.note(std::move(text)); }
bool Participant::keeps_going() const { return training_.keeps_going(); }

void Participant::compute(double flops, Work work) const { training_.world().compute(world_rank(), flops, work); }

double Participant::flops_in(double seconds) const {
  const cluster::World& world = training_.world();
  return seconds * world.cluster().speed(world.host(world_rank())) * world.relative_speed(world_rank());
}

bool Participant::continues(const State& state) const {
  training_.world().set_step(world_rank(), state.step);
  if (!training_.arrive(world_rank(), state)) return false;
  training_.write_checkpoint(comm_, state);
  const cluster::WorkScope work_scope(comm_, Work::turn);
  training_.await_turn(state.step);
  return true;
}

bool Participant::continues(const std::shared_ptr<const Store>& store, std::int64_t step) const {
  training_.world().set_step(world_rank(), step);
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
  charge(optimizer().flops() * static_cast<double>(state.w.size()), Work::update);
}

void Participant::apply(double rounds, State& state, const Tensor& g, double rate_factor) const {
  optimizer().update(state, g, learning_rate_after(rounds) * rate_factor, learning().layers());
  ++state.step;
  training_.world().set_step(world_rank(), state.step);
}

double Participant::learning_rate(std::int64_t step) const { return learning_rate_after(training_.rounds(step)); }

std::int64_t Participant::rounds(std::int64_t step) const { return static_cast<std::int64_t>(training_.rounds(step)); }

double Participant::learning_rate_after(double rounds) const {
  const Options& options = training_.setup().options;
  return options.scaled_learning_rate(batch()) * options.rate_factor(rounds);
}

void Participant::move_centres(State& state, const Tensor& sums) const {
  charge(static_cast<double>(state.w.size()), Work::update);
  state.w = learning().centres(state.w, sums);
  ++state.step;
  training_.world().set_step(world_rank(), state.step);
}

Worker::Worker(Training& training, int position)
    : Participant(training, position),
      input_(comm(), training.setup().options.input, training.input(), training.learning().row_bytes()),
      iteration_(
          static_cast<std::int64_t>(training.rounds(rejoins() ? training.latest_step() : training.start_step()))) {}

bool Worker::continues(const State& state) const {
  if (!Participant::continues(state)) return false;
  for (const auto& call : calls_) call(state);
  return true;
}

bool Worker::rejoins() const { return training().rejoins(world_rank()); }
std::int64_t Worker::latest_step() const { return training().latest_step(); }
bool Worker::at_work(int member) const { return comm().alive(member) && training().active(comm().world_rank(member)); }

bool Worker::takes_part(int member, std::int64_t step) const {
  return !keeps_going() || training().takes_part(comm().world_rank(member), step);
}

void Worker::join(std::int64_t step, int from) const { training().join(world_rank(), step, comm().world_rank(from)); }

std::vector<int> Worker::joiners(std::int64_t step) const {
  return training().joiners(world_rank(), step);  // where trainings go on in place, everybody is a member
}

std::function<void(const State&)> Worker::shows() const {
  return [&training = training(), self = world_rank()](const State& state) { training.show(self, state); };
}

State& Worker::shared_memory() const { return training().memory(); }
std::int64_t Worker::updates() const { return training().updates(); }
bool Worker::ends_after(std::int64_t step) const { return training().last_step(step); }
void Worker::report_spectral_gap(double gap) const { training().set_spectral_gap(gap); }
bool Worker::begins_the_run() const { return training().generation() == 0 && !rejoins(); }
int Worker::all_workers() const { return training().world().workers(); }
void Worker::count_samples(std::int64_t rows) const { training().add_samples(rows); }

base::Stream Worker::draws(base::Purpose purpose, std::int64_t step) const {
  return training().stream(purpose, world_rank(), step);
}

std::optional<std::int64_t> Worker::arrived() const {
  const Batches& batches = learning().batches();
  if (!batches.flows_in()) return {};
  return batches.arrived(training().elapsed_s());
}

Tensor Worker::gradient(const Tensor& w, std::int64_t step) {
  training().world().set_step(world_rank(), step);
  iteration_ = step + 1;
  const Tensor g = learning().gradient(w, step, rank(), workers(), arrived());
  pass_over_rows(learning().gradient_flops(rank(), workers()), step);
  return g;
}

Tensor Worker::gradient(const Tensor& w, const LayerReady& ready) {
  training().world().set_step(world_rank(), iteration_);
  const std::int64_t step = iteration_++;
  const Tensor g = learning().gradient(w, step, rank(), workers(), arrived());
  const std::int64_t count = rows();
  read_rows(count);
  const std::vector<models::Layer>& layers = learning().layers();
  double forward_flops = 0.0, backward_flops = 0.0;
  for (const models::Layer& layer : layers) {
    forward_flops += layer.forward_flops;
    backward_flops += layer.backward_flops;
  }
  const auto pass = [&](double flops_a_row, Work what) {
    training().world().compute(world_rank(),
                               stretched(flops_a_row * static_cast<double>(count),
                                         (forward_flops + backward_flops) * static_cast<double>(count), step),
                               what);
  };
  pass(forward_flops, Work::forward);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    pass(layer->backward_flops, Work::backward);
    ready(g, *layer);
  }
  training().add_samples(count);
  return g;
}

Tensor Worker::assignments(const Tensor& w) {
  training().world().set_step(world_rank(), iteration_);
  const std::int64_t step = iteration_++;
  const Tensor sums = learning().assignments(w, step, rank(), workers(), arrived());
  pass_over_rows(learning().assignment_flops(rank(), workers()), step);
  return sums;
}

std::shared_ptr<const SparseBatch> Worker::sparse_batch(SparseLearning& learning) {
  return learning.batch(iteration_++, rank(), workers(), arrived());
}

Tensor Worker::sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                               const Tensor& at, const Tensor& replica) {
  training().world().set_step(world_rank(), batch->step);
  const Tensor g = learning.gradient(batch, at, replica);
  pass_over_rows(learning.flops(*batch), batch->step);
  return g;
}

Tensor Worker::task_gradient(const Tensor& w, const models::Tasks& tasks) {
  training().world().set_step(world_rank(), iteration_);
  const std::int64_t step = iteration_++;
  const Tensor g = learning().task_gradient(w, tasks, step, rank(), workers(), arrived());
  pass_over_rows(learning().task_gradient_flops(tasks, rank(), workers()), step);
  return g;
}

double Worker::stretched(double flops, double whole, std::int64_t step) const {
  const cluster::World& world = training().world();
  const cluster::Stragglers& stragglers = *world.cluster().options().stragglers;
  if (!stragglers.draws() || !stragglers.concerns(world_rank()) || !(whole > 0.0)) return flops;
  base::Stream stream = training().stream(base::Purpose::straggler, world_rank(), step, given_up_);
  const cluster::Stretch stretch = stragglers.draw(stream);
  const double speed = world.cluster().speed(world.host(world_rank())) * world.relative_speed(world_rank());
  return stretch.factor * flops + stretch.more_s * speed * (flops / whole);
}

void Worker::pass_over_rows(double flops, std::int64_t step) {
  read_rows(rows());
  training().world().compute(world_rank(), stretched(flops, flops, step), Work::gradient);
  if (training().synchronous()) training().add_samples(rows());
}

std::optional<Tensor> Worker::gradient_unless(cluster::Inbox& news, const Tensor& w) {
  training().world().set_step(world_rank(), iteration_);
  const double flops = learning().gradient_flops(rank(), workers());
  read_rows(rows());
  if (!news.compute(stretched(flops, flops, iteration_))) {
    ++given_up_;
    return {};
  }
  given_up_ = 0;
  return learning().gradient(w, iteration_++, rank(), workers(), arrived());
}

void Worker::count(std::int64_t staleness) const {
  training().add_samples(rows());
  training().add_staleness(staleness);
}

State Worker::start_alone(const Tensor& w, std::int64_t step) {
  State state{.w = w, .step = step};
  optimizer().start(state);
  iteration_ = step;
  return state;
}

void Worker::update_alone(State& state, const Tensor& g) const {
  charge_update(state);
  apply(static_cast<double>(state.step), state, g);
}

void Worker::update_in_round(State& state, const Tensor& g, double round) const {
  charge_update(state);
  optimizer().update(state, g, learning_rate_after(round), learning().layers());
  ++state.step;
}

void Server::count(int worker, std::optional<std::int64_t> staleness) const {
  if (shard() != 0) return;
  training().add_samples(rows(worker));
  if (staleness) training().add_staleness(*staleness);
}

void Server::count_staleness(std::int64_t updates) const {
  if (shard() == 0) training().add_staleness(updates);
}

}  // namespace simgrad::training
