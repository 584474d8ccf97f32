/// The storage of the training set's rows, of intermediate results or of checkpoints: a disk in every host, or one
/// storage for all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "record/time_part.h"

namespace simgrid::s4u {
class Semaphore;
}

namespace simgrad::cluster {

class Cluster;

/// Reading counts as communicating. Rows that are read are no messages, and cross no link.
class Storage {
 public:
  enum class Place {
    local,  ///< each rank reads at the full bandwidth
    host,   ///< a disk in each host, which the ranks of a host that read at the same time share fairly
    shared  ///< ranks that read at the same time share it fairly
  };
  /// part: that of a rank's time which reads and writes are.
  Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s, record::TimePart part);
  ~Storage();

  /// Blocks the calling actor.  Virtual time: latency + bytes / its share of the bandwidth.
  void read(const Communicator& comm, std::int64_t bytes) const;
  /// As read(), but gives up once woken is released, and leaves that as if nobody had acquired it. Returns whether the
  /// reading finished.
  bool read_unless(const Communicator& comm, std::int64_t bytes, simgrid::s4u::Semaphore& woken) const;
  /// Virtual time: that of reading as many bytes.
  void write(const Communicator& comm, std::int64_t bytes) const { read(comm, bytes); }

 private:
  double bandwidth_bytes_per_s_;
  double latency_s_;
  record::TimePart part_;
  class SharedDisk;
  SharedDisk* disk_of(const Communicator& comm) const;
  void find_hosts_with_several_ranks(const Communicator& comm) const;

  Place place_;
  Cluster& cluster_;
  std::unique_ptr<SharedDisk> shared_;  ///< of all ranks; null: there is none
  /// By rank, the disk of a host that has several ranks; null: the rank has the disk to itself.
  mutable std::vector<SharedDisk*> by_rank_;
  mutable std::map<int, std::unique_ptr<SharedDisk>> of_hosts_;  ///< by the host's first place in the network
};

/// The calling actor reads or writes its host's disk for so long.  part: of its time.
void use_disk(const Communicator& comm, double seconds, double bytes,
              record::TimePart part = record::TimePart::communicate_storage);

}  // namespace simgrad::cluster
