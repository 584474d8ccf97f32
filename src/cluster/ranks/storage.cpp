#include "cluster/ranks/storage.h"

#include <simgrid/s4u.hpp>

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Storage::Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s)
    : bandwidth_bytes_per_s_(bandwidth_bytes_per_s), latency_s_(latency_s) {
  if (place == Place::local) return;
  // SimGrid wants a disk to be some host's; which one makes no difference, its network is not used.
  shared_ = cluster.host(0)->create_disk("shared-storage", bandwidth_bytes_per_s, bandwidth_bytes_per_s);
  shared_->seal();
}

void Storage::read(const Communicator& comm, std::int64_t bytes) const {
  World& world = comm.world();
  const double alone_s = static_cast<double>(bytes) / bandwidth_bytes_per_s_;
  ActorState* const activity = comm.activity_;
  if (activity) {
    activity->account.enter(Account::State::communicating, world.now());
    activity->shows({.work = record::Work::read, .bytes = bytes});
  }
  if (const double seconds = shared_ ? latency_s_ : latency_s_ + alone_s; seconds > 0.0)
    sg4::this_actor::sleep_for(seconds);
  if (shared_ && bytes > 0) shared_->read(static_cast<sg_size_t>(bytes));
  if (activity) activity->account.leave(world.now());
}

}  // namespace simgrad::cluster
