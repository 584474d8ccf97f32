/// The time of a rank that goes to the other ranks of its replica, along a dimension of the mesh.
#pragma once

#include "record/record.h"
#include "training/parts/mesh.h"

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::training {

/// While it lives, time of the calling rank goes to the ranks along that dimension: all of it along tensor, context and
/// expert; along pipeline waiting apart from transfers.
class AlongScope {
 public:
  /// comm: of the calling rank's main actor.
  AlongScope(record::MeshUse& use, const cluster::Communicator& comm, Dimension dimension);
  ~AlongScope();
  AlongScope(const AlongScope&) = delete;
  AlongScope& operator=(const AlongScope&) = delete;

 private:
  record::MeshUse& use_;
  const cluster::Communicator& comm_;
  Dimension dimension_;
  double from_s_ = 0.0;
  double waited_before_s_ = 0.0;
  int exceptions_;
};

}  // namespace simgrad::training
