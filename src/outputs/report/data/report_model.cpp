#include "outputs/report/data/report_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "outputs/report/data/phrases.h"
#include "outputs/summary.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

std::optional<double> as_number(std::optional<std::int64_t> x) {
  return x ? std::optional(static_cast<double>(*x)) : std::nullopt;
}

std::optional<double> last_distance(const Run& run) {
  return run.record.curve.empty() ? std::nullopt : run.record.curve.back().consensus_distance;
}

/// Returns the largest and the mean computing time of the workers; nothing with one worker.
std::optional<std::pair<double, double>> slowest_and_mean(const Run& run) {
  double sum = 0.0;
  double most = 0.0;
  int workers = 0;
  for (const record::RankUse& rank : run.record.ranks) {
    if (rank.role != "worker") continue;
    sum += rank.compute_s;
    most = std::max(most, rank.compute_s);
    ++workers;
  }
  return workers > 1 && sum > 0.0 ? std::optional(std::pair(most, sum / workers)) : std::nullopt;
}

std::optional<double> slowest_over_mean(const Run& run) {
  const auto times = slowest_and_mean(run);
  return times ? std::optional(times->first / times->second) : std::nullopt;
}

std::optional<double> slowest_excess(const Run& run) {
  const auto times = slowest_and_mean(run);
  return times ? std::optional(times->first - times->second) : std::nullopt;
}

std::optional<double> skew(const Run& run) {
  if (run.record.collectives.empty()) return std::nullopt;
  double sum = 0.0;
  for (const auto& use : run.record.collectives) sum += static_cast<double>(use.calls) * use.skew_s;
  return sum;
}

std::optional<double> skew_a_call(const Run& run) {
  double calls = 0.0;
  for (const auto& use : run.record.collectives) calls += static_cast<double>(use.calls);
  return calls > 0.0 ? std::optional(*skew(run) / calls) : std::nullopt;
}

/// Returns means over the seeds. Links of all seeds have the same order; a seed with another number of links is left
/// out.
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

/// Returns the load of the busiest full-duplex link over the mean load of all full-duplex links.
double over_mean(const Case& one, const std::vector<double>& used) {
  double sum = 0.0;
  double duplex_links = 0.0;
  for (std::size_t k = 0; k < used.size(); ++k) {
    sum += used[k];
    duplex_links += one.runs.front()->record.links[k].link.ends_with("_UP") ? 1.0 : 0.0;
  }
  return duplex_links > 0.0 && sum > 0.0 ? one.duplex_link->both() * duplex_links / sum : 1.0;
}

void complete(Case& one) {
  const auto& runs = one.runs;
  one.samples = mean_of(runs, [](const Run& run) -> std::optional<double> { return samples_seen(run.record); });
  one.steps =
      mean_of(runs, [](const Run& run) -> std::optional<double> { return static_cast<double>(run.record.steps); });
  one.staleness = mean_of(runs, [](const Run& run) { return run.record.staleness_mean; });
  one.consensus_distance = mean_of(runs, last_distance);
  one.spectral_gap = mean_of(runs, [](const Run& run) { return run.record.spectral_gap; });
  one.crashes = mean_of(runs, [](const Run& run) { return as_number(run.record.crashes); });
  one.recovery_s = mean_of(runs, [](const Run& run) { return run.record.recovery_s; });
  one.lost_s = mean_of(runs, [](const Run& run) { return run.record.lost_s; });
  one.checkpoint_s = mean_of(runs, [](const Run& run) { return run.record.checkpoint_s; });
  one.interference = mean_of(runs, [](const Run& run) { return run.interference; });
  one.slowest_over_mean = mean_of(runs, slowest_over_mean);
  one.slowest_excess_s = mean_of(runs, slowest_excess);
  one.skew_s = mean_of(runs, skew);
  one.skew_a_call_s = mean_of(runs, skew_a_call);
  const std::vector<double> used = utilisations(runs);
  one.busiest = busiest(one, used);
  if (!runs.empty()) one.duplex_link = busiest_full_duplex_link(runs.front()->record, used);
  if (one.duplex_link) one.duplex_link_over_mean = over_mean(one, used);
}

}  // namespace

std::string ReportModel::named(const Case& one) const {
  return printable(label(one)) + (points.size() < 2 ? "" : at_point(points[one.point].parameters));
}

std::vector<const Case*> ReportModel::ran() const {
  std::vector<const Case*> found;
  for (const Case& one : cases)
    if (one.ran()) found.push_back(&one);
  return found;
}

ReportModel report_model(const Results& results) {
  ReportModel model;
  model.comparison = comparison(results);
  std::map<std::string, std::size_t> strategy_of;
  std::unordered_map<std::string, std::size_t> point_of;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> case_of;
  for (const Row& row : model.comparison.rows) {
    const auto [strategy, is_new] = strategy_of.try_emplace(row.label, model.strategies.size());
    if (is_new) model.strategies.push_back({row.label, ""});
    const auto [point, is_first] = point_of.try_emplace(compact(row.parameters), model.points.size());
    if (is_first) model.points.push_back({point_words(row.parameters), row.workers, row.parameters});
    case_of[{strategy->second, point->second}] = model.cases.size();
    Case& one = model.cases.emplace_back();
    one.strategy = strategy->second;
    one.point = point->second;
    one.workers = row.workers;
    one.row = row;
  }
  for (const Run& run : results.runs) {
    const std::size_t strategy = strategy_of.at(run.label);
    model.strategies[strategy].kind = run.strategy;
    if (run.record.status == record::Status::failed) continue;
    model.cases[case_of.at({strategy, point_of.at(compact(run.parameters))})].runs.push_back(&run);
  }
  std::unordered_map<std::string, const Counterfactual*> tried;
  for (const Counterfactual& each : results.counterfactuals) tried.emplace(each.id, &each);
  for (Case& one : model.cases) {
    complete(one);
    for (const Run* run : one.runs)
      if (const auto found = tried.find(run->id); found != tried.end() && !one.counterfactual)
        one.counterfactual = found->second;
    one.conditions = conditions(results.scenario, model.points[one.point].parameters);
    model.has_cost = model.has_cost || one.row.cost_usd;
    model.has_energy = model.has_energy || one.row.energy_j;
  }
  return model;
}

}  // namespace simgrad::outputs::report
