#include "training/worker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/inbox.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "models/cut_model.h"
#include "models/model_part.h"
#include "training/learning/clipping.h"
#include "training/learning/input.h"
#include "training/learning/learning.h"
#include "training/learning/loss_scales.h"
#include "training/learning/rank_work.h"
#include "training/learning/task_turn.h"
#include "training/memory/pass_memory.h"
#include "training/options.h"
#include "training/parts/mesh.h"
#include "training/passes.h"
#include "training/session/generation.h"
#include "training/session/progress.h"
#include "training/session/replicas.h"
#include "training/session/session.h"
#include "training/session/shared_states.h"
#include "training/session/tally.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

Worker::Worker(Session& session, int position)
    : Participant(session, position),
      share_(replica() * session.generation().devices()),
      input_(std::make_unique<InputPipeline>(comm(), session.rows(), session.learning().batches())),
      iteration_(rounds(rejoins() ? session.latest_step() : session.generation().start_step())),
      first_(iteration_) {}

Worker::~Worker() = default;

void Worker::read_rows(std::int64_t rows) {
  read_rows({.part = share_, .parts = replicas() * session().generation().devices(), .count = rows});
}

void Worker::read_rows(const RowsToRead& rows) {
  if (const double work = work_of(input_->next(rows)); work > 0.0) {
    compute(work, Work::compute);
    count_less(work);
  }
  input_->keep(rows);
}

bool Worker::read_split_unless(cluster::Inbox& news, int split, int splits) {
  const RowsToRead rows{
      .part = split, .parts = splits, .count = learning().batches().count(split, splits), .is_split = true};
  const std::optional<double> flops = input_->next_unless(news, rows);
  if (!flops || !news.compute(work_of(*flops))) return false;
  count_less(work_of(*flops));
  input_->keep(rows);
  return true;
}

bool Worker::continues(const State& state) const {
  if (before_ && state.step > session().generation().start_step()) before_(state);
  if (!Participant::continues(state)) return false;
  for (const auto& call : calls_) call(state);
  return true;
}

bool Worker::rejoins() const { return session().replicas().rejoins(world_rank()); }
std::int64_t Worker::latest_step() const { return session().latest_step(); }

bool Worker::at_work(int member) const {
  return comm().alive(member) && session().replicas().active(comm().world_rank(member));
}

bool Worker::takes_part(int member, std::int64_t step) const {
  return !keeps_going() || session().replicas().takes_part(comm().world_rank(member), step);
}

void Worker::join(std::int64_t step, int from) const {
  session().replicas().join(world_rank(), step, comm().world_rank(from));
}

std::vector<int> Worker::joiners(std::int64_t step) const {
  return session().replicas().joiners(world_rank(), step);  // everybody is a member, so that ranks are places
}

std::function<void(const State&)> Worker::shows() const {
  return [&session = session(), self = world_rank()](const State& state) {
    if (!session.world().ended()) session.progress().show(self, state);
  };
}

State& Worker::shared_memory() const { return session().shared().memory(session().generation()); }
SharedTable& Worker::shared_table() const {
  return session().shared().table(session().generation(), learning(), optimizer());
}
void Worker::show_replica(const Tensor& w) const { session().shared().show_replica(world_rank(), w); }
std::int64_t Worker::updates() const { return session().progress().updates(); }
bool Worker::ends_after(std::int64_t step) const { return session().last_step(step); }
void Worker::report_spectral_gap(double gap) const { session().tally().set_spectral_gap(gap); }
void Worker::report_predicted_step(double seconds) const { session().tally().set_predicted_step(seconds); }
void Worker::count_blocks(const std::vector<record::BlockUse>& due) const {
  if (rank() == 0) session().tally().count_blocks(due);
}
bool Worker::begins_the_run() const { return session().generation().number() == 0 && !rejoins(); }
int Worker::all_workers() const {
  if (session().parts()) return workers();  // a mesh goes on whole or not at all
  return session().world().workers() / session().generation().devices();
}
void Worker::count_samples(std::int64_t rows) const { session().tally().add_samples(rows); }

base::Stream Worker::draws(base::Purpose purpose, std::int64_t step) const {
  return session().stream(purpose, world_rank(), step);
}

std::optional<std::int64_t> Worker::arrived() const {
  const Batches& batches = learning().batches();
  if (!batches.flows_in()) return {};
  return batches.arrived(comm().now() - session().world().start_s());
}

