/// How far the replicas are from their mean.
#include <fmt/format.h>

#include <algorithm>

#include "outputs/report/charts/curves.h"
#include "outputs/report/sentences/phrases.h"

namespace simgrad::outputs::report {
namespace {

/// The largest distance of the curve, a mean over seeds of each one's largest.
std::optional<double> peak(const Case& one) {
  return mean_of(one.runs, [](const Run& run) {
    std::optional<double> most;
    for (const auto& each : run.record.curve)
      if (each.consensus_distance) most = std::max(most.value_or(0.0), *each.consensus_distance);
    return most;
  });
}

std::string part(const ReportModel& model, const Case& one) {
  std::string text = fmt::format("{:.3g} in {}", *one.consensus_distance, model.named(one));
  if (one.spectral_gap) text += fmt::format(" (spectral gap {:.3g})", *one.spectral_gap);
  return text;
}

}  // namespace

std::optional<Chart> consensus(const ReportModel& model) {
  std::vector<const Case*> apart;
  std::vector<std::string> together;
  Chart chart;
  chart.table.columns = {{"strategy"}, {"parameters"}, {"largest distance"}, {"distance at the end"}, {"spectral gap"}};
  for (const Case* one : model.ran()) {
    const auto most = peak(*one);
    if (!most || !one->consensus_distance) continue;
    chart.table.rows.push_back({model.label(*one), model.text(*one), most, one->consensus_distance, one->spectral_gap});
    if (*most > 0.0)
      apart.push_back(one);
    else if (std::ranges::find(together, model.label(*one)) == together.end())
      together.push_back(model.label(*one));
  }
  if (apart.empty()) return std::nullopt;
  std::ranges::stable_sort(apart, {}, [](const Case* one) { return -*one->consensus_distance; });
  const Case& most = *apart.front();
  chart.sentence = "At the end the replicas are " + part(model, most) + " from their mean";
  if (apart.size() > 1 &&
      fmt::format("{:.3g}", *apart.back()->consensus_distance) == fmt::format("{:.3g}", *most.consensus_distance)) {
    chart.sentence += ", and as far in every other case";
  } else if (apart.size() > 1) {
    const Case& least = *apart.back();
    chart.sentence += ", the most, and " + part(model, least) + ", the least";
    if (most.spectral_gap && least.spectral_gap && *most.spectral_gap < *least.spectral_gap)
      chart.sentence += ", whose graph mixes faster";
  }
  chart.sentence += fmt::format("; the largest distance on the way was {:.3g}.", *peak(most));
  if (!together.empty()) chart.sentence += fmt::format(" In {} the replicas never differ.", listed(together));
  return chart;
}

}  // namespace simgrad::outputs::report
