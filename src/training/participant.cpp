// The functions that workers and servers have in common.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/inbox.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "training/learning/clipping.h"
#include "training/learning/input.h"
#include "training/learning/learning.h"
#include "training/learning/loss_scales.h"
#include "training/learning/rank_work.h"
#include "training/memory/pass_memory.h"
#include "training/options.h"
#include "training/parts/model_parts.h"
#include "training/session/generation.h"
#include "training/session/progress.h"
#include "training/session/replicas.h"
#include "training/session/session.h"
#include "training/session/shared_states.h"
#include "training/session/tally.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

namespace {

int rank_at(const Session& session, int position) {
  return (*session.generation().members())[static_cast<std::size_t>(position)];
}

/// The ranks among which a strategy trains: all, or those that train the same parameters of a cut model. These may also
/// share a sequence's tokens, and exchange keys and values beside the strategy's sums, which have channels of their
/// own.
cluster::Communicator group_of(Session& session, int position) {
  const Generation& generation = session.generation();
  const ModelParts* const parts = session.parts();
  if (!parts) return {session.world(), generation.members(), position, generation.number()};
  const int rank = rank_at(session, position);
  const std::shared_ptr<const std::vector<int>>& group = parts->workers_with(rank);
  const auto at = std::ranges::lower_bound(*group, rank) - group->begin();
  return cluster::Communicator(session.world(), group, static_cast<int>(at), generation.number()).on_own_channels();
}

/// A number of rows of each of a worker's devices, summed.  rows(share, shares): of one of all devices.
template <class Rows>
std::int64_t over_devices(const Session& session, int worker, int workers, const Rows& rows) {
  const int devices = session.generation().devices();
  std::int64_t sum = 0;
  for (int device = 0; device < devices; ++device) sum += rows(worker * devices + device, workers * devices);
  return sum;
}

}  // namespace

Participant::Participant(Session& session, int position) : Participant(session, group_of(session, position)) {}

Participant::Participant(Session& session, cluster::Communicator comm)
    : session_(session),
      learning_(session.parts() ? &session.parts()->learning(comm.world_rank(comm.rank())) : &session.learning()),
      comm_(std::move(comm)),
      ledger_(&session.tally().ledger(world_rank())),
      updates_a_step_(session.parts() ? session.parts()->mesh().updates_a_step(world_rank()) : 1) {
  ledger_->clear();
}

int Participant::workers() const { return session_.parts() ? comm_.size() : session_.generation().workers(); }
int Participant::replicas() const { return on_mesh() ? mesh().shares() : workers(); }
int Participant::replica() const { return on_mesh() ? mesh().place(world_rank())[Dimension::data] : rank(); }
bool Participant::workers_along(Dimension dimension) const { return session_.parts()->workers_along(dimension); }
bool Participant::sums_along(Dimension dimension) const { return session_.parts()->sums_along(dimension); }
const models::ModelPart& Participant::part() const { return session_.parts()->model(world_rank()); }
bool Participant::on_mesh() const { return session_.parts() != nullptr; }
const Mesh& Participant::mesh() const { return session_.parts()->mesh(); }
MeshTime& Participant::mesh_time() const { return session_.tally().mesh_time(world_rank()); }

cluster::Communicator Participant::everyone() const {
  const Generation& generation = session_.generation();
  const auto at = std::ranges::lower_bound(*generation.members(), world_rank()) - generation.members()->begin();
  return {session_.world(), generation.members(), static_cast<int>(at), generation.number()};
}

std::uint64_t Participant::seed() const { return learning().seed(); }
std::int64_t Participant::batch() const { return learning().batches().batch(); }
const Optimizer& Participant::optimizer() const { return *session_.options().optimizer; }
bool Participant::clips() const { return session_.options().clip_norm.has_value(); }
bool Participant::needs_norm() const { return clips() || session_.options().precision == Precision::float16; }
const Shards& Participant::shards() const { return session_.generation().shards(); }
State Participant::start() const { return session_.generation().start_state(world_rank()); }
bool Participant::resumes() const { return session_.generation().resumes(); }
void Participant::note(std::string text) const { session_.tally().note(std::move(text)); }
bool Participant::keeps_going() const { return session_.replicas().keep_going(); }

