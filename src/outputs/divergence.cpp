#include "outputs/divergence.h"

#include <algorithm>
#include <cmath>

namespace simgrad::outputs {

std::optional<std::int64_t> diverged_step(const record::Record& record) {
  if (record.status != record::Status::diverged) return std::nullopt;
  if (record.diverged_step) return record.diverged_step;
  return record.curve.empty() ? record.steps : record.curve.back().step;
}

std::size_t sensible_evaluations(const record::Record& record) {
  const auto& curve = record.curve;
  const auto lost = [](const record::Evaluation& each) { return !each.loss || !std::isfinite(*each.loss); };
  if (std::ranges::all_of(curve, [](const auto& each) { return !each.loss.has_value(); })) return curve.size();
  const auto end = static_cast<std::size_t>(std::ranges::find_if(curve, lost) - curve.begin());
  const auto step = diverged_step(record);
  if (!step) return end;
  // After a recovery a step may have been evaluated twice: its last evaluation counts.
  const auto found = std::find_if(curve.rbegin(), curve.rend(), [&](const auto& each) { return each.step == *step; });
  return found == curve.rend() ? end : std::min(end, static_cast<std::size_t>(curve.rend() - found) - 1);
}

}  // namespace simgrad::outputs
