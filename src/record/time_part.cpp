#include "record/time_part.h"

#include <algorithm>

namespace simgrad::record {

double TimeParts::sum(Activity activity) const {
  double sum = 0.0;
  for (auto at = static_cast<std::size_t>(first_part(activity));
       at < time_parts && activity_of(static_cast<TimePart>(at)) == activity; ++at)
    sum += seconds_[at];
  return sum;
}

std::string_view field_name(TimePart part) {
  static constexpr std::array<std::string_view, time_parts> names{"compute_gradient_s",
                                                                  "compute_reduction_s",
                                                                  "compute_update_s",
                                                                  "compute_encoding_s",
                                                                  "compute_other_s",
                                                                  "communicate_transfer_s",
                                                                  "communicate_input_s",
                                                                  "communicate_storage_s",
                                                                  "communicate_checkpoint_s",
                                                                  "wait_gradient_s",
                                                                  "wait_worker_s",
                                                                  "wait_server_s",
                                                                  "wait_transfer_s",
                                                                  "wait_turn_s",
                                                                  "wait_storage_s",
                                                                  "wait_checkpoint_s",
                                                                  "wait_recovery_s",
                                                                  "wait_other_s",
                                                                  "down_s"};
  return names.at(static_cast<std::size_t>(part));
}

Activity activity_of(TimePart part) {
  if (part < TimePart::communicate_transfer) return Activity::compute;
  if (part < TimePart::wait_gradient) return Activity::communicate;
  return part < TimePart::down ? Activity::wait : Activity::down;
}

TimePart first_part(Activity activity) {
  static constexpr std::array<TimePart, 4> firsts{TimePart::compute_gradient, TimePart::communicate_transfer,
                                                  TimePart::wait_gradient, TimePart::down};
  return firsts.at(static_cast<std::size_t>(activity));
}

double storage_s(const TimeParts& parts) {
  return parts[TimePart::communicate_input] + parts[TimePart::communicate_storage] +
         parts[TimePart::communicate_checkpoint];
}

TimePart longest_wait(const TimeParts& parts) {
  TimePart longest = TimePart::wait_other;
  for (auto k = static_cast<std::size_t>(TimePart::wait_gradient); k < static_cast<std::size_t>(TimePart::down); ++k)
    if (const auto part = static_cast<TimePart>(k); parts[part] > std::max(parts[longest], 0.0)) longest = part;
  return longest;
}

}  // namespace simgrad::record
