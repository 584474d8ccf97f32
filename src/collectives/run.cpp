#include "collectives/run.h"

#include <utility>

#include "collectives/block_work.h"
#include "collectives/parts.h"

namespace simgrad::collectives {

using cluster::Packet;
using cluster::Pending;
using values::Tensor;

namespace {

/// A member's part in one round.  given: makes the tensor that is sent.  took: called with the packet received.
template <class Given, class Took>
void go(const cluster::Communicator& comm, const Exchange& exchange, const cluster::Note& note, Given given,
        Took took) {
  Pending sending;
  if (exchange.target >= 0) sending = comm.start_send(exchange.target, Packet(given(exchange.sent), note));
  Packet received;
  if (exchange.source >= 0) received = comm.receive(exchange.source);
  if (exchange.target >= 0) sending.wait();
  if (exchange.source < 0) return;
  if (exchange.reduce) comm.charge_reduction(static_cast<double>(exchange.received.count));
  took(exchange, std::move(received));
}

}  // namespace

Packet run(const cluster::Communicator& comm, const Schedule& schedule, Packet x, values::Combination how) {
  const int rounds = schedule.rounds();
  Parts parts(schedule.brings(comm.rank()), std::exchange(x.tensor, Tensor()), schedule.split().length());
  OwnBlockWork work(comm, rounds);
  for (int round = 0; round < rounds; ++round) {
    const Exchange own = schedule.exchange(round, comm.rank());
    if (own.reduce) work.wait_to_send(round);
    go(
        comm, own, x.attached, [&](Stretch sent) { return parts.take(sent); },
        [&](const Exchange& exchange, Packet received) {
          if (!exchange.reduce) x.attached = received.attached;
          if (parts.are_lengths()) return;
          parts.put(exchange.received, exchange.reduce
                                           ? values::combine(how, received.tensor, parts.take(exchange.received))
                                           : received.tensor);
        });
    if (!own.reduce) work.has_come(round);
  }
  work.wait_for_end();
  return Packet(parts.take(schedule.keeps(comm.rank())), x.attached);
}

}  // namespace simgrad::collectives
