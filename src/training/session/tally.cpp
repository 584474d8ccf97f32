#include "training/session/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace simgrad::training {

void Tally::add_staleness(std::int64_t updates) {
  if (ended_) return;
  ++stalenesses_;
  ++staleness_counts_[updates];
  staleness_sum_ += static_cast<double>(updates);
  staleness_max_ = std::max(staleness_max_.value_or(0.0), static_cast<double>(updates));
}

void Tally::note_failure(std::string text) {
  if (++failures_ <= failures_noted_max) note(std::move(text));
}

void Tally::fill(record::Record& record) {
  if (const int more = failures_ - failures_noted_max; more > 0)
    note(fmt::format("and {} more crashes and resumptions", more));
  record.notes = std::move(notes_);
  record.staleness_counts = std::move(staleness_counts_);
  record.staleness_max = staleness_max_;
  if (stalenesses_ > 0) record.staleness_mean = staleness_sum_ / static_cast<double>(stalenesses_);
  record.spectral_gap = spectral_gap_;
}

}  // namespace simgrad::training
