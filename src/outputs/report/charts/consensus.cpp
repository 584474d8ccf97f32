/// The consensus chart: the distance of the replicas from their mean.
#include <algorithm>

#include "outputs/report/charts/curves.h"
#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

/// Returns the largest distance during training, as a mean over the seeds.
std::optional<double> peak(const Case& one) {
  return mean_of(one.runs, [](const Run& run) {
    std::optional<double> most;
    for (const auto& each : run.record.curve)
      if (each.consensus_distance) most = std::max(most.value_or(0.0), *each.consensus_distance);
    return most;
  });
}

/// Returns "0.2 in gossip (spectral gap 0.19)".
std::string final_distance(const ReportModel& model, const Case& one) {
  std::string text = tr("{} in {}", number_text(*one.consensus_distance), model.named(one));
  if (one.spectral_gap) text += tr(" (spectral gap {})", number_text(*one.spectral_gap));
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
    else
      together.push_back(model.named(*one));
  }
  if (apart.empty()) return std::nullopt;
  std::ranges::stable_sort(apart, {}, [](const Case* one) { return -*one->consensus_distance; });
  const Case& most = *apart.front();
  chart.about = subject_of(most);
  chart.sentence = tr("Distance of the replicas from their mean at the end: {}", final_distance(model, most));
  const bool alike =
      apart.size() > 1 && number_text(*apart.back()->consensus_distance) == number_text(*most.consensus_distance);
  if (alike && together.empty()) {
    chart.sentence += tr(", and the same in every other case");
  } else if (apart.size() > 1 && !alike) {
    const Case& least = *apart.back();
    chart.sentence += tr(", the largest, and {}, the smallest", final_distance(model, least));
    if (most.spectral_gap && least.spectral_gap && *most.spectral_gap < *least.spectral_gap)
      chart.sentence += tr(", on a graph that mixes faster");
  }
  double largest = 0.0;
  for (const Case* one : apart) largest = std::max(largest, *peak(*one));
  chart.sentence += tr(". The largest distance during training was {}.", number_text(largest));
  if (!together.empty()) chart.sentence += tr(" In {} the replicas are always equal.", listed(together));
  return chart;
}

}  // namespace simgrad::outputs::report
