#include "experiment/run/baseline_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "base/version.h"
#include "experiment/plan/identity.h"
#include "outputs/comparison.h"

namespace simgrad::experiment {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

bool same_number(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b);
}

std::string value_text(std::optional<double> value, bool all_digits) {
  if (!value) return "none";
  return all_digits ? fmt::format("{}", *value) : fmt::format("{:.6g}", *value);
}

/// The stored simulated_s of the run, by which parts of the time are measured.
double whole_time(const StoredRun& run) {
  const auto metrics = stored_metrics();
  const auto at = std::ranges::find(metrics, "simulated_s", &StoredMetric::name);
  return run.metrics[static_cast<std::size_t>(at - metrics.begin())].value_or(0.0);
}

double relative_change(const StoredMetric& metric, const StoredRun& stored, std::optional<double> before,
                       std::optional<double> after) {
  if (!before || !after) return infinite;
  if (*before == *after) return 0.0;  // 0 and -0
  const double whole = std::abs(metric.share_of_time ? whole_time(stored) : *before);
  return whole > 0.0 ? (*after - *before) / whole : std::copysign(infinite, *after - *before);
}

class Comparing {
 public:
  Comparing(const StoredBaseline& baseline, BaselineComparison& found) : baseline_(baseline), found_(found) {}

  void run(const StoredRun& stored, const StoredRun& run) {
    ++found_.runs;
    ++found_.numbers;
    if (stored.status != run.status)
      found_.differences.push_back(
          {.stored = &stored, .metric = "status", .before = stored.status, .after = run.status, .change = infinite});
    if (run.status == "failed") return;  // its numbers describe no training
    for (std::size_t k = 0; k < stored_metrics().size(); ++k) number(stored, run, k);
  }

 private:
  void number(const StoredRun& stored, const StoredRun& run, std::size_t k) {
    const std::optional<double> tolerance = baseline_.tolerances.values[k];
    if (!tolerance) return;
    const std::optional<double> before = stored.metrics[k], after = run.metrics[k];
    found_.numbers += before || after ? 1 : 0;
    if (same_number(before, after)) return;
    const StoredMetric& metric = stored_metrics()[k];
    const bool look_equal = value_text(before, false) == value_text(after, false);
    found_.differences.push_back({.stored = &stored,
                                  .metric = std::string(metric.name),
                                  .before = value_text(before, look_equal),
                                  .after = value_text(after, look_equal),
                                  .change = relative_change(metric, stored, before, after),
                                  .tolerance = *tolerance});
  }

  const StoredBaseline& baseline_;
  BaselineComparison& found_;
};

/// A run's place in the table of runs.
std::string stored_place(const std::string& label, const std::string& point, std::uint64_t seed) {
  return fmt::format("{}\n{}\n{}", label, point, seed);
}
std::string stored_place(const StoredRun& run) {
  return stored_place(run.label, run.point, static_cast<std::uint64_t>(run.seed));
}

/// Leaves of the plan's scenario that are written, or are among `others`.
Leaves leaves_of_plan(const Plan& plan, const Leaves& others) {
  std::set<std::string> written;  // of a list of tables, all that is in it
  for (const auto& [section, content] : plan.scenario.items()) {
    if (content.is_array()) written.insert(section);
    for (const auto& [key, position] : plan.document->written(section)) written.insert(section + "." + key);
  }
  Leaves leaves = defining_leaves_with_strategies(plan.scenario);
  std::erase_if(leaves, [&](const auto& leaf) {
    return !others.contains(leaf.first) && std::ranges::none_of(written, [&](const std::string& key) {
      return leaf.first == key || leaf.first.starts_with(key + ".");
    });
  });
  return leaves;
}

