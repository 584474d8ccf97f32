/// Where the rows of the training set are read from: a disk in every host, or one storage for all.
#pragma once

#include <cstdint>

#include "cluster/ranks/communicator.h"

namespace simgrid::s4u {
class Disk;
}

namespace simgrad::cluster {

/// Reading counts as communicating. What is read is no message, and no link's.
class Storage {
 public:
  enum class Place {
    local,  ///< each rank reads at the full bandwidth
    shared  ///< those who read at the same time share it fairly
  };
  Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s);

  /// Blocks the actor that the communicator is of.  Virtual time: latency + bytes / its share of the bandwidth.
  void read(const Communicator& comm, std::int64_t bytes) const;
  /// Takes as long as reading.
  void write(const Communicator& comm, std::int64_t bytes) const { read(comm, bytes); }

 private:
  double bandwidth_bytes_per_s_;
  double latency_s_;
  simgrid::s4u::Disk* shared_ = nullptr;
};

}  // namespace simgrad::cluster
