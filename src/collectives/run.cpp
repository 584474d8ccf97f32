#include "collectives/run.h"

#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "collectives/lengths.h"

namespace simgrad::collectives {

using cluster::Packet;
using cluster::Pending;
using values::Tensor;

namespace {

/// A vector of which a member holds parts, each as it was brought, received or combined.
class Parts {
 public:
  Parts(Stretch stretch, Tensor x) {
    if (x) empty_ = values::slice(x, 0, 0);
    if (stretch.count > 0) parts_.emplace(stretch.first, std::move(x));
  }

  /// All of the stretch, which the member holds.
  Tensor take(Stretch wanted) {
    if (wanted.count == 0) return empty_;
    std::vector<Tensor> found;
    auto at = std::prev(parts_.upper_bound(wanted.first));
    for (std::int64_t first = wanted.first; first < wanted.end(); ++at) {
      base::check(at != parts_.end() && at->first <= first, "a collective sends what a member does not have");
      const std::int64_t skipped = first - at->first;
      const std::int64_t count = std::min(at->second.size() - skipped, wanted.end() - first);
      found.push_back(values::slice(at->second, skipped, count));
      first += count;
    }
    return values::concatenate(found);
  }

  void put(Stretch place, Tensor x) {
    if (!empty_ && x) empty_ = values::slice(x, 0, 0);
    if (place.count == 0) return;
    cut(place.first);
    cut(place.end());
    parts_.erase(parts_.lower_bound(place.first), parts_.lower_bound(place.end()));
    parts_.emplace(place.first, std::move(x));
  }

 private:
  /// Makes a part begin at `first`, if one lies across it.
  void cut(std::int64_t first) {
    auto across = parts_.lower_bound(first);
    if (across == parts_.begin()) return;
    --across;
    const std::int64_t before = first - across->first;
    if (before >= across->second.size()) return;
    parts_.emplace(first, values::slice(across->second, before, across->second.size() - before));
    across->second = values::slice(across->second, 0, before);
  }

  std::map<std::int64_t, Tensor> parts_;  ///< by first element
  Tensor empty_;                          ///< for stretches of no length
};

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
  if (is_length_alone(x.tensor) && x.tensor.size() == schedule.split().length()) {
    Stretches stretches;
    for (int round = 0; round < rounds; ++round)
      go(
          comm, schedule.exchange(round, comm.rank()), x.attached,
          [&](Stretch sent) { return stretches.take(x.tensor, sent); }, [](const Exchange&, const Packet&) {});
    return Packet(stretches.take(x.tensor, schedule.keeps(comm.rank())), x.attached);
  }
  Parts parts(schedule.brings(comm.rank()), std::exchange(x.tensor, Tensor()));
  for (int round = 0; round < rounds; ++round)
    go(
        comm, schedule.exchange(round, comm.rank()), x.attached, [&](Stretch sent) { return parts.take(sent); },
        [&](const Exchange& exchange, Packet received) {
          if (!exchange.reduce) x.attached = received.attached;
          parts.put(exchange.received, exchange.reduce
                                           ? values::combine(how, received.tensor, parts.take(exchange.received))
                                           : received.tensor);
        });
  return Packet(parts.take(schedule.keeps(comm.rank())), x.attached);
}

}  // namespace simgrad::collectives
