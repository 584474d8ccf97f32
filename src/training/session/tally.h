/// Counts of a training, beside its curve: gradient samples, stalenesses, notes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/record.h"

namespace simgrad::training {

class Tally {
 public:
  /// lockstep: every step is one update by all gradients of the step. Samples count when they are computed then, else
  /// when their gradient is applied.
  explicit Tally(bool lockstep) : lockstep_(lockstep) {}

  void add_computed(std::int64_t samples) { samples_ += lockstep_ ? samples : 0; }
  void add_samples(std::int64_t samples) { samples_ += samples; }
  std::int64_t samples() const { return samples_; }
  /// Counts a gradient that was computed at the parameters of so many updates ago.
  void add_staleness(std::int64_t updates);
  void set_spectral_gap(double gap) { spectral_gap_ = gap; }

  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// Notes an event that may happen thousands of times: the first ten, and at the end the number of the others.
  void note_failure(std::string text);

  /// Ends the counts. A rank that is busy at the end goes on for a moment, but no state has its update.
  void end() { ended_ = true; }
  void fill(record::Record& record);

 private:
  static constexpr int failures_noted_max = 10;

  bool lockstep_;
  bool ended_ = false;
  std::int64_t samples_ = 0;
  std::int64_t stalenesses_ = 0;
  double staleness_sum_ = 0.0;
  decltype(record::Record::staleness_counts) staleness_counts_;
  std::optional<double> staleness_max_;
  std::optional<double> spectral_gap_;
  std::vector<std::string> notes_;
  int failures_ = 0;
};

}  // namespace simgrad::training
