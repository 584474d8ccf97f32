#include "collectives/all_to_all.h"

#include <algorithm>
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
  Pairwise(const Extent& x, int P) : JointSchedule(Split(x, P)), P_(P) {}

  std::string_view name() const override { return "all_to_all"; }
  int rounds() const override { return P_ - 1; }
  Exchange exchange(int round, int r) const override {
    const int target = (r + round + 1) % P_;
    return {.target = target,
            .sent = split().chunk(target),
            .source = (r + P_ - round - 1) % P_,
            .received = split().chunk(r)};
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination) const override {
    if (values::are_one_shape(brought)) std::ranges::fill(brought, Tensor(brought.front()));  // P slices, not P^2
    std::vector<Tensor> kept;
    for (int r = 0; r < P_; ++r) {
      std::vector<Tensor> chunks;
      for (const Tensor& x : brought) chunks.push_back(slice(x, r));
      kept.push_back(values::concatenate(chunks));
    }
    return kept;
  }
  Tensor by_messages(const cluster::Communicator& comm, Tensor x, Combination) const override {
    base::ByRank<Tensor> chunks(P_);
    chunks[comm.rank()] = slice(x, comm.rank());
    for (int round = 0; round < rounds(); ++round) {
      const Exchange now = exchange(round, comm.rank());
      chunks[now.source] = comm.exchange(slice(x, now.target), now.target, now.source).tensor;
    }
    return values::concatenate(chunks.vector());
  }

 private:
  Tensor slice(const Tensor& x, int k) const {
    return values::slice(x, split().chunk(k).first, split().chunk(k).count);
  }

  int P_;
};

}  // namespace

Tensor all_to_all(const cluster::Communicator& comm, const Tensor& vector) {
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::all_to_all);
  return run_collective(
      comm, [&] { return std::make_shared<Pairwise>(Extent(x), comm.size()); }, x);
}

std::vector<Tensor> all_to_all_v(const cluster::Communicator& comm, const std::vector<Tensor>& parts,
                                 const Extent& even) {
  const int P = comm.size();
  base::check(std::cmp_equal(parts.size(), P), "there is a part for each member");
  const cluster::WorkScope work_scope(comm, record::Work::all_to_all);
  const auto pairs = std::make_shared<const Pairwise>(even, P);
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
