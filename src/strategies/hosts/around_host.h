/// The messages inside a host: parameters go from its first device to the others, and sums of gradients come back. Both
/// go in chains of pieces. Rows that come with the parameters go from the first device to each.
#pragma once

#include <cstdint>

#include "cluster/ranks/communicator.h"
#include "collectives/split.h"
#include "training/learning/units.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// Written beside the parameters that go around a host, once a step.
struct HostOrder {
  std::int64_t step = 0;
  std::int64_t micro_batches = 1;
};

/// Parameters from the first device to all of a host.  packet: ignored on the others.  numbers: those of its tensor.
cluster::Packet around_host(const training::Worker& worker, const cluster::Communicator& devices,
                            cluster::Packet packet, std::int64_t numbers);

/// A message in one piece from device to device: each has all of it before it passes it on.  Returns the first
/// device's; packet: ignored on the others.
cluster::Packet pass_on(const cluster::Communicator& devices, cluster::Packet packet);

/// Each device's rows of a step's batch, from the first one, where the rows have come to it with the parameters.
void deal_rows(const training::Worker& first, const cluster::Communicator& devices);
void take_rows(const cluster::Communicator& devices);

/// The sum of x over the devices, on the first of them, which computes with it; no tensor elsewhere.  number_bytes: of
/// a number on the wire.
values::Tensor sum_on_first(const cluster::Communicator& devices, const values::Tensor& x, double number_bytes);

inline collectives::Stretch stretch_of(const training::ModelUnit& unit) { return {unit.first, unit.count}; }

}  // namespace simgrad::strategies
