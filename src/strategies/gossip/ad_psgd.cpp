#include "strategies/gossip/ad_psgd.h"

#include <map>
#include <utility>

#include "cluster/ranks/membership.h"
#include "cluster/ranks/responder.h"
#include "cluster/ranks/world.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

/// Who has come back asks for parameters, not for an average.
constexpr std::int64_t only_tell = -1;

/// A rank's replica, and how it stands with its neighbours; actors that answer share it.
class AveragingReplica {
 public:
  AveragingReplica(const Worker& worker, const training::Compressor& compressor)
      : world_(worker.comm().world()),
        training_(worker.training()),
        rank_(worker.comm().world_rank(worker.comm().rank())),
        code_(compressor, worker) {}

  State state;

  /// x as it is sent.
  Tensor code(const Communicator& comm) { return code_(comm, state.w); }
  /// The question to a neighbour: a code of x, and how many of its own it was heard to ask.
  Packet question(const Communicator& comm, int peer, const Tensor& code) {
    Talk& talk = with(comm, peer);
    ++talk.asked;
    talk.sent = code;
    return {code, talk.heard};
  }
  /// Its answer was one to a question that crossed that one of its own, or 0; that one may come in after the answer.
  void take_note(const Communicator& comm, int peer, std::int64_t crossed) { with(comm, peer).crossed = crossed; }
  /// Whether a question that crossed the last one to it is still to be heard: another would be taken for the crossed
  /// one.
  bool expects(const Communicator& comm, int peer) {
    const Talk& talk = with(comm, peer);
    return talk.crossed > talk.heard;
  }
  /// In the actor that listens to it.
  std::optional<Packet> answer(const Communicator& beside, int peer, const Packet& asked) {
    if (asked.version == only_tell) return Packet(state.w);
    Talk& talk = with(beside, peer);
    ++talk.heard;
    if (!state.w) return Packet(asked.tensor);  // it has nothing yet: no difference
    // It had not heard the last question to it: the two are one average, in which both are askers.
    if (asked.version < talk.asked) return Packet(talk.sent, talk.asked);
    const Tensor other = code_.decoded(beside, asked.tensor);
    beside.charge_reduction(3.0 * static_cast<double>(other.size()), record::Work::average);
    const Tensor own = code(beside);
    state.w = values::add_scaled(state.w, 0.5, other - values::decoded(own));
    training_.show(rank_, state);
    return Packet(own);
  }
  /// The other's code is in: the half of the way to it from the code that was sent, and so from what x was.
  void meet(const Communicator& comm, const Tensor& sent, const Tensor& answer) {
    const Tensor other = code_.decoded(comm, answer);
    comm.charge_reduction(2.0 * static_cast<double>(other.size()), record::Work::average);
    state.w = values::add_scaled(state.w, 0.5, other - values::decoded(sent));
  }

 private:
  struct Talk {
    std::int64_t asked = 0;
    std::int64_t heard = 0;
    std::int64_t crossed = 0;  ///< which of its questions met the last one to it on the way
    int incarnation = 0;       ///< of the other
    Tensor sent;               ///< with the last question to it
  };
  /// Who has come back counts from the beginning.
  Talk& with(const Communicator& comm, int peer) {
    Talk& talk = talks_[peer];
    const int incarnation = world_.membership().incarnation(comm.world_rank(peer));
    if (talk.incarnation != incarnation) talk = Talk{0, 0, 0, incarnation, {}};
    return talk;
  }

  const cluster::World& world_;
  training::Training& training_;
  int rank_;
  training::Encoder code_;
  std::map<int, Talk> talks_;
};

/// A neighbour that is at work, drawn for this step; nothing if there is none.
std::optional<int> drawn_peer(const Worker& worker, const std::vector<int>& all, std::int64_t step) {
  std::vector<int> present;
  for (const int j : all)
    if (worker.comm().alive(j) && worker.training().active(worker.comm().world_rank(j))) present.push_back(j);
  if (present.empty()) return {};
  base::Stream stream =
      worker.training().stream(base::Purpose::pairs, worker.comm().world_rank(worker.comm().rank()), step);
  return present[stream.below(present.size())];
}

}  // namespace

void AdPsgd::describe(base::Describer& d) {
  describe_graph(d);
  describe_parameter_compression(
      d, "compression", compression,
      "what is sent instead of parameters; both sides move by half of the difference of what was "
      "sent, which keeps the mean");
}

std::optional<Strategy::Unfit> AdPsgd::unfit(const Fit& fit) const {
  if (!graph->directed()) return OnGraph::unfit(fit);
  return Unfit{
      "graph",
      "ad_psgd averages in pairs, but some edges of this graph lead one way only; use one whose edges lead both "
      "ways, or the strategy sgp"};
}

void AdPsgd::operator()(Worker& worker) const {
  const Communicator& comm = worker.comm();
  const int P = worker.workers();
  note_warnings(worker);
  const auto graph_edges = edges(worker);
  if (comm.rank() == 0)
    if (const auto gap = spectral_gap_of_pairs(*graph_edges)) worker.training().set_spectral_gap(*gap);
  const std::vector<int>& neighbours = (*graph_edges)[static_cast<std::size_t>(comm.rank())];
  const auto replica = std::make_shared<AveragingReplica>(worker, *compression);
  const Responder responder(comm, neighbours, [replica](const Communicator& beside, int source, const Packet& asked) {
    return replica->answer(beside, source, asked);
  });
  State& state = replica->state;
  if (!worker.rejoins()) {
    state = worker.start();
  } else {
    const std::int64_t step = worker.training().latest_step();
    Tensor w = worker.start().w;  // where no neighbour lives
    if (const auto from = drawn_peer(worker, neighbours, step)) {
      Pending telling = comm.start_receive(*from);
      Pending asking = responder.start_send(*from, Packet(Tensor(), only_tell));
      if (asking.under_way()) asking.wait_unless_lost();
      if (const auto told = telling.wait_unless_lost(); told && told->tensor) w = told->tensor;
    }
    state = worker.start_alone(w, step);
  }
  while (worker.continues(state)) {
    const Tensor x = state.w;
    const std::int64_t read_at = worker.training().updates();
    Pending asking, answering;
    std::vector<int> open = neighbours;
    std::erase_if(open, [&](int j) { return replica->expects(comm, j); });
    const Tensor sent = open.empty() ? x : replica->code(comm);
    const auto peer = drawn_peer(worker, open, state.step);
    if (peer) {
      answering = comm.start_receive(*peer);
      asking = responder.start_send(*peer, replica->question(comm, *peer, sent));
    }
    const Tensor g = P * worker.gradient(x);
    if (asking.under_way()) asking.wait_unless_lost();
    if (answering.under_way())
      if (const auto answer = answering.wait_unless_lost()) {
        replica->take_note(comm, *peer, answer->version);
        replica->meet(comm, sent, answer->tensor);
      }
    worker.update_alone(state, g);
    worker.count(worker.training().updates() - read_at);
  }
}

}  // namespace simgrad::strategies
