#include "experiment/run/expert_notes.h"

#include <fmt/format.h>

#include "experiment/plan/numbers_key.h"

namespace simgrad::experiment {

std::string note_on_experts(const RunPlan& run, const record::Record& record) {
  if (!record.dropped_share) return {};
  const Settings& settings = *run.settings;
  if (settings.training.numbers)
    return fmt::format(
        "at the last evaluation {:.3g} % of the tokens' choices of an expert found no room; the busiest expert was "
        "chosen {:.2f} times as often as the mean",
        100.0 * *record.dropped_share, *record.expert_imbalance);
  if (!times_follow_numbers(run)) return {};
  return fmt::format(
      "times assume that the busiest expert is chosen {:.2f} times as often as the mean (expert_skew); in a run with "
      "numbers they follow the router's choices",
      *record.expert_imbalance);
}

}  // namespace simgrad::experiment
