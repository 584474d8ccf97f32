/// Writing states to stable storage, reading them again, and what that and failures take from the run.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/ranks/ranks.h"
#include "cluster/recording/work_scope.h"
#include "training/recovery.h"
#include "training/training.h"

namespace simgrad::training {

namespace {

double bytes_of(const State& state) {
  double bytes = static_cast<double>(state.w.size_bytes());
  for (const values::Tensor& each : state.memory) bytes += static_cast<double>(each.size_bytes());
  for (const values::Tensor& each : state.carried.vectors) bytes += static_cast<double>(each.size_bytes());
  return bytes + 8.0 * static_cast<double>(state.carried.numbers.size());
}

}  // namespace

double Training::storage_s(double bytes) const {
  const auto bandwidth = cluster_.options().storage_bandwidth_bytes_per_s;
  return bandwidth ? bytes / *bandwidth : 0.0;
}

/// Of the largest part that one rank writes.
double Training::state_bytes() const {
  State state{.w = learning_.initial_values(), .memory = {}, .step = 0};
  setup_.options.optimizer->start(state);
  const double bytes = bytes_of(state);
  if (program_.keyed) return bytes / world_.servers();
  if (!program_.sharding || world_.servers() <= 1) return bytes;
  const Shards shards(*program_.sharding, world_.servers(), learning_.parameters(), learning_.dispatcher());
  std::int64_t most = 0;
  for (int server = 0; server < world_.servers(); ++server) most = std::max(most, shards.count(server));
  return bytes * static_cast<double>(most) / static_cast<double>(learning_.parameters());
}

void Training::plan_checkpoints() {
  const Options& options = setup_.options;
  const cluster::Options& conditions = cluster_.options();
  if (!options.checkpoints() || !(conditions.failures.hosts_fail() || conditions.storage_bandwidth_bytes_per_s)) return;
  if (conditions.storage_bandwidth_bytes_per_s)
    stable_storage_.emplace(cluster_, cluster::Storage::Place::local, *conditions.storage_bandwidth_bytes_per_s, 0.0);
  checkpoint_cost_s_ = storage_s(state_bytes());
  std::optional<double> mtbf_s = conditions.failures.of_hosts().mtbf_s();
  const auto failing = static_cast<double>(ranks_that_fail(cluster_, world_).size());
  mtbf_s = mtbf_s && failing > 0.0 ? std::optional(*mtbf_s / failing) : std::nullopt;
  const auto every_s = options.checkpoint_interval_s(mtbf_s, checkpoint_cost_s_);
  checkpoint_clock_.emplace(options.checkpoint_every_steps, every_s);
  if (options.checkpoints_by_rule() && every_s)
    note(fmt::format("checkpoints every {:.6g} s ({}: MTBF of the job {:.6g} s, a checkpoint takes {:.6g} s)", *every_s,
                     *options.checkpoint_every, *mtbf_s, checkpoint_cost_s_));
  if (mtbf_s && checkpoint_cost_s_ >= *mtbf_s)
    note(fmt::format(
        "the MTBF of the job, {:.6g} s, is shorter than writing a checkpoint, {:.6g} s: it will hardly progress",
        *mtbf_s, checkpoint_cost_s_));
}

void Training::write_checkpoint(const cluster::Communicator& comm, const State& reached) {
  const int rank = comm.world_rank(comm.rank());
  if (!checkpoint_clock_ || world_.ended()) return;
  State state = reached;
  if (program_.own_pace) {
    if (latest_.step == 0) return;
    const auto due = due_at_own_pace(rank, reached);
    if (!due) return;
    state = *due;
  } else if (state.step == 0 || !checkpoint_clock_->due(state.step, world_.now(), checkpoint_cost_s_)) {
    return;
  }
  const bool writes = holder() != Holder::workers || program_.replicas_differ || place(rank) == 0;
  const cluster::WorkScope work_scope(comm, record::Work::checkpoint);
  if (stable_storage_ && writes) stable_storage_->read(comm, static_cast<std::int64_t>(bytes_of(state)));
  const bool alone = keeps_going() && holder() == Holder::workers;  // those that are lost write nothing
  const auto at_work = alone ? std::ranges::count_if(alongside_, &Alongside::active) : reporters();
  if (!checkpoints_.keep(rank, state, static_cast<int>(at_work))) return;
  losses_.wrote(checkpoint_cost_s_);
  if (!remembers()) losses_.secured(world_.now());
}

void Training::write_checkpoint(const cluster::Communicator& comm, std::int64_t step, const Store& store) {
  if (!checkpoint_clock_ || step == 0 || world_.ended()) return;
  if (!checkpoint_clock_->due(step, world_.now(), checkpoint_cost_s_)) return;
  State state = store.state();
  state.step = step;
  write_checkpoint(comm, state);
}

void Training::restart(const cluster::Communicator& comm) const {
  const int rank = comm.world_rank(comm.rank());
  const bool worker = rank < world_.workers();
  if (generation_ == 0 && !(worker && rejoins(rank))) return;
  const cluster::WorkScope work_scope(comm, record::Work::restart);
  cluster::pause(cluster_.options().failures.restart_time_s);
  if (source_ != &checkpoints_ || !stable_storage_ || (worker && rejoins(rank))) return;
  const Holder who = holder();
  const bool reads = who == Holder::servers   ? !worker
                     : who == Holder::workers ? worker
                                              : place(rank) == 0 && rank == members_->front();
  if (reads) stable_storage_->read(comm, static_cast<std::int64_t>(bytes_of(start_state(rank))));
}

void Training::count_crash(bool recovers) {
  ++crashes_;
  if (recovers) losses_.crashed(world_.now());
}

void Training::record_losses() {
  if (cluster_.options().failures.hosts_fail()) {
    record_.crashes = crashes_;
    // Of a rank that is lost while the others go on nobody knows what its work would have been worth.
    if (!keeps_going() || crashes_ == 0) record_.lost_s = losses_.lost_s();
    record_.recovery_s = losses_.recovery_s(record_.simulated_s);
  }
  if (checkpoint_clock_) record_.checkpoint_s = losses_.checkpoint_s();
  const bool known = record_.crashes ? record_.lost_s.has_value() : record_.checkpoint_s.has_value();
  if (known && record_.simulated_s > 0.0)
    record_.goodput =
        1.0 - (record_.lost_s.value_or(0.0) + record_.recovery_s.value_or(0.0) + record_.checkpoint_s.value_or(0.0)) /
                  record_.simulated_s;
}

}  // namespace simgrad::training