Share Worker::share(std::int64_t step, int part, MicroBatch micro) const {
  const int shares = replicas() * session().generation().devices();
  return {.step = step, .part = part, .parts = shares, .arrived = arrived(), .micro = micro};
}

std::int64_t Worker::begin_micro_batch(MicroBatch micro) {
  set_step(iteration_);
  return micro.last() ? iteration_++ : iteration_;
}

Tensor Worker::squares_of_all(const Tensor& g, const Tensor& squares) const {
  return maker_ && needs_norm() ? maker_->squares(g, squares) : squares;
}

std::vector<models::ParameterStretch> Worker::counted_elsewhere() const {
  return maker_ ? maker_->counted_elsewhere() : std::vector<models::ParameterStretch>();
}

UnitVisits Worker::unit_visits() const {
  return maker_ ? maker_->unit_visits() : UnitVisits::there_and_back(learning().units().size());
}

void Worker::gradient(UnitVisitor& visitor, MicroBatch micro) {
  const std::int64_t step = begin_micro_batch(micro);
  if (maker_) return maker_->gradient(visitor, step, micro);
  Passes(*this, step, micro).run(visitor);
}

void Worker::gradient_of_step(UnitVisitor& visitor, std::int64_t step) {
  iteration_ = step;
  gradient(visitor, MicroBatch{});
}

void Worker::count_staleness(std::int64_t updates) const { session().tally().add_staleness(world_rank(), updates); }

double Worker::step_work(int micro_batches) const { return step_work(learning().gradient_flops(1), micro_batches); }

Tensor Worker::gradient(const Tensor& w, std::int64_t step) {
  set_step(step);
  iteration_ = step + 1;
  return maker_ ? maker_->gradient(w, step, {}, nullptr) : device_gradient(w, step, MicroBatch{});
}

PassMemory Worker::pass_memory(std::int64_t rows) const {
  return {memory(), learning().layers(), learning().recompute(), number_bytes(), rows};
}

void Worker::count_passes(const Tensor& w, std::int64_t rows) const {
  memory().raise(MemoryPart::parameters, number_bytes().parameter * static_cast<double>(w.size()));
  pass_memory(rows).go_there_and_back();
}

Tensor Worker::gradient(const Tensor& w, MicroBatch micro) {
  const std::int64_t step = begin_micro_batch(micro);
  return maker_ ? maker_->gradient(w, step, micro, nullptr) : device_gradient(w, step, micro);
}

double Worker::step_work(double flops_a_row, int micro_batches) const {
  const int experts = on_mesh() ? mesh().size(Dimension::expert) : 1;  // which share their micro-batches
  const bool gathers = session().generation().traits().gathers_units;
  double work = 0.0;
  for (int part = 0; part < micro_batches; ++part) {
    const std::int64_t count = MicroBatch{part, micro_batches}.count(device_rows());
    const RankWork rank = this->work({.first = part < experts, .adds = maker_ && part >= experts && !gathers});
    work += rank.gradient(flops_a_row * static_cast<double>(count), count);
  }
  return work;
}

Tensor Worker::gradient(const Tensor& w, const LayerReady& ready, MicroBatch micro, ReadyIn ready_in) {
  const std::int64_t step = begin_micro_batch(micro);
  return maker_ ? maker_->gradient(w, step, micro, ready) : device_gradient(w, step, ready, micro, ready_in);
}

Tensor Worker::assignments(const Tensor& w) {
  const std::int64_t step = iteration_++;
  return maker_ ? maker_->assignments(w, step) : device_assignments(w, step);
}

std::shared_ptr<const SparseBatch> Worker::sparse_batch(SparseLearning& learning) {
  const int devices = session().generation().devices();
  Share step_share = share(iteration_++);
  std::vector<Share> of_devices(static_cast<std::size_t>(devices), step_share);
  for (Share& each : of_devices) each.part = step_share.part++;
  return learning.batch(of_devices);
}

Tensor Worker::sparse_gradient(const SparseLearning& learning, const std::shared_ptr<const SparseBatch>& batch,
                               const Tensor& at, const Tensor& replica) {
  return maker_ ? maker_->sparse_gradient(learning, batch, at, replica)
                : device_sparse_gradient(learning, batch, at, replica);
}

Tensor Worker::task_gradient(const Tensor& w, const TaskTurn& turn) {
  return maker_ ? maker_->task_gradient(w, turn) : device_task_gradient(w, turn);
}