std::int64_t Participant::rows(int replica) const {
  return over_devices(session_, replica, replicas(),
                      [this](int share, int shares) { return learning().batches().count(share, shares); });
}

std::int64_t Participant::shard_rows(int replica) const {
  return over_devices(session_, replica, replicas(),
                      [this](int share, int shares) { return learning().batches().rows_of(share, shares); });
}

int Participant::number(int worker) const { return comm_.world_rank(worker) / session_.generation().devices(); }

SparseLearning& Participant::sparse(const SparseOptions& options) const {
  return session_.shared().sparse(learning(), options);
}

void Participant::compute(double flops, Work work) const {
  session_.world().ranks().compute(world_rank(), flops, work);
}

const cluster::Storage& Participant::disk() const { return *session_.disk(); }

void Participant::count_less(double flops) const { session_.world().ranks().count_flops(-flops); }

bool Participant::continues(const State& state) const {
  set_step(state.step);
  count_memory(state);
  if (state.step % updates_a_step_ != 0) return true;
  if (updates_a_step_ == 1) return session_.arrive(comm_, state);
  State reached = state;
  reached.step = step_of(state.step);
  return session_.arrive(comm_, reached);
}

/// The state that this rank reports is in its memory.
void Participant::count_memory(const State& state) const {
  const NumberBytes bytes = number_bytes();
  const double numbers = own_numbers(state.w);
  if (!parameters_on_host_) ledger_->raise(MemoryPart::parameters, bytes.parameter * numbers);
  if (!optimizer_on_host_)
    ledger_->raise(MemoryPart::optimizer,
                   (bytes.master + bytes.moment * static_cast<double>(state.optimizer.size())) * numbers);
  double own = 0.0;
  for (const auto* vectors : {&state.own, &state.joint.vectors})
    for (const Tensor& vector : *vectors) own += bytes.parameter * static_cast<double>(vector.size());
  ledger_->raise(MemoryPart::workspace, own);
  if (const double buffer = buffer_bytes(); buffer > 0.0) ledger_->raise(MemoryPart::gradients, buffer);
}

bool Participant::continues(const std::shared_ptr<const Store>& store, std::int64_t step) const {
  set_step(step);
  return session_.arrive(comm_, step, store);
}

void Participant::set_step(std::int64_t step) const { session_.world().ranks().set_step(world_rank(), step); }

void Participant::update(State& state, const Tensor& g, double rate_factor, const Tensor& squares) const {
  memory().raise(MemoryPart::gradients, number_bytes().kept_gradient * own_numbers(g));
  charge_update(state);
  // The mean loss is that of a round's rows, which are some of the step's.
  apply(session_.generation().rounds(step_of(state.step)), state, updates_a_step_ == 1 ? g : updates_a_step_ * g,
        rate_factor * rate_of_stage(), squares_of_all(g, squares));
  release_gradients();
}

/// As PipeDream's runtime has it: the rate that the scenario gives is the first stage's, and another stage's is larger
/// in proportion to the micro-batches of its rounds, so that a step moves all stages alike. Source: D. Narayanan et
/// al., https://github.com/msr-fiddle/pipedream, runtime/runtime.py, get_adjusted_learning_rate.
double Participant::rate_of_stage() const {
  return on_mesh() ? static_cast<double>(mesh().updates_a_step(0)) / updates_a_step_ : 1.0;
}

void Participant::update_on_host(State& state, const Tensor& g, double seconds, const Tensor& squares) const {
  memory().raise(MemoryPart::gradients, number_bytes().kept_gradient * static_cast<double>(g.size()));
  spend(seconds, Work::update);
  apply(session_.generation().rounds(state.step), state, g, 1.0, squares_of_all(g, squares));
  release_gradients();
}

NumberBytes Participant::number_bytes() const {
  return session_.options().number_bytes().of_gradients(session_.generation().traits().main_gradients);
}

