#include "outputs/report/view.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "outputs/human.h"
#include "outputs/summary.h"

namespace simgrad::outputs::report {
namespace {

std::optional<double> as_number(std::optional<std::int64_t> x) {
  return x ? std::optional(static_cast<double>(*x)) : std::nullopt;
}

std::optional<double> last_distance(const Run& run) {
  return run.record.curve.empty() ? std::nullopt : run.record.curve.back().consensus_distance;
}

std::optional<double> slowest_over_mean(const Run& run) {
  double sum = 0.0;
  double most = 0.0;
  int workers = 0;
  for (const record::RankUse& rank : run.record.ranks) {
    if (rank.role != "worker") continue;
    sum += rank.compute_s;
    most = std::max(most, rank.compute_s);
    ++workers;
  }
  return workers > 1 && sum > 0.0 ? std::optional(most * workers / sum) : std::nullopt;
}

/// Links of all seeds have the same names and order; one that does not is left out of the mean.
std::optional<BusiestLink> busiest(const std::vector<const Run*>& runs) {
  if (runs.empty() || runs.front()->record.links.empty()) return std::nullopt;
  const auto& links = runs.front()->record.links;
  std::vector<double> sums(links.size(), 0.0);
  double n = 0.0;
  for (const Run* run : runs) {
    if (run->record.links.size() != links.size()) continue;
    n += 1.0;
    for (std::size_t k = 0; k < links.size(); ++k) sums[k] += run->record.links[k].utilisation;
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  const double utilisation = sums[most] / n;
  if (!(utilisation >= 0.0)) return std::nullopt;
  return BusiestLink{links[most].link, utilisation, links[most].background_bytes.value_or(0) > 0};
}

void complete(Case& one) {
  const auto& runs = one.runs;
  one.samples =
      mean_of(runs, [](const Run& run) -> std::optional<double> { return static_cast<double>(run.record.samples); });
  one.steps =
      mean_of(runs, [](const Run& run) -> std::optional<double> { return static_cast<double>(run.record.steps); });
  one.staleness = mean_of(runs, [](const Run& run) { return run.record.staleness_mean; });
  one.consensus_distance = mean_of(runs, last_distance);
  one.spectral_gap = mean_of(runs, [](const Run& run) { return run.record.spectral_gap; });
  one.crashes = mean_of(runs, [](const Run& run) { return as_number(run.record.crashes); });
  one.slowest_over_mean = mean_of(runs, slowest_over_mean);
  one.busiest = busiest(runs);
}

}  // namespace

std::string View::named(const Case& one) const {
  const std::string& point = text(one);
  return printable(label(one)) + (points.size() < 2 || point.empty() ? "" : " at " + point);
}

std::vector<const Case*> View::ran() const {
  std::vector<const Case*> found;
  for (const Case& one : cases)
    if (one.ran()) found.push_back(&one);
  return found;
}

View view(const Results& results) {
  View view;
  view.comparison = comparison(results);
  std::map<std::string, std::size_t> strategy_of;
  std::unordered_map<std::string, std::size_t> point_of;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> case_of;
  for (const Row& row : view.comparison.rows) {
    const auto [strategy, is_new] = strategy_of.try_emplace(row.label, view.strategies.size());
    if (is_new) view.strategies.push_back({row.label, ""});
    const auto [point, is_first] = point_of.try_emplace(compact(row.parameters), view.points.size());
    if (is_first) view.points.push_back({point_text(row.parameters), row.workers, row.parameters});
    case_of[{strategy->second, point->second}] = view.cases.size();
    Case& one = view.cases.emplace_back();
    one.strategy = strategy->second;
    one.point = point->second;
    one.workers = row.workers;
    one.row = row;
  }
  for (const Run& run : results.runs) {
    const std::size_t strategy = strategy_of.at(run.label);
    view.strategies[strategy].kind = run.strategy;
    if (run.record.status == record::Status::failed) continue;
    view.cases[case_of.at({strategy, point_of.at(compact(run.parameters))})].runs.push_back(&run);
  }
  for (Case& one : view.cases) {
    complete(one);
    view.has_cost = view.has_cost || one.row.cost_usd;
    view.has_energy = view.has_energy || one.row.energy_j;
  }
  return view;
}

}  // namespace simgrad::outputs::report
