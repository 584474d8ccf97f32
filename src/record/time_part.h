/// The parts of a rank's time: each activity by its work, and waiting by its cause.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "record/timeline.h"

namespace simgrad::record {

/// In the order of the activities; the parts of an activity add up to it.
enum class TimePart : unsigned char {
  compute_gradient,        ///< gradients, forward and backward passes, assignments
  compute_reduction,       ///< sums and averages
  compute_update,          ///< updates of parameters
  compute_encoding,        ///< compression
  compute_other,           ///< a strategy's own work
  communicate_transfer,    ///< messages between ranks
  communicate_input,       ///< reading rows of the training data
  communicate_storage,     ///< reading and writing a strategy's intermediate results
  communicate_checkpoint,  ///< writing and reading checkpoints
  wait_gradient,           ///< the awaited worker computes a gradient
  wait_worker,             ///< the awaited worker computes something else: sums, updates, codes
  wait_server,             ///< the awaited server computes
  wait_transfer,           ///< the awaited rank sends to or receives from others
  wait_turn,               ///< another job has the hosts (gang schedule)
  wait_storage,            ///< the awaited rank reads or writes
  wait_checkpoint,         ///< the awaited rank writes a checkpoint
  wait_recovery,           ///< a rank is down, or ranks start again
  wait_other,              ///< nothing is awaited, or nothing is known of it
  down,
  count
};
inline constexpr auto time_parts = static_cast<std::size_t>(TimePart::count);

/// Seconds by part.
class TimeParts {
 public:
  double operator[](TimePart part) const { return seconds_[static_cast<std::size_t>(part)]; }
  double& operator[](TimePart part) { return seconds_[static_cast<std::size_t>(part)]; }
  /// Seconds of all parts of an activity.
  double sum(Activity activity) const;

  TimeParts operator-(const TimeParts& other) const {
    TimeParts difference = *this;
    for (std::size_t k = 0; k < seconds_.size(); ++k) difference.seconds_[k] -= other.seconds_[k];
    return difference;
  }
  TimeParts& operator+=(const TimeParts& other) {
    for (std::size_t k = 0; k < seconds_.size(); ++k) seconds_[k] += other.seconds_[k];
    return *this;
  }
  friend bool operator==(const TimeParts&, const TimeParts&) = default;

 private:
  std::array<double, time_parts> seconds_{};
};

/// "compute_gradient_s"
std::string_view field_name(TimePart part);
/// The activity that the part belongs to.
Activity activity_of(TimePart part);
/// The first part of an activity.
TimePart first_part(Activity activity);
/// Seconds that a storage takes: input, intermediate results and checkpoints.
double storage_s(const TimeParts& parts);
/// The longest part of waiting; wait_other if there is none.
TimePart longest_wait(const TimeParts& parts);

}  // namespace simgrad::record
