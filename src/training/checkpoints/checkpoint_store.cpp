#include "training/checkpoints/checkpoint_store.h"

#include <fmt/format.h>

#include <cmath>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/work_scope.h"
#include "training/options.h"

namespace simgrad::training {

double bytes_of(const State& state, const NumberBytes& bytes) {
  const double parameter = bytes.master > 0.0 ? bytes.master : bytes.parameter;
  double sum = parameter * static_cast<double>(state.w.size());
  for (const values::Tensor& each : state.optimizer) sum += bytes.moment * static_cast<double>(each.size());
  for (const auto* vectors : {&state.own, &state.joint.vectors})
    for (const values::Tensor& each : *vectors) sum += parameter * static_cast<double>(each.size());
  return sum + 8.0 * static_cast<double>(state.joint.numbers.size());
}

std::optional<double> host_memory_bandwidth(const cluster::Options& options) {
  if (options.host_memory_bandwidth_bytes_per_s) return options.host_memory_bandwidth_bytes_per_s;
  const cluster::Device* const device = options.device_of(0);
  return device ? device->host_link_bytes_per_s : std::nullopt;
}

CheckpointStore::CheckpointStore(cluster::Cluster& cluster, bool remembers)
    : cluster_(cluster), remembers_(remembers) {}

std::vector<std::string> CheckpointStore::plan(const Options& options,
                                               const std::function<CheckpointBytes()>& state_bytes,
                                               std::int64_t failing_hosts) {
  const cluster::Options& conditions = cluster_.options();
  const std::optional<double> bandwidth = conditions.storage_bandwidth_bytes_per_s;
  bytes_ = number_bytes(options.precision);
  async_ = options.checkpoint_async;
  if (!options.checkpoints() || !(conditions.failures.hosts_fail() || bandwidth)) return {};
  if (bandwidth) {
    storage_.emplace(cluster_, cluster::Storage::Place::local, *bandwidth, 0.0,
                     record::TimePart::communicate_checkpoint);
    const CheckpointBytes bytes = state_bytes();
    cost_s_ = bytes.written / *bandwidth;
    read_s_ = bytes.read / *bandwidth;
    if (async_) {
      const std::optional<double> copying = host_memory_bandwidth(conditions);
      if (copying)
        host_memory_.emplace(cluster_, cluster::Storage::Place::local, *copying, 0.0,
                             record::TimePart::communicate_checkpoint);
      cost_s_ = copying ? bytes.written / *copying : 0.0;
    }
  }
  std::optional<double> mtbf_s = conditions.failures.of_hosts().mtbf_s();
  if (mtbf_s && failing_hosts > 0) *mtbf_s /= static_cast<double>(failing_hosts);
  if (failing_hosts == 0) mtbf_s.reset();
  const std::optional<double> every_s = options.checkpoint_interval_s(mtbf_s, cost_s_);
  clock_.emplace(options.checkpoint_every_steps, every_s);
  std::vector<std::string> notes;
  if (options.checkpoints_by_rule() && every_s)
    notes.push_back(
        fmt::format("checkpoints every {:.6g} s ({}: MTBF of the job {:.6g} s, a checkpoint takes {:.6g} s)", *every_s,
                    *options.checkpoint_every, *mtbf_s, cost_s_));
  if (mtbf_s && cost_s_ >= *mtbf_s)
    notes.push_back(fmt::format(
        "the MTBF of the job, {:.6g} s, is shorter than writing a checkpoint, {:.6g} s: it will hardly progress",
        *mtbf_s, cost_s_));
  return notes;
}

Snapshots* CheckpointStore::source(const std::function<bool(const Snapshots&)>& enough) {
  writing_.clear();
  written_.settle();
  remembered_.settle();
  if (remembered_.complete_step() && enough(remembered_)) return &remembered_;
  remembered_.clear();
  return written_.complete_step() ? &written_ : nullptr;
}

void CheckpointStore::remember(int rank, const State& state, int reporters) {
  if (state.step > 0 && remembers_ && cluster_.options().failures.hosts_fail() &&
      remembered_.keep(rank, state, reporters))
    losses_.secured(cluster_.now());
}

void CheckpointStore::write(const cluster::Communicator& comm, const State& state, double share,
                            const std::function<int()>& reporters) {
  const cluster::WorkScope work_scope(comm, record::Work::checkpoint);
  const double bytes = std::ceil(share * bytes_of(state, bytes_));
  if (async_ && storage_) return copy_and_write_behind(comm, state, bytes, reporters);
  if (storage_ && share > 0.0) storage_->write(comm, static_cast<std::int64_t>(bytes));
  keep(comm.world_rank(comm.rank()), state, reporters(), cluster_.now(), cost_s_);
}

void CheckpointStore::copy_and_write_behind(const cluster::Communicator& comm, const State& state, double bytes,
                                            const std::function<int()>& reporters) {
  const int rank = comm.world_rank(comm.rank());
  const double reached_s = cluster_.now();
  if (const auto before = writing_.find(rank); before != writing_.end())
    cluster::use_disk(comm, before->second.until_s - reached_s, 0.0, record::TimePart::communicate_checkpoint);
  if (host_memory_) host_memory_->write(comm, static_cast<std::int64_t>(bytes));
  const double copied_s = cluster_.now();
  const Writing writing{.until_s = copied_s + bytes / *cluster_.options().storage_bandwidth_bytes_per_s,
                        .number = ++writings_};
  writing_[rank] = writing;
  cluster_.at(writing.until_s, [this, &world = comm.world(), writing, rank, state, reporters, reached_s, copied_s] {
    const auto last = writing_.find(rank);
    if (!world.ended() && last != writing_.end() && last->second.number == writing.number)
      keep(rank, state, reporters(), copied_s, copied_s - reached_s);
  });
}

void CheckpointStore::forget(int rank) {
  remembered_.forget(rank);
  writing_.erase(rank);
}

void CheckpointStore::keep(int rank, const State& state, int reporters, double since_s, double cost_s) {
  if (!written_.keep(rank, state, reporters)) return;
  if (remembers_)
    losses_.stored(since_s);
  else
    losses_.secured(cluster_.now(), since_s);
  losses_.wrote(since_s, cost_s);
}

void CheckpointStore::read(const cluster::Communicator& comm, const State& state) const {
  if (storage_) storage_->read(comm, static_cast<std::int64_t>(bytes_of(state, bytes_)));
}

void CheckpointStore::crashed(bool recovers) {
  ++crashes_;
  if (recovers) losses_.crashed(cluster_.now());
}

void CheckpointStore::resumed(const Snapshots* source) {
  const double now = cluster_.now(), restart_s = cluster_.options().failures.restart_time_s;
  const double reading_s = on_storage(source) ? read_s_ : 0.0;
  losses_.resumed(now, restart_s + reading_s, !remembers_ || in_memory(source));
  if (clock_) clock_->restart(source ? *source->complete_step() : 0, now + restart_s + reading_s);
}

void CheckpointStore::fill(record::Record& record, bool keeps_going) const {
  if (cluster_.options().failures.hosts_fail()) {
    record.crashes = crashes_;
    if (!keeps_going || crashes_ == 0) record.lost_s = losses_.lost_s();
    record.recovery_s = losses_.recovery_s(record.simulated_s);
  }
  if (clock_) record.checkpoint_s = losses_.checkpoint_s();
  const bool known = record.crashes ? record.lost_s.has_value() : record.checkpoint_s.has_value();
  if (known && record.simulated_s > 0.0)
    record.goodput =
        1.0 - (record.lost_s.value_or(0.0) + record.recovery_s.value_or(0.0) + record.checkpoint_s.value_or(0.0)) /
                  record.simulated_s;
}

}  // namespace simgrad::training
