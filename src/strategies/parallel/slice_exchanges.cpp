/// The exchanges of a pass among tensor ranks that keep each other's numbers.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "strategies/parallel/slice_cache.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using record::MemoryPart;
using Then = models::Step::Then;

namespace {

constexpr std::int64_t before_any_step = std::numeric_limits<std::int64_t>::min() / 2;

/// The parts of all ranks, of which this rank's is replaced.  all: (rows x ranks x n).  own: (rows x n).
Tensor with_own_part(const Tensor& all, const Tensor& own, const Communicator& ranks, std::int64_t rows) {
  const Tensor by_rank = values::transposed(all, rows, ranks.size());
  const std::int64_t first = ranks.rank() * own.size(), end = first + own.size();
  const std::array parts{values::slice(by_rank, 0, first), own, values::slice(by_rank, end, by_rank.size() - end)};
  return values::transposed(values::concatenate(parts), ranks.size(), rows);
}

}  // namespace

/// Waits for the next refresh, whose rows replace what was kept of them.
void SliceCache::take_in_next(Kept& kept) {
  const RoundPointer round = std::move(kept.under_way.front());
  kept.under_way.pop_front();
  wait_for(*round);
  for (std::size_t i = 0; i < round->rows.size(); ++i) {
    Kept::Row& row = kept.rows[round->rows[i]];
    if (row.round) worker_.memory().release(MemoryPart::workspace, kept.bytes);
    row = {round, static_cast<std::int64_t>(i)};
  }
}

void SliceCache::drop_too_old(Kept& kept) {
  for (auto at = kept.rows.begin(); at != kept.rows.end();) {
    if (at->second.round->step >= step_ - options_.staleness) {
      ++at;
      continue;
    }
    worker_.memory().release(MemoryPart::workspace, kept.bytes);
    at = kept.rows.erase(at);
  }
}

std::int64_t SliceCache::oldest(const Kept& kept, const std::vector<std::int64_t>& rows) const {
  std::int64_t oldest = step_;
  for (const std::int64_t row : rows) {
    const auto at = kept.rows.find(row);
    oldest = std::min(oldest, at == kept.rows.end() ? before_any_step : at->second.round->step);
  }
  return oldest;
}

Tensor SliceCache::exchanged(const Place& place, Then then, const training::RowSet& rows, const Tensor& numbers) {
  Kept& kept = kept_[place];
  const std::vector<std::int64_t> all = row_numbers(rows);
  if (all.empty()) return numbers;
  while (!kept.under_way.empty() && kept.under_way.front()->all) take_in_next(kept);
  const auto too_old = [&] { return oldest(kept, all) < step_ - options_.staleness; };
  while (!kept.under_way.empty() && too_old()) take_in_next(kept);
  drop_too_old(kept);
  if (refreshes_) {
    kept.under_way.push_back(started(then, all, numbers));
    const int parts = then == Then::gather ? ranks_.size() : 1;
    kept.bytes = static_cast<double>(numbers.size_bytes() * parts) / static_cast<double>(all.size());
    worker_.memory().hold(MemoryPart::workspace, kept.bytes * static_cast<double>(all.size()));
    while (!kept.under_way.empty() && too_old()) take_in_next(kept);
  }
  oldest_ = std::min(oldest_, oldest(kept, all));
  return combined(then, kept, all, numbers);
}

/// The rows' numbers: those of one refresh in this step as they are, else this rank's with the others' as kept.
Tensor SliceCache::combined(Then then, const Kept& kept, const std::vector<std::int64_t>& rows, const Tensor& numbers) {
  const auto place_of = [&](std::size_t i) -> const Kept::Row& { return kept.rows.at(rows[i]); };
  if (const Kept::Row& first = place_of(0); first.round->step == step_ && first.round->rows == rows)
    return first.round->all;
  std::vector<Tensor> pieces;
  for (std::size_t i = 0; i < rows.size();) {
    const Kept::Row& from = place_of(i);
    std::int64_t count = 1;  // successive rows of one refresh
    while (i + static_cast<std::size_t>(count) < rows.size()) {
      const Kept::Row& next = place_of(i + static_cast<std::size_t>(count));
      if (next.round != from.round || next.at != from.at + count) break;
      ++count;
    }
    Round& round = *from.round;
    if (then == Then::sum && !round.others) {
      worker_.charge(static_cast<double>(round.all.size()));
      round.others = round.all - round.own;
    }
    const Tensor& whole = then == Then::sum ? round.others : round.all;
    const std::int64_t a_row = whole.size() / static_cast<std::int64_t>(round.rows.size());
    pieces.push_back(values::slice(whole, from.at * a_row, count * a_row));
    i += static_cast<std::size_t>(count);
  }
  const Tensor others = values::concatenate(pieces);
  if (then == Then::max) return others;  // a shift that all ranks have used for the sums that they keep
  if (then == Then::gather) return with_own_part(others, numbers, ranks_, static_cast<std::int64_t>(rows.size()));
  worker_.charge(static_cast<double>(numbers.size()));
  return numbers + others;
}

}  // namespace simgrad::strategies