double Participant::buffer_bytes() const {
  const NumberBytes bytes = number_bytes();
  const bool buffer = bytes.in_buffer(session_.generation().traits().main_gradients);
  return buffer ? bytes.kept_gradient * static_cast<double>(learning().parameters()) : 0.0;
}

double Participant::bucket_bytes(std::int64_t numbers) const {
  return buffer_bytes() > 0.0 ? 0.0 : number_bytes().gradient * static_cast<double>(numbers);
}

bool Participant::passes_add_up() const {
  return buffer_bytes() > 0.0 && session_.world().cluster().device(session_.world().host(world_rank())) &&
         !any_measured(learning().layers());
}

void Participant::release_gradients() const { memory().set(MemoryPart::gradients, buffer_bytes()); }

void Participant::keep_on_host(bool optimizer, bool parameters) {
  optimizer_on_host_ = optimizer;
  parameters_on_host_ = parameters;
}

double Participant::host_link_s(double bytes) const {
  const cluster::World& world = session_.world();
  return bytes / *world.cluster().device(world.host(world_rank()))->host_link_bytes_per_s;
}

void Participant::spend(double seconds, Work work) const {
  const cluster::World& world = session_.world();
  const double flops =
      seconds * world.cluster().speed(world.host(world_rank())) * world.ranks().relative_speed(world_rank());
  compute(flops, work);
  count_less(flops);
}

double Participant::own_numbers(const Tensor& vector) const {
  return static_cast<double>(own_parameters_.value_or(vector.size()));
}

void Participant::charge_update(const State& state) const {
  const double numbers = own_numbers(state.w);
  const double clipping = session_.options().clip_norm ? 3.0 : 0.0;  // the norm's 2 a number, the scaling's 1
  comm_.charge_memory(update_bytes(session_.options().precision, state.optimizer.size()) * numbers,
                      (optimizer().flops() + clipping) * numbers, Work::update);
}

RankWork Participant::work() const { return work({}); }

RankWork Participant::work(const InStep& pass) const {
  const cluster::World& world = session_.world();
  const int host = world.host(world_rank());
  const Traits& traits = session_.generation().traits();
  ParameterPasses passes = parameter_passes(session_.options().number_bytes(), traits.main_gradients, pass.adds);
  passes.casts = pass.first || traits.gathers_units ? 1.0 : 0.0;
  passes.casts_again = traits.gathers_units ? 1.0 : 0.0;
  return {learning().layers(),
          world.cluster().device(host),
          session_.options().precision,
          world.cluster().speed(host),
          learning().recompute(),
          learning().passes_on(),
          passes};
}

void Participant::apply(double rounds, State& state, const Tensor& g, double rate_factor, const Tensor& squares) const {
  if (applies(squares ? squares : g)) {
    optimizer().update(state, clipped(g, squares), learning_rate_after(rounds) * rate_factor, learning().layers());
    learning().round(state);
  }
  set_step(++state.step);
}

bool Participant::applies(const Tensor& g) const {
  if (session_.options().precision != Precision::float16 || g.timing_only()) return true;
  const bool finite = std::ranges::all_of(g.value(), [](double g_j) { return std::isfinite(g_j); });
  return session_.loss_scales().applies(world_rank(), finite);
}

Tensor Participant::clipped(const Tensor& g, const Tensor& squares) const {
  const std::optional<double>& most = session_.options().clip_norm;
  if (!most) return g;
  return squares ? scaled_to_norm(g, squares, *most) : scaled_to_norm(g, *most);
}

double Participant::learning_rate(std::int64_t step) const {
  return learning_rate_after(session_.generation().rounds(step_of(step)));
}

std::int64_t Participant::rounds(std::int64_t step) const {
  return static_cast<std::int64_t>(session_.generation().rounds(step));
}

double Participant::learning_rate_after(double rounds) const {
  const Options& options = session_.options();
  return options.scaled_learning_rate(batch()) * options.rate_factor(rounds);
}

void Participant::move_centres(State& state, const Tensor& sums) const {
  charge(static_cast<double>(state.w.size()), Work::update);
  state.w = learning().centres(state.w, sums);
  learning().round(state);
  set_step(++state.step);
}

}  // namespace simgrad::training
