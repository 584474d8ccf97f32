#include "strategies/parallel/slice_cache.h"

#include <algorithm>
#include <utility>

#include "collectives/ring.h"
#include "training/parts/along_scope.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using record::MemoryPart;
using training::AlongScope;
using training::Dimension;
using Then = models::Step::Then;

SliceCache::SliceCache(const Worker& worker, const Communicator& ranks, const SliceOptions& options)
    : worker_(worker),
      ranks_(ranks),
      options_(options),
      own_channels_(ranks.on_own_channels()),
      stream_(own_channels_) {}

std::vector<std::int64_t> SliceCache::row_numbers(const training::RowSet& rows) {
  if (!rows.indices.empty()) return rows.indices;
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows.count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = rows.first + static_cast<std::int64_t>(i);
  return all;
}

void SliceCache::begin(std::int64_t step, const training::RowSet& rows) {
  const std::vector<std::int64_t> all = row_numbers(rows);
  step_ = oldest_ = step;
  refreshes_ = step % options_.refresh_every == 0 || std::ranges::any_of(all, [this](std::int64_t row) {
                 const auto known = refreshed_.find(row);
                 return known == refreshed_.end() || known->second < step_ - options_.staleness;
               });
  if (!refreshes_) return;
  for (const std::int64_t row : all) refreshed_[row] = step;
}

void SliceCache::end() { worker_.count_staleness(step_ - oldest_); }

/// A refresh that goes on beside the passes, or is over where it must not come late.
SliceCache::RoundPointer SliceCache::started(Then then, std::vector<std::int64_t> rows, const Tensor& numbers) {
  auto round = std::make_shared<Round>();
  round->step = step_;
  round->own = numbers;
  const Exchange exchange(then, static_cast<std::int64_t>(rows.size()));
  round->rows = std::move(rows);
  if (!late()) {
    const AlongScope timed(worker_.mesh_time(), ranks_, Dimension::tensor);
    round->all = exchange(ranks_, numbers);
    return round;
  }
  round->task =
      stream_.start_collective([exchange, sent = exchange.sent(numbers, ranks_.size())](
                                   const Communicator& of_side) { return exchange.collective(of_side, sent); },
                               [round, exchange, members = ranks_.size()](const Tensor& received) {
                                 round->all = exchange.received(received, members);
                                 return Tensor();
                               });
  return round;
}

void SliceCache::wait_for(const Round& round) {
  if (round.all) return;
  const AlongScope timed(worker_.mesh_time(), ranks_, Dimension::tensor);
  stream_.wait_until_over(round.task);
}

Tensor SliceCache::agreed(const Place& place, const Tensor& g) {
  std::deque<RoundPointer>& rounds = agreed_[place];
  if (refreshes_) {
    auto round = std::make_shared<Round>();
    round->step = step_;
    if (late())
      round->task =
          stream_.start_collective([g](const Communicator& of_side) { return collectives::Ring()(of_side, g); },
                                   [round, members = ranks_.size()](const Tensor& sum) {
                                     round->all = (1.0 / members) * sum;
                                     return Tensor();
                                   });
    else
      round->all = g;  // all ranks have computed it of the same numbers
    rounds.push_back(std::move(round));
    worker_.memory().hold(MemoryPart::workspace, worker_.number_bytes().gradient * static_cast<double>(g.size()));
  }
  while (rounds.size() > 1 && rounds[1]->step <= step_ - options_.slack()) {
    rounds.pop_front();
    worker_.memory().release(MemoryPart::workspace, worker_.number_bytes().gradient * static_cast<double>(g.size()));
  }
  Round& round = *rounds.front();
  wait_for(round);
  if (late() && std::exchange(round.read, 1) == 0) worker_.charge(static_cast<double>(g.size()), record::Work::average);
  oldest_ = std::min(oldest_, round.step);
  return round.all;
}

}  // namespace simgrad::strategies
