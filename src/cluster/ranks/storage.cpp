#include "cluster/ranks/storage.h"

#include <cmath>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Storage::Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s, record::TimePart part)
    : bandwidth_bytes_per_s_(bandwidth_bytes_per_s), latency_s_(latency_s), part_(part) {
  if (place == Place::local) return;
  // A disk of SimGrid belongs to a host; any will do, for its network is not used.
  shared_ = add_disk(*cluster.host(0), "shared-storage", bandwidth_bytes_per_s);
  shared_->seal();
}

void use_disk(const Communicator& comm, double seconds, double bytes, record::TimePart part) {
  if (!(seconds > 0.0)) return;
  const BusyScope busy(comm.world().cluster(), comm.actor(), part,
                       {.work = record::Work::read, .bytes = std::llround(bytes)});
  sg4::this_actor::sleep_for(seconds);
}

void Storage::read(const Communicator& comm, std::int64_t bytes) const {
  const double alone_s = static_cast<double>(bytes) / bandwidth_bytes_per_s_;
  const BusyScope reading(comm.world().cluster(), comm.actor(), part_, {.work = record::Work::read, .bytes = bytes});
  if (const double seconds = shared_ ? latency_s_ : latency_s_ + alone_s; seconds > 0.0)
    sg4::this_actor::sleep_for(seconds);
  if (shared_ && bytes > 0) shared_->read(static_cast<sg_size_t>(bytes));
}

}  // namespace simgrad::cluster
