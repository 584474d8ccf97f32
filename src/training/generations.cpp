/// How a generation of ranks begins: who is in it, and from which state it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/ranks/ranks.h"
#include "training/recovery.h"
#include "training/training.h"
#include "training/worker.h"

namespace simgrad::training {

using values::Tensor;

void Training::fail_without(const char* role) {
  cluster_.fail(
      fmt::format("no {0} is left: at {1:.6g} s the host of every {0} has crashed, and none of them comes back; let "
                  "hosts be repaired (cluster.failures), or take more of them",
                  role, world_.now()));
}

void Training::launch() {
  arrivals_.clear();
  choose_source();
  last_by_samples_.reset();
  memory_.reset();
  pace_ = {};
  count_members();
  resumes_whole_ = everybody_is_kept();
  int able = 0;
  for (int rank = 0; rank < world_.workers(); ++rank) able += world_.alive(rank) ? 1 : 0;
  if (able == 0 && !recovery_->expects()) return fail_without("worker");
  if (world_.servers() > 0 && living_servers_ == 0) return fail_without("server");
  deal_shards();
  if (generation_ > 0)
    note_failure(fmt::format("resumed at {:.6g} s from step {} with {} worker{}", world_.now(), restored_step(), able,
                             able == 1 ? "" : "s"));
  for (int position = 0; position < static_cast<int>(members_->size()); ++position)
    if (const int rank = (*members_)[static_cast<std::size_t>(position)]; world_.alive(rank))
      start_rank(rank, position);
}

/// Of what ranks remember, else of the last checkpoint, else none. A replica is a whole state, a server's shard is not.
void Training::choose_source() {
  checkpoints_.settle();
  recent_.settle();
  const bool remembered =
      recent_.complete_step() && (holder() == Holder::servers ? recent_.whole() : !recent_.states().empty());
  if (!remembered) recent_.clear();
  source_ = remembered ? &recent_ : checkpoints_.complete_step() ? &checkpoints_ : nullptr;
}

std::int64_t Training::restored_step() const { return source_ ? *source_->complete_step() : 0; }

void Training::forget(int rank) { recent_.forget(rank); }

void Training::catch_up(const cluster::Communicator& comm) const {
  if (source_ != &recent_ || holder() != Holder::workers) return;
  const Snapshots::States& remembered = recent_.states();
  std::vector<int> holders, joiners;  // places in the communicator
  for (int place = 0; place < living_workers_; ++place)
    (remembered.contains(comm.world_rank(place)) ? holders : joiners).push_back(place);
  std::vector<cluster::Pending> sends;
  for (std::size_t i = 0; i < joiners.size(); ++i) {
    const int from = holders[i % holders.size()];
    if (joiners[i] == comm.rank()) comm.receive(from);
    if (from != comm.rank()) continue;
    const State state = start_state(comm.world_rank(from));
    cluster::Packet packet(state.w, state.step);
    for (const Tensor& each : state.memory) packet.more_bytes += each.size_bytes();
    sends.push_back(comm.start_send(joiners[i], std::move(packet)));
  }
  for (cluster::Pending& send : sends) send.wait();
}

void Training::relaunch() {
  ++generation_;
  resumed_ = true;
  launch();
  const bool reads = source_ == &checkpoints_;
  losses_.resumed(world_.now(), cluster_.options().failures.restart_time_s + (reads ? checkpoint_cost_s_ : 0.0));
  if (checkpoint_clock_)
    checkpoint_clock_->restart(restored_step(), world_.now() + cluster_.options().failures.restart_time_s +
                                                    (reads ? checkpoint_cost_s_ : 0.0));
  if (synchronous()) lost_samples_ = samples_ - restored_step() * learning_.batches().batch();
}

/// Of the state gone back to, too: a generation may have fewer servers than the one before.
void Training::deal_shards() {
  const Sharding sharding = program_.sharding.value_or(Sharding::range);
  const int servers = program_.sharding ? living_servers_ : 1;
  const std::optional<Shards> before =
      std::exchange(shards_, Shards(sharding, servers, learning_.parameters(), learning_.dispatcher()));
  if (!program_.sharding || !source_ || before->servers() == servers) return;
  Snapshots::States& kept = source_->states();
  const auto dealt_again = [&](const auto& vector_of) {
    std::vector<Tensor> parts;
    for (const auto& [rank, state] : kept) parts.push_back(vector_of(state));
    return shards_->split(before->whole(parts));
  };
  const std::vector<Tensor> w = dealt_again([](const State& state) { return state.w; });
  std::vector<State> states;
  for (const Tensor& part : w) states.push_back({.w = part, .memory = {}, .step = restored_step()});
  for (std::size_t m = 0; m < kept.begin()->second.memory.size(); ++m) {
    const std::vector<Tensor> parts = dealt_again([m](const State& state) { return state.memory[m]; });
    for (std::size_t j = 0; j < parts.size(); ++j) states[j].memory.push_back(parts[j]);
  }
  kept.clear();
  for (std::size_t j = 0; j < states.size(); ++j)
    kept[(*members_)[static_cast<std::size_t>(living_workers_) + j]] = std::move(states[j]);
}

void Training::count_members() {
  std::vector<int> living;
  living_workers_ = living_servers_ = 0;
  alongside_.assign(static_cast<std::size_t>(world_.workers()), {});
  for (int rank = 0; rank < world_.size(); ++rank) {
    const bool worker = rank < world_.workers();
    if (worker) alongside_[static_cast<std::size_t>(rank)].active = world_.alive(rank);
    // In place those that are lost stay members, and come back to their places.
    if (!world_.alive(rank) && !(keeps_going() && worker)) continue;
    living.push_back(rank);
    ++(rank < world_.workers() ? living_workers_ : living_servers_);
  }
  members_ = std::make_shared<const std::vector<int>>(std::move(living));
}

void Training::start_rank(int rank, int position) {
  if (rank < world_.workers()) {
    world_.ranks().start(rank, [this, position] {
      Worker worker(*this, position);
      restart(worker.comm());
      catch_up(worker.comm());
      program_.work(worker);
    });
  } else {
    world_.ranks().start(rank, [this, position] {
      Server server(*this, position);
      restart(server.comm());
      program_.serve(server);
    });
  }
}

State Training::start_state(int rank) const {
  if (source_) {
    const Snapshots::States& kept = source_->states();
    const auto own = kept.find(rank);
    State state =
        own != kept.end() ? own->second : kept.begin()->second;  // workers of a server have no state of their own
    if (!resumes_whole_) state.carried = {};
    return state;
  }
  State state{.w = learning_.initial_values(), .memory = {}, .step = 0};
  if (program_.sharding && rank >= world_.workers()) state.w = shards_->split(state.w)[place(rank)];
  setup_.options.optimizer->start(state);
  return state;
}

bool Training::everybody_is_kept() const {
  if (!source_) return false;
  const Snapshots::States& kept = source_->states();
  return std::cmp_equal(kept.size(), reporters()) && std::ranges::all_of(kept, [&](const auto& each) {
           return std::ranges::binary_search(*members_, each.first) && world_.alive(each.first);
         });
}

bool Training::remembers() const {
  return recovery() == cluster::Recovery::wait || recovery() == cluster::Recovery::elastic;
}

void Training::keep(int rank, const State& state) {
  if (state.step > 0 && remembers() && cluster_.options().failures.hosts_fail() &&
      recent_.keep(rank, state, reporters()))
    losses_.secured(world_.now());
}

}  // namespace simgrad::training
