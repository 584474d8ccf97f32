#include "serving/stage_actors.h"

#include <algorithm>
#include <utility>

#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"

namespace simgrad::serving {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using record::TimePart;
using record::Work;

namespace {

Packet packet_of(const Flight& flight, std::int64_t bytes) {
  Packet packet(values::Tensor(), FlightNumber{flight.number});
  packet.extra_bytes = bytes;
  return packet;
}

void drop_those_over(std::vector<Pending>& sent) {
  std::erase_if(sent, [](Pending& each) { return each.over() && (each.wait(), true); });
}

}  // namespace

StageActors::StageActors(Service& service) : service_(service), world_(service.world()) {
  for (int r = 0; r < service.layout().replicas(); ++r) signals_.push_back(std::make_unique<cluster::Signal>());
}

void StageActors::start() {
  for (int r = 0; r < service_.layout().replicas(); ++r) {
    world_.ranks().start(service_.leader(r, 0), [this, r] { first_stage(r); });
    for (int stage = 1; stage < service_.layout().pipeline; ++stage)
      world_.ranks().start(service_.leader(r, stage), [this, r, stage] { later_stage(r, stage); });
  }
}

void StageActors::start_beside(int rank, std::function<void()> body) {
  world_.ranks().start_side_actor(rank, std::move(body));
}

/// The first ranks of a replica's stages, seen by that of one of them.
Communicator StageActors::leaders(int replica, int stage) const {
  auto ranks = std::make_shared<std::vector<int>>();
  for (int s = 0; s < service_.layout().pipeline; ++s) ranks->push_back(service_.leader(replica, s));
  return {world_, std::move(ranks), stage, 0};
}

void StageActors::first_stage(int replica) {
  const Communicator comm = leaders(replica, 0);
  std::vector<Pending> sent;
  const bool alone = service_.layout().pipeline == 1;
  if (!alone)
    world_.ranks().start_side_actor(service_.leader(replica, 0),
                                    [this, comm = comm.for_side_actor(), replica] { take_tokens(comm, replica); });
  while (!world_.ended()) {
    Flight* const flight = service_.next(replica);
    if (!flight) {
      signal(replica).wait();
      continue;
    }
    const std::int64_t number = flight->number;
    pass(*flight, 0);
    if (alone) {
      service_.finish(number);
      continue;
    }
    drop_those_over(sent);
    sent.push_back(comm.start_send(1, packet_of(*flight, service_.message_bytes(*flight, 0))));
  }
}

/// The replica's first stage takes the tokens that the last one has chosen.
void StageActors::take_tokens(const Communicator& comm, int replica) {
  while (!world_.ended()) {
    const Packet packet = comm.receive(service_.layout().pipeline - 1);
    service_.finish(packet.note<FlightNumber>().number);
    if (!world_.ended()) signal(replica).give();
  }
}

void StageActors::later_stage(int replica, int stage) {
  const Communicator comm = leaders(replica, stage);
  const int next = (stage + 1) % service_.layout().pipeline;
  std::vector<Pending> sent;
  Pending coming = comm.start_receive(stage - 1);
  while (!world_.ended()) {
    const double asked_s = world_.now();
    const Packet packet = coming.wait();
    service_.count_receiving(replica, stage, world_.now() - std::max(asked_s, coming.start_s()));
    coming = comm.start_receive(stage - 1);
    Flight& flight = service_.flight(packet.note<FlightNumber>().number);
    pass(flight, stage);
    drop_those_over(sent);
    sent.push_back(comm.start_send(next, packet_of(flight, service_.message_bytes(flight, stage))));
  }
}

void StageActors::pass(Flight& flight, int stage) {
  const int leader = service_.leader(flight.replica, stage);
  const PassSeconds pass_seconds = service_.pass(flight, stage);
  cluster::ActorState* const actor = &world_.timekeeper().main(leader);
  {
    const cluster::BusyScope computing(service_.cluster(), actor, TimePart::compute_other, {.work = Work::forward});
    cluster::pause(pass_seconds.compute_s);
  }
  const cluster::BusyScope summing(service_.cluster(), actor, TimePart::communicate_transfer,
                                   {.work = Work::allreduce});
  cluster::pause(pass_seconds.exchange_s);
}

}  // namespace simgrad::serving