/// The reason why a run has another id than the stored one.
std::string reason(const StoredScenario& stored, const StoredRun& run, const Plan& plan, const std::string& id) {
  if (stored.keys.empty())
    return fmt::format("the run {} had the id {} and has {}, so the scenario or a file that it names has changed since",
                       run.name(), run.id, id);
  const Leaves then(stored.keys.begin(), stored.keys.end());
  std::vector<ChangedKey> changes = changed_keys(then, leaves_of_plan(plan, then));
  const std::string own = fmt::format("strategy.{}.", run.label);
  std::erase_if(changes, [&](const ChangedKey& change) {
    return change.key.starts_with("strategy.") && !change.key.starts_with(own);
  });
  const std::string of_run = fmt::format("which changes the run {}", run.name());
  if (changes.empty())
    return fmt::format(
        "no key that the scenario writes has changed, and the run {} has another id: probably a file "
        "that the scenario names has other contents",
        run.name());
  return some_of(changes,
                 [](const ChangedKey& change) {
                   return fmt::format("{} was {} and is {}", change.key, change.first, change.second);
                 }) +
         ", " + of_run;
}

}  // namespace

bool StoredDifference::beyond() const { return !(std::abs(change) <= tolerance); }

double StoredDifference::excess() const { return tolerance > 0.0 ? std::abs(change) / tolerance : infinite; }

bool BaselineComparison::within_tolerance() const {
  return gone.empty() && std::ranges::none_of(differences, &StoredDifference::beyond);
}

Leaves written_leaves(const Plan& plan) { return leaves_of_plan(plan, {}); }

BaselineComparison compare(const StoredBaseline& baseline, const outputs::Results& results, Compare which) {
  BaselineComparison found;
  Comparing comparing(baseline, found);
  const StoredScenario* scenario = baseline.scenario(results.name);
  if (scenario && scenario->results_number != results_number) found.stored_number = scenario->results_number;
  std::map<std::string, const StoredRun*> stored;
  for (const StoredRun* run : baseline.runs_of(results.name)) stored.emplace(stored_place(*run), run);
  for (const StoredRun& run : stored_runs(results)) {
    const auto at = stored.find(stored_place(run));
    if (at == stored.end()) {
      found.added.push_back(run.name());
      continue;
    }
    found.redefined += at->second->id != run.id ? 1 : 0;
    if (which == Compare::all || (at->second->id == run.id && !found.stored_number)) comparing.run(*at->second, run);
    stored.erase(at);
  }
  for (const StoredRun* run : baseline.runs_of(results.name))
    if (stored.contains(stored_place(*run))) found.gone.push_back(run);
  std::ranges::stable_sort(found.differences, [](const StoredDifference& a, const StoredDifference& b) {
    return a.excess() > b.excess() || (a.excess() == b.excess() && std::abs(a.change) > std::abs(b.change));
  });
  return found;
}

void require_same_scenario(const StoredBaseline& baseline, const Plan& plan, const std::string& scenario_file,
                           scenario::Faults& faults) {
  const StoredScenario* scenario = baseline.scenario(plan.name);
  if (!scenario) {
    std::vector<std::string> names;
    for (const StoredScenario& each : baseline.scenarios) names.push_back(each.name);
    return faults.add({baseline.file, 1, 1},
                      fmt::format("the stored baseline is of another scenario than {}: it has {}; \"simgrad check {} "
                                  "--update {}\" adds this one",
                                  scenario_file, names.empty() ? "none" : base::joined(names),
                                  base::shell_word(scenario_file), base::shell_word(baseline.file)));
  }
  std::map<std::string, std::string> ids;
  for (const RunPlan& run : plan.runs)
    ids.emplace(stored_place(run.label, outputs::point_text(run.parameters), run.seed), run.id);
  bool any = false;
  for (const StoredRun* run : baseline.runs_of(plan.name)) {
    const auto at = ids.find(stored_place(*run));
    if (at == ids.end()) continue;
    any = true;
    if (at->second != run->id && scenario->results_number == results_number && scenario->version == version)
      return faults.add(
          run->position,
          fmt::format("the stored baseline is of another scenario than {}: {}; \"--update {}\" stores the new runs",
                      scenario_file, reason(*scenario, *run, plan, at->second), baseline.file));
  }
  if (!any)
    faults.add({baseline.file, 1, 1},
               fmt::format("the stored baseline is of another scenario than {}: no run of \"{}\" has "
                           "the same label, grid point and seed",
                           scenario_file, plan.name));
}

}  // namespace simgrad::experiment
