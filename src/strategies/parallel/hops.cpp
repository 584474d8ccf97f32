#include "strategies/parallel/hops.h"

#include <cstdint>
#include <utility>

#include "base/errors.h"

namespace simgrad::strategies {

namespace {

/// The task that a hop is for, so that a schedule whose stages disagree is found.
struct HopNote {
  std::int32_t piece = 0;
  std::int32_t micro = 0;
  bool is_part = false;
};

}  // namespace

Hops::Hops(cluster::Communicator comm, Peer from, Peer to)
    : comm_(std::move(comm)), from_(std::move(from)), to_(std::move(to)) {}

Hops Hops::along(const cluster::Communicator& comm, int step) {
  const auto always = [&comm](int behind) {
    return [member = (comm.rank() + behind + comm.size()) % comm.size()](std::int64_t) { return member; };
  };
  return {comm, always(-step), always(step)};
}

void Hops::expect(std::size_t receives) {
  while (expected_.size() < receives) expected_.push_back(comm_.start_receive(from_(posted_++)));
}

Hops::Message Hops::receive(int piece, int micro) {
  cluster::Packet packet = expected_.front().wait();
  expected_.pop_front();
  const auto& note = packet.note<HopNote>();
  base::check(note.piece == piece && note.micro == micro,
              "the stages of a pipeline work on micro-batches in one order");
  return {packet.tensor, note.is_part};
}

void Hops::send(Message message, int piece, int micro) {
  cluster::Packet packet(std::move(message.numbers), HopNote{piece, micro, message.is_part});
  sent_.push_back(comm_.start_send(to_(begun_++), std::move(packet)));
}

void Hops::drop_arrived() {
  for (cluster::Pending& pending : sent_)
    if (pending.over()) pending.wait();
  std::erase_if(sent_, [](const cluster::Pending& pending) { return !pending.under_way(); });
}

}  // namespace simgrad::strategies
