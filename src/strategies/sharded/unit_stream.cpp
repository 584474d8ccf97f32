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
  summed_.assign(units_.count(), false);
  added_ = 0;
  const Tensor nothing = values::slice(shard_, 0, 0);  // of units without parameters
  beside_->gathered.assign(units_.count(), nothing);
  beside_->reduced.assign(units_.count(), nothing);
}

void UnitStream::keep_gradients(bool of_all) {
  keeps_ = true;
  if (of_all) kept_bytes_ = kept_gradient_bytes(worker_.learning().parameters());
  worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
}

void UnitStream::make_gradient(std::size_t unit) {
  if (keeps_ && !first_) return;  // it is in memory
  if (!keeps_ && unit >= last_unit_)
    end_sum();  // of the backward pass before, which went from the last unit to the first
  const std::int64_t begins = worker_.learning().units()[unit].begins;
  if (keeps_) kept_bytes_ += kept_gradient_bytes(begins);
  if (keeps_)
    worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
  else
    worker_.memory().hold(MemoryPart::buckets, worker_.number_bytes().gradient * static_cast<double>(begins));
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
  last_unit_ = unit;
  const std::int64_t count = units_[unit].count;
  const bool again = summed_[unit];
  summed_[unit] = true;
  if (again)
    added_ += chunks_[unit].count;
  else
    shard_bytes_ += kept_gradient_bytes(chunks_[unit].count);
  // A sum of all of a gradient takes its place, unless it is added to earlier ones.
  if (keeps_ && options_.group == 1 && earlier_bytes_ == 0.0)
    kept_bytes_ -= kept_gradient_bytes(count);
  else
    reducing_bytes_ =
        keeps_ ? kept_gradient_bytes(count) : worker_.number_bytes().gradient * static_cast<double>(count);
  worker_.memory().raise(MemoryPart::gradients, gradient_bytes());
  const auto keep = [beside = beside_, unit, again](const Tensor& chunk) {
    return beside->reduced[unit] = again ? beside->reduced[unit] + chunk : chunk;
  };
  const auto sum_inside = [beside = beside_, g, rings = options_.rings](const Communicator&) {
    return collectives::sum_shard(*beside->inside, g, rings);
  };
  if (options_.group == worker_.workers()) {
    last_sum_ = stream_.start_collective(sum_inside, keep);
    return;
  }
  stream_.start_collective(sum_inside, [beside = beside_](Tensor chunk) { return beside->shard = std::move(chunk); });
  last_sum_ = stream_.start_collective(
      [beside = beside_, rings = options_.rings](const Communicator&) {
        collectives::Ring ring;
        ring.rings = rings;
        return ring(*beside->across, beside->shard);
      },
      keep);
}

Tensor UnitStream::reduced() {
  stream_.wait_for_all();
  end_sum();
  if (added_ > 0) worker_.charge(static_cast<double>(added_));
  return reduces_ ? values::concatenate(beside_->reduced) : Tensor();
}

}  // namespace simgrad::strategies
