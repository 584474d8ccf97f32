#include "strategies/sharded/unit_stream.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "collectives/ring.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using record::MemoryPart;

namespace {

std::vector<int> every(int from, int step, int end) {
  std::vector<int> members;
  for (int member = from; member < end; member += step) members.push_back(member);
  return members;
}

/// The group of successive members that this one is in.
Communicator group_of(const Communicator& all, int group) {
  const int first = all.rank() - all.rank() % group;
  return all.subgroup(every(first, 1, first + group));
}

}  // namespace

UnitStream::UnitStream(Worker& worker, const Pieces& units, const UnitOptions& options)
    : worker_(worker),
      units_(units),
      options_(options),
      visits_(worker.unit_visits()),
      ends_(visits_.ends_of_gathers(static_cast<std::size_t>(options.limit), options.reshard_after_forward,
                                    worker.learning().units())),
      member_(worker.rank() % options.group),
      chunks_(units.chunks(member_)),
      beside_(std::make_shared<Beside>()),
      stream_(worker.comm()) {
  // Parts of the side actor's communicator, so that they are its own.
  stream_.start_collective([beside = beside_, group = options.group](const Communicator& comm) {
    beside->inside = group_of(comm, group);
    beside->across = comm.subgroup(every(comm.rank() % group, group, comm.size()));
    return Tensor();
  });
}

Communicator UnitStream::sharers(const Communicator& all) const { return group_of(all, options_.group); }

void UnitStream::begin(const Tensor& shard, bool first) {
  shard_ = shard;
  first_ = first;
  if (first) kept_bytes_ = 0.0;
  earlier_bytes_ = first ? 0.0 : std::max(earlier_bytes_, shard_bytes_);
  entered_ = started_ = 0;
  last_sum_ = -1;
  reduces_ = false;
  shard_bytes_ = reducing_bytes_ = 0.0;
  gather_tasks_.assign(visits_.count(), -1);
  latest_visit_.assign(units_.count(), 0);
  const Tensor nothing = values::slice(shard_, 0, 0);  // of units without parameters
  beside_->gathered.assign(units_.count(), nothing);
  beside_->reduced.assign(units_.count(), nothing);
}

void UnitStream::enter(std::size_t unit) {
  const std::size_t visit = entered_++;
  base::check(visits_[visit] == unit, "units are visited in the order that was told");
  latest_visit_[unit] = visit;
  for (; started_ < ends_[visit]; ++started_)
    if (gathers(started_)) gather(started_);
  if (gather_tasks_[visit] >= 0) stream_.wait_until_over(gather_tasks_[visit]);
}

void UnitStream::leave(std::size_t unit) {
  const bool stays = !options_.reshard_after_forward && !visits_.last(latest_visit_[unit]);
  if (!stays && options_.group > 1)
    worker_.memory().release(MemoryPart::gathered, parameter_bytes(numbers(latest_visit_[unit])));
}

void UnitStream::keep_gradients(bool of_all) {
  keeps_ = true;
  if (of_all) kept_bytes_ = worker_.number_bytes().gradient * static_cast<double>(worker_.learning().parameters());
  worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
}

void UnitStream::make_gradient(std::size_t unit) {
  if (keeps_ && !first_) return;  // it is in memory
  const std::int64_t begins = worker_.learning().units()[unit].begins;
  const double bytes = worker_.number_bytes().gradient * static_cast<double>(begins);
  if (keeps_) kept_bytes_ += bytes;
  if (keeps_)
    worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
  else
    worker_.memory().hold(MemoryPart::buckets, bytes);
}

/// Blocks until the last sum is done. The gradient that went into it is free then.
void UnitStream::end_sum() {
  if (last_sum_ >= 0) stream_.wait_until_over(last_sum_);
  const double summed = std::exchange(reducing_bytes_, 0.0);
  if (keeps_) kept_bytes_ -= summed;
  worker_.memory().release(keeps_ ? MemoryPart::gradients : MemoryPart::buckets, summed);
}

void UnitStream::reduce(std::size_t unit, const Tensor& g) {
  reduces_ = true;
  if (g.size() == 0) return;
  end_sum();
  const double a_number = worker_.number_bytes().gradient;
  const double unit_bytes = a_number * static_cast<double>(units_[unit].count);
  shard_bytes_ += a_number * static_cast<double>(chunks_[unit].count);
  // A sum of all of a gradient takes its place, unless it is added to earlier ones.
  if (keeps_ && options_.group == 1 && earlier_bytes_ == 0.0)
    kept_bytes_ -= unit_bytes;
  else
    reducing_bytes_ = unit_bytes;
  worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
  const auto keep = [beside = beside_, unit](Tensor chunk) { return beside->reduced[unit] = std::move(chunk); };
  last_sum_ =
      stream_.start_collective([beside = beside_, g, rings = options_.rings](
                                   const Communicator&) { return collectives::sum_shard(*beside->inside, g, rings); },
                               keep);
  if (options_.group == worker_.workers()) return;
  last_sum_ = stream_.start_collective(
      [beside = beside_, unit, rings = options_.rings](const Communicator&) {
        collectives::Ring ring;
        ring.rings = rings;
        return ring(*beside->across, beside->reduced[unit]);
      },
      keep);
}

Tensor UnitStream::reduced() {
  stream_.wait_for_all();
  end_sum();
  return reduces_ ? values::concatenate(beside_->reduced) : Tensor();
}

}  // namespace simgrad::strategies
