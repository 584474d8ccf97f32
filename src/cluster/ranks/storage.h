/// The storage of the training set's rows or of checkpoints: a disk in every host, or one storage for all.
#pragma once

#include <cstdint>
#include <memory>

#include "cluster/ranks/communicator.h"
#include "record/time_part.h"

namespace simgrad::cluster {

class Cluster;

/// Reading counts as communicating. Rows that are read are no messages, and cross no link.
class Storage {
 public:
  enum class Place {
    local,  ///< each rank reads at the full bandwidth
    shared  ///< ranks that read at the same time share it fairly
  };
  /// part: that of a rank's time which reads and writes are.
  Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s, record::TimePart part);
  ~Storage();

  /// Blocks the calling actor.  Virtual time: latency + bytes / its share of the bandwidth.
  void read(const Communicator& comm, std::int64_t bytes) const;
  /// Virtual time: that of reading as many bytes.
  void write(const Communicator& comm, std::int64_t bytes) const { read(comm, bytes); }

 private:
  double bandwidth_bytes_per_s_;
  double latency_s_;
  record::TimePart part_;
  class SharedDisk;
  std::unique_ptr<SharedDisk> shared_;  ///< null: each rank has its own
};

/// The calling actor reads or writes its host's disk for so long.  part: of its time.
void use_disk(const Communicator& comm, double seconds, double bytes,
              record::TimePart part = record::TimePart::communicate_storage);

}  // namespace simgrad::cluster
