#include "strategies/sharded/unit_stream.h"

#include <algorithm>

#include "collectives/ring.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;

namespace {

std::vector<int> every(int from, int step, int end) {
  std::vector<int> members;
  for (int member = from; member < end; member += step) members.push_back(member);
  return members;
}

}  // namespace

UnitStream::UnitStream(Worker& worker, const Pieces& units, const UnitOptions& options)
    : units_(units),
      options_(options),
      member_(worker.rank() % options.group),
      beside_(std::make_shared<Beside>()),
      stream_(worker.comm()) {
  // Made by the side actor, so that the communicators are its own.
  stream_.start([beside = beside_, group = options.group](const Communicator& comm) {
    const int first = comm.rank() - comm.rank() % group;
    beside->inside = comm.subgroup(every(first, 1, first + group));
    beside->across = comm.subgroup(every(comm.rank() % group, group, comm.size()));
    return Tensor();
  });
}

void UnitStream::begin(const Tensor& shard) {
  shard_ = shard;
  started_ = 0;
  last_sum_ = -1;
  gather_tasks_.assign(2 * units_.count(), -1);
  beside_->gathered.assign(units_.count(), {});
  beside_->reduced.assign(units_.count(), {});
}

void UnitStream::gather(std::size_t pass) {
  const std::size_t u = unit(pass);
  const Stretch chunk = units_.chunk(u, member_);
  gather_tasks_[pass] = stream_.start([beside = beside_, u, own = values::slice(shard_, chunk.first, chunk.count),
                                       count = units_[u].count](const Communicator&) {
    return beside->gathered[u] = collectives::gather_shards(*beside->inside, own, count);
  });
}

void UnitStream::enter(std::size_t pass) {
  const std::size_t end = std::min(pass + static_cast<std::size_t>(options_.limit), 2 * units_.count());
  for (; started_ < end; ++started_)
    if (gathers(started_)) gather(started_);
  if (gather_tasks_[pass] >= 0) stream_.wait_until_over(gather_tasks_[pass]);
}

void UnitStream::reduce(std::size_t unit, const Tensor& g) {
  if (last_sum_ >= 0) stream_.wait_until_over(last_sum_);
  last_sum_ = stream_.start([beside = beside_, unit, g](const Communicator&) {
    const Tensor chunk = collectives::sum_shard(*beside->inside, g);
    return beside->reduced[unit] = collectives::Ring()(*beside->across, chunk);
  });
}

Tensor UnitStream::reduced() {
  stream_.wait_for_all();
  return last_sum_ < 0 ? Tensor() : values::concatenate(beside_->reduced);
}

}  // namespace simgrad::strategies
