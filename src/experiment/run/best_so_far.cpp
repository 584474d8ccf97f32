#include "experiment/run/best_so_far.h"

#include <fmt/format.h>

#include "outputs/comparison.h"
#include "outputs/seed_means.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::experiment {

std::string run_name(const RunPlan& run) {
  const std::string point = outputs::point_text(run.parameters);
  return outputs::printable(fmt::format("{}{}{}, seed {}", run.label, point.empty() ? "" : ", ", point, run.seed));
}

void BestSoFar::add(const RunPlan& run, const record::Record& record) {
  if (record.status == record::Status::failed || record.status == record::Status::diverged) return;
  if (const auto target_s = record.time_to_target_s) {
    if (to_target_s_ && *to_target_s_ <= *target_s) return;
    to_target_s_ = target_s;
    text_ = fmt::format("{}: {} to the target", run_name(run), outputs::duration(*target_s));
    return;
  }
  const double rate = record.simulated_s > 0.0 ? outputs::samples_seen(record) / record.simulated_s : 0.0;
  if (to_target_s_ || rate <= samples_per_s_) return;
  samples_per_s_ = rate;
  text_ = fmt::format("{}: {} samples per simulated second", run_name(run), outputs::count(rate));
}

}  // namespace simgrad::experiment
