#include "strategies/ad_psgd.h"

#include <utility>

#include "cluster/responder.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

/// Who has come back asks for parameters, not for an average.
constexpr std::int64_t only_tell = -1;

/// The colour of each rank, 0 or 1, such that neighbours differ wherever that is possible.
std::vector<int> colours(const Adjacency& edges) {
  std::vector<int> colour(edges.size(), -1);
  for (std::size_t root = 0; root < edges.size(); ++root) {
    if (colour[root] >= 0) continue;
    std::vector<std::size_t> part{root};
    colour[root] = 0;
    for (std::size_t at = 0; at < part.size(); ++at)
      for (const int j : edges[part[at]])
        if (int& other = colour[static_cast<std::size_t>(j)]; other < 0) {
          other = 1 - colour[part[at]];
          part.push_back(static_cast<std::size_t>(j));
        }
    std::size_t ones = 0;
    for (const std::size_t i : part) ones += static_cast<std::size_t>(colour[i]);
    if (2 * ones > part.size())
      for (const std::size_t i : part) colour[i] = 1 - colour[i];  // the larger asks
  }
  return colour;
}

/// A neighbour that is at work, drawn for this step; nothing if there is none.
std::optional<int> drawn_peer(const Worker& worker, const std::vector<int>& all, std::int64_t step) {
  std::vector<int> present;
  for (const int j : all)
    if (worker.comm().alive(j) && worker.training().active(worker.comm().world_rank(j))) present.push_back(j);
  if (present.empty()) return {};
  base::Stream stream = worker.training().stream(base::Purpose::pairs, worker.comm().world_rank(worker.comm().rank()), step);
  return present[stream.below(present.size())];
}

}  // namespace

Adjacency askers(const Adjacency& edges) {
  const std::vector<int> colour = colours(edges);
  Adjacency asked(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (const int j : edges[i]) {
      const int own = colour[i], other = colour[static_cast<std::size_t>(j)];
      if (own < other || (own == other && static_cast<int>(i) < j)) asked[i].push_back(j);
    }
  return asked;
}

void AdPsgd::describe(base::Describer& d) { describe_graph(d); }

std::optional<Strategy::Unfit> AdPsgd::unfit(const Fit& fit) const {
  if (graph->directed()) return Unfit{"graph", "ad_psgd averages in pairs, but some edges of this graph lead one way only; use "
                                               "one whose edges lead both ways, or the strategy sgp"};
  return OnGraph::unfit(fit);
}

void AdPsgd::operator()(Worker& worker) const {
  const Communicator& comm = worker.comm();
  const int P = worker.workers();
  note_warnings(worker);
  const auto graph_edges = edges(worker);
  const std::vector<int>& neighbours = (*graph_edges)[static_cast<std::size_t>(comm.rank())];
  const std::vector<int> asks = askers(*graph_edges)[static_cast<std::size_t>(comm.rank())];
  const auto state = std::make_shared<State>();  // the actors that answer change it, too, and may live on for a moment
  const Responder responder(comm, neighbours, [state, &training = worker.training(), rank = comm.world_rank(comm.rank())](
                                                  const Communicator& beside, int, const Packet& asked) -> std::optional<Packet> {
    if (asked.version == only_tell) return Packet(state->w);
    if (!state->w) return Packet(asked.tensor);  // it has nothing yet: no difference
    beside.charge_reduction(3.0 * static_cast<double>(asked.tensor.size()));
    const Tensor x = state->w;
    state->w = values::add_scaled(x, 0.5, asked.tensor - x);
    training.show(rank, *state);
    return Packet(x);
  });
  if (!worker.rejoins()) {
    *state = worker.start();
  } else {
    const std::int64_t step = worker.training().latest_step();
    Tensor w = worker.start().w;  // where no neighbour lives
    if (const auto from = drawn_peer(worker, neighbours, step)) {
      Pending telling = comm.start_receive(*from);
      Pending asking = responder.start_send(*from, Packet(Tensor(), only_tell));
      if (asking.under_way()) asking.wait_unless_lost();
      if (const auto told = telling.wait_unless_lost(); told && told->tensor) w = told->tensor;
    }
    *state = worker.start_alone(w, step);
  }
  while (worker.continues(*state)) {
    const Tensor x = state->w;
    const std::int64_t read_at = worker.training().updates();
    Pending asking, answering;
    const auto peer = drawn_peer(worker, asks, state->step);
    if (peer) {
      answering = comm.start_receive(*peer);
      asking = responder.start_send(*peer, Packet(x));
    }
    const Tensor g = P * worker.gradient(x);
    if (peer) {
      if (asking.under_way()) asking.wait_unless_lost();
      if (const auto answer = answering.wait_unless_lost()) {
        comm.charge_reduction(2.0 * static_cast<double>(x.size()));
        state->w = values::add_scaled(state->w, 0.5, answer->tensor - x);
      }
    }
    worker.update_alone(*state, g);
    worker.count(worker.training().updates() - read_at);
  }
}

}  // namespace simgrad::strategies
