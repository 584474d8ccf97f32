/// The time of a rank that goes to the other ranks of its replica, along a dimension of the mesh.
#pragma once

#include <optional>

#include "record/time_part.h"
#include "training/parts/mesh.h"

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::training {

struct MeshTime;

/// While it lives, time of the calling rank goes to the ranks along that dimension: all of it along tensor, context and
/// expert; along pipeline waiting apart from transfers.
class AlongScope {
 public:
  /// comm: of the calling rank's main actor.  dimension: nothing where several dimensions take part, as in a norm.
  AlongScope(MeshTime& time, const cluster::Communicator& comm, std::optional<Dimension> dimension = {});
  ~AlongScope();
  AlongScope(const AlongScope&) = delete;
  AlongScope& operator=(const AlongScope&) = delete;

 private:
  MeshTime& time_;
  const cluster::Communicator& comm_;
  std::optional<Dimension> dimension_;
  double from_s_ = 0.0;
  record::TimeParts before_;
  int exceptions_;
};

}  // namespace simgrad::training
