#include "outputs/mean_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace simgrad::outputs {
namespace {

/// The evaluations of a run by step; of a step that is done again after a crash the first one.
struct Curve {
  std::map<std::int64_t, CurvePoint> points;
  bool diverges = false;

  explicit Curve(const Run& run) {
    for (const record::Evaluation& each : run.record.curve) {
      diverges = !each.loss || !std::isfinite(*each.loss);
      if (diverges) break;
      points.try_emplace(each.step, CurvePoint{each.simulated_s, *each.loss});
    }
    diverges = diverges || run.record.status == record::Status::diverged;
  }

  std::optional<CurvePoint> at(std::int64_t step) const {
    if (const auto found = points.find(step); found != points.end()) return found->second;
    const bool ended = !points.empty() && step > points.rbegin()->first && !diverges;
    return ended ? std::optional(points.rbegin()->second) : std::nullopt;
  }
};

}  // namespace

std::vector<CurvePoint> mean_curve(const std::vector<const Run*>& runs) {
  std::vector<CurvePoint> means;
  if (runs.size() == 1) {
    for (const record::Evaluation& each : runs.front()->record.curve) {
      if (!each.loss || !std::isfinite(*each.loss)) break;
      means.push_back({each.simulated_s, *each.loss});
    }
    return means;
  }
  std::vector<Curve> curves;
  std::set<std::int64_t> steps;
  for (const Run* run : runs) {
    curves.emplace_back(*run);
    for (const auto& [step, point] : curves.back().points) steps.insert(step);
  }
  const auto n = static_cast<double>(runs.size());
  for (const std::int64_t step : steps) {
    CurvePoint mean;
    const bool all = std::ranges::all_of(curves, [&](const Curve& curve) {
      const auto point = curve.at(step);
      if (point) mean = {mean.simulated_s + point->simulated_s / n, mean.loss + point->loss / n};
      return point.has_value();
    });
    if (all) means.push_back(mean);
  }
  return means;
}

}  // namespace simgrad::outputs