double Worker::own_pace(std::int64_t step) const {
  const double spread = session().options().desynchronise;
  if (!(spread > 0.0) || !session().generation().traits().asynchronous || all_workers() == 1) return 1.0;
  const int worker = session().generation().first_device(world_rank());  // its devices keep one pace
  if (pace_.step == step && pace_.given_up == given_up_) return pace_.multiple;
  if (pace_.step < 0) pace_.since = now();
  base::Stream stream = session().stream(base::Purpose::pace, worker, step, given_up_);
  const double step_spread = spread_of_gradient(spread, now() - pace_.since, pace_.computed_s);
  pace_.multiple = multiple_of_gradient(stream, step_spread, step == first_);
  pace_.step = step;
  pace_.given_up = given_up_;
  return pace_.multiple;
}

double Worker::stretched(double flops, double whole, std::int64_t step) const {
  const cluster::World& world = session().world();
  const cluster::Stragglers& stragglers = *world.cluster().options().stragglers;
  const double longer = own_pace(step) * flops;
  if (!stragglers.draws() || !stragglers.concerns(world_rank()) || !(whole > 0.0)) return longer;
  base::Stream stream = session().stream(base::Purpose::straggler, world_rank(), step, given_up_);
  const cluster::Slowdown stretch = stragglers.draw(stream);
  const double speed = world.cluster().speed(world.host(world_rank())) * world.ranks().relative_speed(world_rank());
  return stretch.factor * longer + stretch.more_s * speed * (flops / whole);
}

void Worker::compute_stretched(double work, double whole, double flops, std::int64_t step, Work kind) const {
  const double longer = stretched(work, whole, step), began = now();
  compute(longer, kind);
  pace_.computed_s += now() - began;
  count_less(longer - flops);
}

double Worker::gradient_work(double flops, std::int64_t of_rows) const { return work().gradient(flops, of_rows); }
int Worker::loss_exponent() const {
  if (session().options().precision != Precision::float16) return 0;
  return session().loss_scales().exponent(session().generation().first_device(world_rank()));
}

double Worker::work_of(double flops) const { return work().of_flops(flops); }

std::optional<Tensor> Worker::gradient_unless(cluster::Inbox& news, const Tensor& w,
                                              std::optional<std::int64_t> of_step) {
  if (of_step) {
    iteration_ = *of_step;
    given_up_ = 0;
  }
  set_step(iteration_);
  const double flops = learning().gradient_flops(rank(), workers());
  read_rows(rows());
  count_gradient(session(), world_rank(), this->work(), rows());
  const double work = gradient_work(flops, rows());
  const double longer = stretched(work, work, iteration_);
  if (!news.compute(longer)) {
    ++given_up_;
    return {};
  }
  given_up_ = 0;
  count_less(longer - flops);
  const std::int64_t step = iteration_++;
  return handed_over(learning().gradient(w, share(step), loss_exponent()), step, rows());
}

void Worker::count(std::int64_t staleness) const {
  session().tally().add_samples(rows());
  session().tally().add_update();
  session().tally().add_staleness(world_rank(), staleness);
}

std::int64_t Worker::counted() const { return session().tally().updates(); }

Worker::CountAge Worker::counts_ages() const {
  return [&session = session(), members = session().generation().members()](int member, std::int64_t read_at) {
    if (session.world().ended()) return;
    session.tally().add_staleness((*members)[static_cast<std::size_t>(member)],
                                  session.tally().updates() - read_at - 1);
  };
}

State Worker::start_alone(const Tensor& w, std::int64_t step) {
  State state{.w = w, .step = step};
  optimizer().start(state);
  learning().round(state);
  iteration_ = first_ = step;
  return state;
}

void Worker::update_alone(State& state, const Tensor& g) const {
  charge_update(state);
  apply(static_cast<double>(state.step), state, g);
}

void Worker::update_in_round(State& state, const Tensor& g, double round) const {
  charge_update(state);
  if (applies(g)) {
    optimizer().update(state, clipped(g), learning_rate_after(round), learning().layers());
    learning().round(state);
  }
  ++state.step;
}

void Server::count(int worker, std::optional<std::int64_t> staleness) const {
  if (shard() != 0) return;
  session().tally().add_samples(rows(worker));
  if (staleness) session().tally().add_staleness(comm().world_rank(worker), *staleness);
}

void Server::show_replica(int worker, const Tensor& w) const {
  session().shared().show_replica(comm().world_rank(worker), w);
}

void Server::drop_replicas() const { session().shared().drop_replicas(); }

void Server::count_staleness(int worker, std::int64_t updates) const {
  if (shard() == 0) session().tally().add_staleness(comm().world_rank(worker), updates);
}

}  // namespace simgrad::training
