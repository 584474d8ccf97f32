#include "strategies/gossip/push_sum.h"

#include <utility>

#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;

namespace {

/// The weight beside a share.
struct Weight {
  double omega = 1.0;
};
constexpr std::int64_t weight_bytes = 8;

}  // namespace

PushSum::PushSum(Worker& worker, const PushTurns& turns, const training::Compressor& compressor, bool overlap)
    : worker_(worker),
      turns_(turns),
      overlap_(overlap),
      row_{.neighbours = turns.sources(worker.rank()), .weights = {}, .targets = {}},
      neighbours_(worker, {&row_}),
      encoder_(compressor, worker) {}

State PushSum::start() {
  State state = neighbours_.start();
  if (const Joint& last = state.joint; last.vectors.size() > 1)
    under_way_ = send(worker_.comm(), {last.vectors[1], last.numbers[1]}, state.step - 1);
  return state;
}

Mass PushSum::mass(const State& state) const {
  return state.joint.empty() ? Mass{state.w} : Mass{state.joint.vectors.front(), state.joint.numbers.front()};
}

Mass PushSum::split(Mass& mass, std::int64_t step) { return split(worker_.comm(), mass, 0, step); }

Mass PushSum::split(const Communicator& comm, Mass& mass, std::int64_t first, std::int64_t step) {
  const int targets = neighbours_.present(turns_.peers(worker_.rank(), step).targets, step);
  const double part = 1.0 / (1.0 + targets);
  mass = {part * mass.x, part * mass.omega};
  Mass share = mass;
  if (targets > 0 && !encoder_.compressor().exact()) {
    share.x = encoder_(comm, share.x, first);
    comm.charge_reduction(3.0 * static_cast<double>(mass.x.size()), record::Work::update);
    mass.x = values::add_scaled(mass.x, targets, mass.x - values::decoded(share.x));
  }
  return share;
}

void PushSum::exchange(Mass& mass, const Mass& share, std::int64_t step) {
  const Communicator& comm = worker_.comm();
  std::vector<Packet> received;
  if (overlap_ && under_way_) received = neighbours_.finish(std::move(*under_way_));
  under_way_ = send(comm, share, step);
  if (!overlap_) received = neighbours_.finish(*std::exchange(under_way_, std::nullopt));
  add(comm, mass, received, 0);
}

Mass PushSum::exchanged_beside(const Communicator& comm, Mass mass, std::int64_t first, std::int64_t step) {
  const Mass share = split(comm, mass, first, step);
  add(comm, mass, neighbours_.finish(comm, send(comm, share, step)), first);
  return mass;
}

void PushSum::add(const Communicator& comm, Mass& mass, const std::vector<Packet>& received, std::int64_t first) const {
  std::int64_t additions = 0;
  for (const Packet& came : received) {
    if (!came.tensor) continue;  // its sender is lost
    mass.x += values::decoded(came.tensor);
    mass.omega += came.note<Weight>().omega;
    ++additions;
  }
  encoder_.charge_decoding(comm, mass.x.size(), additions, first);
  comm.charge_reduction((2.0 + static_cast<double>(additions)) * static_cast<double>(mass.x.size()),
                        record::Work::average);
}

Neighbourhood::Exchange PushSum::send(const Communicator& comm, const Mass& share, std::int64_t step) const {
  Packet packet(share.x, Weight{share.omega});
  packet.extra_bytes = weight_bytes;
  const PushPeers now = turns_.peers(worker_.rank(), step);
  return neighbours_.start(comm, packet, step, now.sources, now.targets);
}

Joint PushSum::joint(const Mass& mass, const Mass& share) const {
  if (!overlap_) return {.vectors = {mass.x}, .numbers = {mass.omega}};
  return {.vectors = {mass.x, share.x}, .numbers = {mass.omega, share.omega}};
}

void PushSum::finish() {
  if (under_way_) neighbours_.finish(std::move(*under_way_));
}

}  // namespace simgrad::strategies
