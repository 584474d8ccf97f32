/// Counts of a training, beside its curve: gradient samples, stalenesses, notes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/record.h"
#include "training/memory/ledger.h"
#include "training/parts/mesh_time.h"
#include "training/session/gradient_kinds.h"

namespace simgrad::training {

class Tally {
 public:
  /// lockstep: every step is one update by all gradients of the step. Samples count when they are computed then, else
  /// when their gradient is applied.
  explicit Tally(bool lockstep) : lockstep_(lockstep) {}

  void add_computed(std::int64_t samples) { samples_ += lockstep_ ? samples : 0; }
  void add_samples(std::int64_t samples) { samples_ += samples; }
  std::int64_t samples() const { return samples_; }
  /// Counts the application of a worker's gradient, and its age: the updates that were applied to the parameters
  /// between the read at which it was computed and this application.
  void add_staleness(int worker, std::int64_t updates);
  /// Counts an update of a replica by its own rank's gradient, as it is applied there.
  void add_update() { ++updates_; }
  std::int64_t updates() const { return updates_; }
  void set_spectral_gap(double gap) { spectral_gap_ = gap; }
  /// The time of a step as a cost model has it.
  void set_predicted_step(double seconds) { predicted_step_s_ = seconds; }

  /// Counts a step of replicas that synchronise their parameters by blocks.
  void count_blocks(const std::vector<record::BlockUse>& due);

  /// The memory of a rank.
  Ledger& ledger(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (ledgers_.size() <= place) ledgers_.resize(place + 1);
    return ledgers_[place];
  }

  /// The time of a rank that goes to the other ranks of its replica.
  MeshTime& mesh_time(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (mesh_times_.size() <= place) mesh_times_.resize(place + 1);
    return mesh_times_[place];
  }

  GradientKinds& gradient_kinds() { return gradient_kinds_; }

  /// Once, whoever says it again: a worker that begins anew after a crash says what it has said.
  void note(std::string text) {
    if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
  }
  /// Notes an event that may happen thousands of times: the first ten, and at the end the number of the others.
  void note_failure(std::string text);

  /// Ends the counts. A rank that is busy at the end goes on for a moment, but no state has its update.
  void end() { ended_ = true; }
  /// Ranks that were not simulated have what their stand-ins have.  of: by rank.
  void repeat(const std::vector<int>& of);
  /// The record has its ranks already.
  void fill(record::Record& record);

 private:
  void fill_memory(record::Record& record) const;
  void fill_mesh(record::Record& record) const;
  void fill_blocks(record::Record& record) const;

  static constexpr int failures_noted_max = 10;

  bool lockstep_;
  bool ended_ = false;
  std::int64_t samples_ = 0;
  std::int64_t updates_ = 0;
  struct Ages {
    std::int64_t count = 0;
    double sum = 0.0;

    void add(std::int64_t updates) {
      ++count;
      sum += static_cast<double>(updates);
    }
    std::optional<double> mean() const {
      return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
    }
  };
  Ages ages_;
  std::vector<Ages> ages_of_;  ///< by worker; as long as the last one that has any
  decltype(record::Record::staleness_counts) staleness_counts_;
  std::optional<double> staleness_max_;
  std::optional<double> spectral_gap_;
  std::optional<double> predicted_step_s_;
  std::vector<record::BlockUse> blocks_;
  std::int64_t steps_of_blocks_ = 0;
  std::deque<Ledger> ledgers_;       ///< by rank; they stay where they are
  std::deque<MeshTime> mesh_times_;  ///< by rank of a mesh; they stay where they are
  GradientKinds gradient_kinds_;
  std::vector<std::string> notes_;
  int failures_ = 0;
};

}  // namespace simgrad::training
