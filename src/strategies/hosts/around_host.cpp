#include "strategies/hosts/around_host.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cluster/ranks/pending.h"
#include "collectives/chain.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using values::Tensor;

namespace {

/// The pieces in which so many numbers go around a host.
std::int64_t pieces_around_host(std::int64_t numbers, double number_bytes) {
  constexpr double piece_bytes = 512.0 * 1024;  // an eighth of the 4 MiB of NCCL's default buffer
  constexpr std::int64_t most = 64;
  const double pieces = std::ceil(number_bytes * static_cast<double>(numbers) / piece_bytes);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(pieces), 1, most);
}

}  // namespace

Tensor sum_on_first(const Communicator& devices, const Tensor& x, double number_bytes) {
  const Tensor sum = collectives::chain_reduce(devices, 0, x, pieces_around_host(x.size(), number_bytes));
  return sum ? values::decoded(sum) : sum;
}

Packet around_host(const training::Worker& worker, const Communicator& devices, Packet packet, std::int64_t numbers) {
  collectives::ChainBroadcast chain;
  chain.chunks = pieces_around_host(numbers, worker.number_bytes().wire);
  if (packet.tensor) packet.tensor = devices.on_wire(packet.tensor);
  return chain(devices, 0, std::move(packet), numbers);
}

// A collective carries no bytes beside a tensor.
Packet pass_on(const Communicator& devices, Packet packet) {
  const int device = devices.rank();
  if (device > 0) packet = devices.receive(device - 1);
  if (device + 1 < devices.size()) devices.send(device + 1, packet);
  return packet;
}

void deal_rows(const training::Worker& first, const Communicator& devices) {
  std::vector<cluster::Pending> sends;
  for (int device = 1; device < devices.size(); ++device) {
    Packet rows;
    rows.extra_bytes = first.learning().sent_row_bytes() * first.device_rows(device);
    sends.push_back(devices.start_send(device, std::move(rows)));
  }
  for (cluster::Pending& each : sends) each.wait();
}

void take_rows(const Communicator& devices) { devices.receive(0); }

}  // namespace simgrad::strategies
