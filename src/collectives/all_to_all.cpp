#include "collectives/all_to_all.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/by_rank.h"
#include "base/errors.h"
#include "cluster/recording/work_scope.h"
#include "collectives/timed_schedule.h"
#include "values/shapes.h"

namespace simgrad::collectives {

using values::Combination;
using values::Tensor;

namespace {

/// In round s everybody sends to the member s + 1 to the right and receives from the one as far to the left.
class Pairwise final : public JointSchedule {
 public:
  /// The chunks of what a member brings; back: chunk r is one of P alike that member r brings.
  explicit Pairwise(Split split, bool back = false)
      : JointSchedule(std::move(split)), P_(this->split().chunks()), back_(back) {}

  std::string_view name() const override { return "all_to_all"; }
  std::string signature() const override { return JointSchedule::signature() + (back_ ? " back" : ""); }
  int rounds() const override { return P_ - 1; }
  Exchange exchange(int round, int r) const override {
    const int target = (r + round + 1) % P_, source = (r + P_ - round - 1) % P_;
    return {.target = target, .sent = sent(r, target), .source = source, .received = sent(source, r)};
  }
  std::int64_t largest_input() const override {
    return back_ ? P_ * split().bytes(split().largest()) : split().bytes(split().whole());
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination) const override {
    if (values::are_one_shape(brought)) std::ranges::fill(brought, Tensor(brought.front()));  // P slices, not P^2
    std::vector<Tensor> kept;
    for (int r = 0; r < P_; ++r) {
      std::vector<Tensor> chunks;
      for (int s = 0; s < P_; ++s) chunks.push_back(slice(brought[static_cast<std::size_t>(s)], sent(s, r)));
      kept.push_back(values::concatenate(chunks));
    }
    return kept;
  }
  Tensor by_messages(const cluster::Communicator& comm, Tensor x, Combination) const override {
    base::ByRank<Tensor> chunks(P_);
    chunks[comm.rank()] = slice(x, sent(comm.rank(), comm.rank()));
    for (int round = 0; round < rounds(); ++round) {
      const Exchange now = exchange(round, comm.rank());
      chunks[now.source] = comm.exchange(slice(x, now.sent), now.target, now.source).tensor;
    }
    return values::concatenate(chunks.vector());
  }

 private:
  /// The stretch of what the source brings that goes to the target.
  Stretch sent(int source, int target) const {
    if (!back_) return split().chunk(target);
    const std::int64_t count = split().chunk(source).count;
    return {target * count, count};
  }
  static Tensor slice(const Tensor& x, const Stretch& stretch) {
    return values::slice(x, stretch.first, stretch.count);
  }

  int P_;
  bool back_;
};

/// All members know the lengths of all chunks.
Tensor known_lengths(const cluster::Communicator& comm, const Tensor& vector,
                     const std::function<Split(const Tensor& x)>& split, bool back = false) {
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::all_to_all);
  return run_collective(
      comm, [&] { return std::make_shared<Pairwise>(split(x), back); }, x);
}

}  // namespace

Tensor all_to_all(const cluster::Communicator& comm, const Tensor& x) {
  return known_lengths(comm, x, [&](const Tensor& on_wire) { return Split(Extent(on_wire), comm.size()); });
}

Tensor all_to_all_v(const cluster::Communicator& comm, const Tensor& x, std::span<const std::int64_t> lengths) {
  return known_lengths(comm, x, [&](const Tensor& on_wire) { return Split(lengths, on_wire.wire_format()); });
}

Tensor all_to_all_v_back(const cluster::Communicator& comm, const Tensor& x, std::span<const std::int64_t> lengths) {
  return known_lengths(
      comm, x, [&](const Tensor& on_wire) { return Split(lengths, on_wire.wire_format()); }, true);
}

std::vector<Tensor> all_to_all_v(const cluster::Communicator& comm, const std::vector<Tensor>& parts,
                                 const Extent& even) {
  const int P = comm.size();
  base::check(std::cmp_equal(parts.size(), P), "there is a part for each member");
  const cluster::WorkScope work_scope(comm, record::Work::all_to_all);
  const auto pairs = std::make_shared<const Pairwise>(Split(even, P));
  std::vector<Tensor> received = parts;
  record_call(
      comm, pairs->name(), pairs->largest_input(), [&] { return timing_of(pairs, Combination::add); },
      [&] {
        for (int round = 0; round < pairs->rounds(); ++round) {
          const Exchange now = pairs->exchange(round, comm.rank());
          received[static_cast<std::size_t>(now.source)] =
              comm.exchange(parts[static_cast<std::size_t>(now.target)], now.target, now.source).tensor;
        }
        return Tensor();
      });
  return received;
}

}  // namespace simgrad::collectives
