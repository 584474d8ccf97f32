#include "training/session/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgrad::training {

void Tally::add_staleness(int worker, std::int64_t updates) {
  if (ended_) return;
  ++staleness_counts_[updates];
  ages_.add(updates);
  const auto place = static_cast<std::size_t>(worker);
  if (ages_of_.size() <= place) ages_of_.resize(place + 1);
  ages_of_[place].add(updates);
  staleness_max_ = std::max(staleness_max_.value_or(0.0), static_cast<double>(updates));
}

void Tally::note_failure(std::string text) {
  if (++failures_ <= failures_noted_max) notes_.push_back(std::move(text));
}

void Tally::repeat(const std::vector<int>& of) {
  gradient_kinds_.repeat(of);
  if (!mesh_times_.empty()) {
    mesh_times_.resize(of.size());
    for (std::size_t rank = 0; rank < of.size(); ++rank)
      mesh_times_[rank] = MeshTime(mesh_times_[static_cast<std::size_t>(of[rank])]);
  }
  for (int rank = 0; std::cmp_less(rank, of.size()); ++rank)
    if (const int stand_in = of[static_cast<std::size_t>(rank)]; stand_in != rank) {
      const Ledger known = ledger(stand_in);
      ledger(rank) = known;
    }
}

void Tally::fill(record::Record& record) {
  if (const int more = failures_ - failures_noted_max; more > 0)
    note(fmt::format("and {} more crashes and resumptions", more));
  record.notes.insert(record.notes.begin(), notes_.begin(), notes_.end());
  record.staleness_counts = std::move(staleness_counts_);
  record.staleness_max = staleness_max_;
  record.staleness_mean = ages_.mean();
  for (std::size_t worker = 0; worker < std::min(ages_of_.size(), record.ranks.size()); ++worker)
    record.ranks[worker].staleness_mean = ages_of_[worker].mean();
  record.spectral_gap = spectral_gap_;
  record.predicted_step_s = predicted_step_s_;
  fill_memory(record);
  fill_mesh(record);
  fill_blocks(record);
  gradient_kinds_.fill(record);
}

void Tally::fill_memory(record::Record& record) const {
  for (std::size_t rank = 0; rank < std::min(ledgers_.size(), record.ranks.size()); ++rank) {
    const MemoryParts& peak = ledgers_[rank].peak();
    record::RankUse& rank_use = record.ranks[rank];
    rank_use.memory_bytes = peak.sum();
    for (std::size_t k = 0; k < record::memory_parts; ++k) rank_use.memory[k] = peak[static_cast<MemoryPart>(k)];
    record.memory_bytes_max = std::max(record.memory_bytes_max.value_or(0.0), peak.sum());
  }
}

void Tally::count_blocks(const std::vector<record::BlockUse>& due) {
  if (ended_) return;
  ++steps_of_blocks_;
  if (blocks_.size() != due.size()) blocks_ = std::vector<record::BlockUse>(due.size());
  for (std::size_t b = 0; b < due.size(); ++b) {
    const std::int64_t so_far = blocks_[b].synchronisations;
    const std::optional<double> movement = due[b].movement ? due[b].movement : blocks_[b].movement;
    blocks_[b] = due[b];
    blocks_[b].synchronisations += so_far;
    blocks_[b].movement = movement;
  }
}

void Tally::fill_blocks(record::Record& record) const {
  record.blocks = blocks_;
  double all = 0.0, synchronised = 0.0;
  for (record::BlockUse& block : record.blocks) {
    const auto parameters = static_cast<double>(block.parameters), steps = static_cast<double>(steps_of_blocks_);
    const auto times = static_cast<double>(block.synchronisations);
    all += parameters * steps;
    synchronised += parameters * times;
    if (times > 0.0) block.period = steps / times;
  }
  if (all == 0.0) return;
  record.synchronised_share = synchronised / all;
  if (synchronised > 0.0)
    record.bytes_saved = std::round(static_cast<double>(record.bytes) * (all / synchronised - 1.0));
}

void Tally::fill_mesh(record::Record& record) const {
  double bubble_s = 0.0;
  bool has_stages = false;
  for (std::size_t rank = 0; rank < std::min(mesh_times_.size(), record.ranks.size()); ++rank) {
    record.ranks[rank].mesh = mesh_times_[rank].use;
    has_stages = has_stages || mesh_times_[rank].use.bubble_s;
    bubble_s += mesh_times_[rank].use.bubble_s.value_or(0.0);
  }
  if (!has_stages) return;
  record.bubble_s = bubble_s / static_cast<double>(mesh_times_.size());
  if (record.simulated_s > 0.0) record.bubble_share = *record.bubble_s / record.simulated_s;
}

}  // namespace simgrad::training
