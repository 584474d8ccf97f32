/// How a generation of ranks begins, at the start and after a failure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/work_scope.h"
#include "training/session/catch_up.h"
#include "training/session/training.h"
#include "training/worker.h"

namespace simgrad::training {

namespace {

record::TimeParts parts_so_far(const cluster::Communicator& comm) { return comm.actor()->parts(comm.now()); }

}  // namespace

/// Whether ranks' memories have all of a step's state: every server's; of a cut model every part.
bool Training::enough(const Snapshots& memories) const {
  if (holder() == Holder::servers) return memories.whole();
  if (!parts_) return !memories.states().empty();
  if (traits_.state_shards > 1) return memories.whole();
  for (int part = 0; part < parts_->mesh().parts(); ++part) {
    const std::vector<int>& with_it = *parts_->workers_with(parts_->mesh().first_rank_of_part(part));
    if (std::ranges::none_of(with_it, [&](int rank) { return memories.states().contains(rank); })) return false;
  }
  return true;
}

void Training::keep_copies() {
  std::vector<int> holders(static_cast<std::size_t>(world_.workers()));
  copied_.resize(holders.size());
  for (int rank = 0; rank < world_.workers(); ++rank) {
    const std::vector<int> stages = parts_->mesh().group(rank, Dimension::pipeline);
    const auto stage = static_cast<std::size_t>(parts_->mesh().place(rank)[Dimension::pipeline]);
    const int next = stages[(stage + 1) % stages.size()];
    copied_[static_cast<std::size_t>(rank)] = next;
    holders[static_cast<std::size_t>(next)] = rank;
  }
  checkpoints_.copy_to(std::move(holders));
}

/// Gets the state of a rank that goes on from the memory of ranks.
void Training::catch_up_with(const Worker& worker) {
  if (parts_)
    catch_up_on_mesh(worker.everyone(), *generation_, copied_);
  else
    catch_up(worker.comm(), *generation_);
  const int rank = worker.comm().world_rank(worker.rank());
  if (!generation_->was_kept(rank) && parts_) checkpoints_.regain(rank);
}

/// Returns the states that the generation goes on from; null: step 0.
Snapshots* Training::launch() {
  Snapshots* const source = checkpoints_.source([this](const Snapshots& memories) { return enough(memories); });
  stop_rules_.restart();
  shared_.begin_generation();
  replicas_.begin(world_.workers());
  std::vector<bool> alive;
  for (int rank = 0; rank < world_.size(); ++rank) alive.push_back(world_.alive(rank));
  const auto workers = std::count(alive.begin(), alive.begin() + world_.workers(), true);
  const auto servers = std::count(alive.begin() + world_.workers(), alive.end(), true);
  const bool lacks_workers = workers == 0 && !recovery_driver_.expects();
  if (lacks_workers || (world_.servers() > 0 && servers == 0)) {
    fail_without(cluster_, lacks_workers ? "worker" : "server");
    return source;
  }
  const Generation::Terms terms{.learning = learning_,
                                .parts = parts_.get(),
                                .traits = traits_,
                                .optimizer = *setup_.options.optimizer,
                                .workers = world_.workers(),
                                .holder = holder(),
                                .stand_ins = world_.stand_ins(),
                                .lost_stay = replicas_.keep_going()};
  const int number = generation_ ? generation_->number() + 1 : 0;
  generation_ = std::make_unique<const Generation>(number, terms, alive, source, generation_.get());
  progress_->begin(*generation_);
  if (number > 0)
    tally_.note_failure(fmt::format("resumed at {:.6g} s from step {} with {} worker{}", world_.now(),
                                    generation_->start_step(), workers / generation_->devices(),
                                    workers == generation_->devices() ? "" : "s"));
  const std::vector<int>& members = *generation_->members();
  for (int position = 0; std::cmp_less(position, members.size()); ++position)
    if (const int rank = members[static_cast<std::size_t>(position)];
        world_.alive(rank) && world_.simulated(rank) == rank)
      start_rank(rank, position);
  return source;
}

void Training::relaunch() {
  curve_.resume();
  const Snapshots* const source = launch();
  checkpoints_.resumed(source);
  go_back(source ? *source->complete_step() : 0);
}

/// Counts the samples of all later steps as lost.
void Training::go_back(std::int64_t step) {
  const std::int64_t counted = progress_->go_back(step, tally_.samples());
  const auto later = seen_by_step_.upper_bound(step);
  samples_lost_ = counted - (later == seen_by_step_.begin() ? 0 : std::prev(later)->second);
  seen_by_step_.erase(later, seen_by_step_.end());
}

/// Starts the devices of a worker behind the first one.
void Training::start_devices(int rank, int worker) {
  for (int device = 1; device < traits_.devices_a_worker; ++device)
    world_.ranks().start(rank + device, [this, worker, device] {
      Worker device_worker(*this, worker, device);
      restart(device_worker.comm());
      program_.work(device_worker);
    });
}

void Training::start_rank(int rank, int position) {
  if (rank < world_.workers()) {
    start_devices(rank, position);
    world_.ranks().start(rank, [this, position] {
      Worker worker(*this, position);
      MeshTime* const mesh_time = parts_ ? &worker.mesh_time() : nullptr;
      if (mesh_time && mesh_time->at_end) mesh_time->start_again(parts_so_far(worker.comm()));
      restart(worker.comm());
      if (holder() == Holder::workers && checkpoints_.in_memory(generation_->source())) catch_up_with(worker);
      program_.work(worker);
      if (mesh_time) mesh_time->end(parts_so_far(worker.comm()));
    });
  } else {
    world_.ranks().start(rank, [this, position] {
      Server server(*this, position);
      restart(server.comm());
      program_.serve(server);
    });
  }
}

/// The start of a rank after a failure: cluster.failures.restart_time, then reading the checkpoint.
void Training::restart(const cluster::Communicator& comm) const {
  const int rank = comm.world_rank(comm.rank());
  const bool worker = rank < world_.workers(), rejoins = replicas_.rejoins(rank);
  if (generation_->number() == 0 && !rejoins) return;
  {
    const cluster::WorkScope work_scope(comm, record::Work::restart);
    cluster::pause(cluster_.options().failures.restart_time_s);
    const Holder who = holder();
    const bool reads = who == Holder::servers   ? !worker
                       : who == Holder::workers ? worker && rank == generation_->first_device(rank)
                                                : rank == generation_->members()->front();
    if (reads && !rejoins && checkpoints_.on_storage(generation_->source()))
      checkpoints_.read(comm, generation_->start_state(rank));
  }
  comm.world().timekeeper().begin_work(rank);
}

void Training::lose(int rank) {
  replicas_.lose(rank);
  shared_.lose_replica(rank);
  progress_->lose(rank);
}

void Training::bring_back(int rank) {
  replicas_.bring_back(rank);
  const std::vector<int>& members = *generation_->members();
  start_rank(rank, static_cast<int>(std::ranges::lower_bound(members, rank) - members.begin()));
}

double Training::bytes_of_largest_part() const {
  double most = 0.0;
  for (int part = 0; part < parts_->mesh().parts(); ++part) {
    const Learning& part_learning = parts_->learning(parts_->mesh().first_rank_of_part(part));
    most = std::max(most, static_cast<double>(part_learning.state_bytes(*setup_.options.optimizer)));
  }
  return most / std::max(traits_.state_shards, 1);
}

CheckpointBytes Training::checkpoint_bytes() const {
  if (parts_) {
    const double part = bytes_of_largest_part();
    return {.written = std::ceil(part * share_of_checkpoint(0)), .read = std::ceil(part)};
  }
  const double bytes = std::ceil(bytes_of_state_that_one_writes());
  return {bytes, bytes};
}

/// Bytes of the largest part of an uncut model's state that one rank writes.
double Training::bytes_of_state_that_one_writes() const {
  const auto bytes = static_cast<double>(learning_.state_bytes(*setup_.options.optimizer));
  if (traits_.state_shards > 1) return std::ceil(bytes / traits_.state_shards);
  if (traits_.sharding == Sharding::keys) return bytes / world_.servers();
  if (!traits_.deals_parameters() || world_.servers() <= 1) return bytes;
  const Shards shards =
      traits_.dealt_in_pieces
          ? Shards(world_.servers(), traits_.dealt_in_pieces(learning_), learning_.dispatcher())
          : Shards(traits_.sharding, world_.servers(), learning_.parameters(), learning_.dispatcher());
  std::int64_t most = 0;
  for (int server = 0; server < world_.servers(); ++server) most = std::max(most, shards.count(server));
  return bytes * static_cast<double>(most) / static_cast<double>(learning_.parameters());
}

}  // namespace simgrad::training
