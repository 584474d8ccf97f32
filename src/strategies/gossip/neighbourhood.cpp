#include "strategies/gossip/neighbourhood.h"

#include <algorithm>
#include <utility>

#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/work_scope.h"
#include "strategies/notes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;

Neighbourhood::Neighbourhood(Worker& worker, std::vector<const MixingRow*> turns)
    : worker_(worker), turns_(std::move(turns)) {
  if (worker.keeps_going()) worker.at_every_step([this](const State& state) { welcome(state); });
}

std::vector<int> Neighbourhood::hosts() const {
  std::vector<int> all;
  for (const MixingRow* turn : turns_) all.insert(all.end(), turn->neighbours.begin(), turn->neighbours.end());
  const auto away = [&](int member) { return member == worker_.rank() || !worker_.at_work(member); };
  std::erase_if(all, away);
  for (int member = 0; all.empty() && member < worker_.comm().size(); ++member)
    if (!away(member)) all.push_back(member);
  return all;
}

State Neighbourhood::start() const {
  if (!worker_.rejoins()) return worker_.start();
  const Communicator& comm = worker_.comm();
  for (;;) {
    const std::vector<int> present = hosts();  // somebody is at work, or all would have started anew
    std::int64_t step = 0;                     // nobody has begun it
    for (const int member : present) step = std::max(step, comm.world().ranks().step(comm.world_rank(member)) + 1);
    worker_.join(step, present.front());
    if (auto packet = comm.start_receive(present.front()).wait_unless_lost())
      return worker_.start_alone(packet->tensor, packet->note<Version>().step);
    comm.world().membership().start_over(
        comm.world_rank(comm.rank()));  // others wait for this rank at a step that it never reaches
  }
}

void Neighbourhood::welcome(const State& state) const {
  const Communicator& comm = worker_.comm();
  for (const int member : worker_.joiners(state.step)) {
    Pending sending = comm.start_send_unless_lost(member, Packet(state.w, Version{state.step}));
    if (sending.under_way()) sending.wait_unless_lost();
  }
}

int Neighbourhood::present(std::span<const int> members, std::int64_t step) const {
  return static_cast<int>(std::ranges::count_if(members, [&](int j) { return worker_.takes_part(j, step); }));
}

const Communicator& Neighbourhood::comm() const { return worker_.comm(); }

Neighbourhood::Exchange Neighbourhood::start(const Communicator& comm, const Packet& x, std::int64_t step,
                                             std::span<const int> sources, std::span<const int> targets) const {
  const cluster::WorkScope work_scope(comm, record::Work::gossip);
  Exchange exchange{.row = &row(step), .sources = {}, .receives = {}, .sends = {}};
  for (const int j : sources)
    if (worker_.takes_part(j, step)) exchange.sources.push_back(j);
  for (const int j : exchange.sources) exchange.receives.push_back(comm.start_receive(j));
  for (const int j : targets)
    if (worker_.takes_part(j, step)) exchange.sends.push_back(comm.start_send(j, x));
  return exchange;
}

std::vector<Packet> Neighbourhood::finish(const Communicator& comm, Exchange exchange) const {
  const cluster::WorkScope work_scope(comm, record::Work::gossip);
  std::vector<Packet> received;
  for (std::size_t i = 0; i < exchange.sources.size(); ++i) {
    auto packet = exchange.receives[i].wait_unless_lost();
    if (!packet) comm.await_detection(exchange.sources[i]);
    received.push_back(packet ? std::move(*packet) : Packet());
  }
  for (Pending& send : exchange.sends) send.wait_unless_lost();
  return received;
}

Tensor Neighbourhood::combine(const Communicator& comm, const Tensor& x, Exchange exchange,
                              std::optional<double> numbers) const {
  const MixingRow& row = *exchange.row;
  const std::vector<int> sources = exchange.sources;
  const std::vector<Packet> received = finish(comm, std::move(exchange));
  if (row.neighbours.empty()) return x;
  std::vector<Tensor> terms;
  std::vector<double> weights;
  const auto add = [&](const Tensor& term, std::size_t place) {
    terms.push_back(term);
    weights.push_back(row.weights[place]);
  };
  // Row i's weights stand in the order of ranks, with i among its neighbours.
  const auto own =
      static_cast<std::size_t>(std::ranges::lower_bound(row.neighbours, worker_.rank()) - row.neighbours.begin());
  std::size_t next = 0;
  for (std::size_t place = 0; place <= row.neighbours.size(); ++place) {
    if (place == own) {
      add(x, place);
      continue;
    }
    const int member = row.neighbours[place < own ? place : place - 1];
    if (next == sources.size() || sources[next] != member) continue;
    if (const Tensor& came = received[next++].tensor) add(came, place);
  }
  comm.charge_reduction(
      (2.0 * static_cast<double>(terms.size() - 1) + 1.0) * numbers.value_or(static_cast<double>(x.size())),
      record::Work::average);
  if (terms.size() <= row.neighbours.size()) normalize(weights);
  return values::weighted_sum(terms, weights);
}

}  // namespace simgrad::strategies
