#include "strategies/gossip/pair_averages.h"

#include <map>
#include <utility>

#include "cluster/ranks/membership.h"
#include "cluster/ranks/world.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;

namespace {

/// Beside a question: how many questions of the other the asker has heard.
struct Question {
  std::int64_t heard = 0;
};

/// Beside an answer: the number of the question to the asker that crossed its own; 0 if none did.
struct Answer {
  std::int64_t crossed = 0;
};

}  // namespace

class AveragingReplica final : public AsyncReplica {
 public:
  AveragingReplica(const Worker& worker, const training::Compressor& compressor)
      : AsyncReplica(worker), world_(worker.comm().world()), encoder_(compressor, worker) {}

  /// x as it is sent.
  Tensor code(const Communicator& comm) { return encoder_(comm, state.w); }

  Packet question(const Communicator& comm, int peer, const Tensor& code) {
    PeerCounts& counts = with(comm, peer);
    ++counts.asked;
    counts.sent = code;
    return Packet(code, Question{counts.heard});
  }
  /// Whether a question that crossed the last one to the peer is still to be heard: another question would be taken for
  /// the crossed one.
  bool expects_question(const Communicator& comm, int peer) {
    const PeerCounts& counts = with(comm, peer);
    return counts.crossed > counts.heard;
  }
  std::optional<Packet> take(const Communicator& beside, int peer, const Packet& asked) override {
    PeerCounts& counts = with(beside, peer);
    ++counts.heard;
    // The peer has not heard the last question to it: the two are one average, in which both are askers.
    if (asked.note<Question>().heard < counts.asked) return Packet(counts.sent, Answer{counts.asked});
    const Tensor other = encoder_.decoded(beside, asked.tensor);
    beside.charge_reduction(3.0 * static_cast<double>(other.size()), record::Work::average);
    const Tensor own = code(beside);
    state.w = values::add_scaled(state.w, 0.5, other - values::decoded(own));
    changed();
    return Packet(own, Answer());
  }
  /// Without an x there is no difference: the answer is the asker's own.
  std::optional<Packet> take_without_state(const Communicator& beside, int peer, const Packet& asked) override {
    ++with(beside, peer).heard;
    return Packet(asked.tensor, Answer());
  }
  void move_halfway(const Communicator& comm, int peer, const Tensor& sent, const Packet& answer) {
    with(comm, peer).crossed = answer.note<Answer>().crossed;
    const Tensor other = encoder_.decoded(comm, answer.tensor);
    comm.charge_reduction(2.0 * static_cast<double>(other.size()), record::Work::average);
    state.w = values::add_scaled(state.w, 0.5, other - values::decoded(sent));
  }

 private:
  struct PeerCounts {
    std::int64_t asked = 0;
    std::int64_t heard = 0;
    std::int64_t crossed = 0;  ///< the peer's question that crossed the last one to it; it may be heard later
    int incarnation = 0;       ///< the peer's
    Tensor sent;               ///< with the last question to the peer
  };
  /// The counts with a peer; with one that has come back they begin anew.
  PeerCounts& with(const Communicator& comm, int peer) {
    PeerCounts& counts = counts_[peer];
    const int incarnation = world_.membership().incarnation(comm.world_rank(peer));
    if (counts.incarnation != incarnation) counts = PeerCounts{0, 0, 0, incarnation, {}};
    return counts;
  }

  const cluster::World& world_;
  training::Encoder encoder_;
  std::map<int, PeerCounts> counts_;
};

PairAverages::PairAverages(Worker& worker, const std::vector<int>& neighbours, const training::Compressor& compressor)
    : worker_(worker),
      neighbours_(neighbours),
      replica_(std::make_shared<AveragingReplica>(worker, compressor)),
      peers_(
          worker, replica_, neighbours,
          [&] {
            const auto one = drawn(neighbours, worker.latest_step());
            return one ? std::vector<int>{*one} : std::vector<int>();
          },
          AsyncPeers::Rejoin::when_asked) {}

State& PairAverages::state() { return replica_->state; }

std::optional<int> PairAverages::drawn(const std::vector<int>& members, std::int64_t step) const {
  std::vector<int> present;
  for (const int j : members)
    if (worker_.at_work(j)) present.push_back(j);
  if (present.empty()) return {};
  return present[worker_.draws(base::Purpose::pairs, step).below(present.size())];
}

PairAverages::UnderWay PairAverages::start() {
  const Communicator& comm = worker_.comm();
  const State& state = replica_->state;
  std::vector<int> open = neighbours_;
  std::erase_if(open, [&](int j) { return replica_->expects_question(comm, j); });
  if (open.empty()) return {};
  UnderWay average{.peer = {}, .sent = replica_->code(comm), .asking = {}, .answering = {}};
  average.peer = drawn(open, state.step);
  if (!average.peer) return average;
  average.answering = comm.start_receive(*average.peer);
  average.asking = peers_.start_send(*average.peer, replica_->question(comm, *average.peer, average.sent));
  return average;
}

void PairAverages::finish(UnderWay average) {
  if (!average.peer) return;
  if (average.asking.under_way()) average.asking.wait_unless_lost();
  if (const auto answer = average.answering.wait_unless_lost())
    replica_->move_halfway(worker_.comm(), *average.peer, average.sent, *answer);
}

}  // namespace simgrad::strategies
