#include "strategies/servers/key_cache.h"

#include <algorithm>

namespace simgrad::strategies {

using training::SparseBatch;

const KeyCache::Entry* KeyCache::valid(std::uint32_t key, std::int64_t step) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && step - found->second.fetched_at_step <= bound_ ? &found->second : nullptr;
}

Pull KeyCache::plan(std::shared_ptr<const SparseBatch> batch) const {
  Pull pull{.batch = batch, .wanted = batch->rows, .rows = {}, .tables = {}, .fetched_at = {}};
  pull.fetched_at.assign(batch->rows.size(), batch->step);
  if (bound_ == 0 || kept_.empty()) return pull;
  pull.rows.resize(batch->keys.size());
  for (const Kept& kept : kept_) pull.tables.push_back(kept.table);
  const std::int64_t first_step = kept_.front().batch->step;
  for (std::size_t j = 0; j + 1 < batch->firsts.size(); ++j) {
    std::vector<std::uint32_t> wanted;
    const auto first = static_cast<std::size_t>(batch->firsts[j]),
               last = static_cast<std::size_t>(batch->firsts[j + 1]);
    for (std::size_t i = first; i < last; ++i) {
      const Entry* const entry = valid(batch->keys[i], batch->step);
      if (entry) {
        ++pull.cached;
        pull.fetched_at[j] = std::min(pull.fetched_at[j], entry->fetched_at_step);
        pull.rows[i] = {static_cast<int>(entry->batch_step - first_step), entry->place};
      } else {
        pull.rows[i] = {Pull::asked, static_cast<std::uint32_t>(wanted.size())};
        wanted.push_back((*batch->rows[j])[i - first]);
      }
    }
    pull.wanted[j] = std::make_shared<const std::vector<std::uint32_t>>(std::move(wanted));
  }
  return pull;
}

void KeyCache::keep(const Pull& pull, const values::Tensor& table) {
  if (bound_ == 0) return;
  const SparseBatch& batch = *pull.batch;
  for (std::size_t i = 0; i < batch.keys.size(); ++i) {
    Entry& entry = entries_[batch.keys[i]];
    const bool fetched = pull.rows.empty() || pull.rows[i].table == Pull::asked;
    if (fetched) entry.fetched_at_step = batch.step;
    entry.batch_step = batch.step;
    entry.place = static_cast<std::uint32_t>(i);
  }
  kept_.push_back({pull.batch, table});
  // Rows that were fetched at the next batch's step - bound are still good for that batch.
  while (kept_.front().batch->step < batch.step + 1 - bound_) {
    forget(kept_.front());
    kept_.pop_front();
  }
}

void KeyCache::forget(const Kept& kept) {
  for (const std::uint32_t key : kept.batch->keys) {
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.batch_step == kept.batch->step) entries_.erase(found);
  }
}

}  // namespace simgrad::strategies
