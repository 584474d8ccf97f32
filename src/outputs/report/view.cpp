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

/// Means over the seeds; links of all seeds have the same names and order, and one that does not is left out.
std::vector<double> utilisations(const std::vector<const Run*>& runs) {
  if (runs.empty()) return {};
  std::vector<double> sums(runs.front()->record.links.size(), 0.0);
  double n = 0.0;
  for (const Run* run : runs) {
    if (run->record.links.size() != sums.size()) continue;
    n += 1.0;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += run->record.links[k].utilisation;
  }
  for (double& sum : sums) sum /= n;
  return sums;
}

std::optional<BusiestLink> busiest(const Case& one, const std::vector<double>& used) {
  if (used.empty()) return std::nullopt;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(used) - used.begin());
  if (!(used[most] >= 0.0)) return std::nullopt;
  const record::LinkUse& link = one.runs.front()->record.links[most];
  return BusiestLink{link.link, used[most], link.background_bytes.value_or(0) > 0};
}

/// Where the load is even, both directions work at the same time, and their sum says nothing.
std::optional<HotLink> hot(const Case& one, const std::vector<double>& used) {
  constexpr double much_more = 1.5;
  std::map<std::string, HotLink> pairs;
  for (std::size_t k = 0; k < used.size(); ++k) {
    const std::string& name = one.runs.front()->record.links[k].link;
    const bool up = name.ends_with("_UP");
    if (!up && !name.ends_with("_DOWN")) continue;
    const std::string stem = name.substr(0, name.rfind('_'));
    HotLink& link = pairs[stem];
    link.name = stem;
    (up ? link.up : link.down) = used[k];
  }
  const HotLink* most = nullptr;
  double sum = 0.0;
  for (const auto& [stem, link] : pairs) {
    sum += link.up + link.down;
    if (!most || link.up + link.down > most->up + most->down) most = &link;
  }
  if (!most || !((most->up + most->down) * static_cast<double>(pairs.size()) >= much_more * sum)) return std::nullopt;
  return *most;
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
  const std::vector<double> used = utilisations(runs);
  one.busiest = busiest(one, used);
  one.hot = hot(one, used);
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
    one.beside_jobs = results.scenario.contains("job");
    view.has_cost = view.has_cost || one.row.cost_usd;
    view.has_energy = view.has_energy || one.row.energy_j;
  }
  return view;
}

}  // namespace simgrad::outputs::report
