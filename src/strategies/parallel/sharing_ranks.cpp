#include "strategies/parallel/sharing_ranks.h"

#include <cmath>

#include "cluster/recording/work_scope.h"
#include "collectives/all_to_all.h"
#include "collectives/ring.h"
#include "training/worker.h"
#include "values/interleaved.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Among;
using training::Dimension;
using Then = models::Step::Then;

Dimension dimension_of(Among among) {
  switch (among) {
    case Among::tensor:
      return Dimension::tensor;
    case Among::context:
      return Dimension::context;
    case Among::expert:
      break;
  }
  return Dimension::expert;
}

Communicator along(const Worker& worker, Dimension dimension) {
  const Communicator everyone = worker.everyone();
  return everyone.subgroup(worker.mesh().group(everyone.rank(), dimension));
}

SharingRanks::SharingRanks(const Worker& worker) {
  for (std::size_t k = 0; k < comms_.size(); ++k)
    if (const Dimension dimension = dimension_of(static_cast<Among>(k)); worker.mesh().size(dimension) > 1)
      comms_[k] = along(worker, dimension);
}

Exchange::Exchange(const models::Step& step, std::int64_t rows) : Exchange(step.then, rows) {
  for (const double width : step.parts) widths_.push_back(std::llround(width));
}

Tensor Exchange::sent(const Tensor& numbers, int members) const {
  return then_ == Then::sum_shard || then_ == Then::all_to_all ? values::transposed(numbers, rows_, members) : numbers;
}

Tensor Exchange::collective(const Communicator& comm, const Tensor& numbers) const {
  const auto with = [&](record::Work work, const auto& does) {
    const cluster::WorkScope work_scope(comm, work);
    return does();
  };
  switch (then_) {
    case Then::sum:
      return collectives::Ring()(comm, numbers);
    case Then::max:
      return collectives::Ring()(comm, numbers, collectives::Reduction::max);
    case Then::gather:
      return with(record::Work::all_gather, [&] {
        std::vector<std::int64_t> lengths = widths_;
        for (std::int64_t& length : lengths) length *= rows_;
        return lengths.empty() ? collectives::all_gather(comm, numbers, numbers.size() * comm.size())
                               : collectives::all_gather(comm, numbers, lengths);
      });
    case Then::sum_shard:
      return with(record::Work::reduce_scatter, [&] { return collectives::reduce_scatter(comm, numbers); });
    case Then::all_to_all:
    case Then::all_to_all_back:
      return with(record::Work::all_to_all, [&] { return collectives::all_to_all(comm, numbers); });
    case Then::nothing:
      break;
  }
  return numbers;
}

Tensor Exchange::received(const Tensor& numbers, int members) const {
  if (then_ == Then::gather && !widths_.empty()) return values::interleaved(numbers, rows_, widths_);
  return then_ == Then::gather || then_ == Then::all_to_all_back ? values::transposed(numbers, members, rows_)
                                                                 : numbers;
}

}  // namespace simgrad::strategies
