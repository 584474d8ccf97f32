#include "experiment/run/stored_baseline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "outputs/comparison.h"
#include "outputs/fields.h"

namespace simgrad::experiment {

namespace {

constexpr double usual = 1e-3;
/// Learning repeats rounding errors, so that losses vary more than times between compilers.
constexpr double of_learning = 1e-2;

constexpr std::array all_metrics{
    StoredMetric{"simulated_s", usual},
    StoredMetric{"steps", usual, true},
    StoredMetric{"samples", usual, true},
    StoredMetric{"epochs", usual},
    StoredMetric{"final_loss", of_learning},
    StoredMetric{"time_to_target_s", usual},
    StoredMetric{"speedup_throughput", usual},
    StoredMetric{"speedup_time_to_target", usual},
    StoredMetric{"efficiency", usual},
    StoredMetric{"compute_s", usual, false, true},
    StoredMetric{"communicate_s", usual, false, true},
    StoredMetric{"wait_s", usual, false, true},
    StoredMetric{"down_s", usual, false, true},
    StoredMetric{"bytes", usual, true},
    StoredMetric{"messages", usual, true},
    StoredMetric{"staleness_mean", of_learning},
    StoredMetric{"staleness_max", of_learning, true},
    StoredMetric{"cost_usd", usual},
    StoredMetric{"energy_j", usual},
    StoredMetric{"final_metric", of_learning},
    StoredMetric{"consensus_distance", of_learning},
    StoredMetric{"crashes", 0.0, true},
    StoredMetric{"lost_s", usual, false, true},
    StoredMetric{"recovery_s", usual, false, true},
    StoredMetric{"checkpoint_s", usual, false, true},
    StoredMetric{"goodput", usual},
    StoredMetric{"interference", usual},
    StoredMetric{"server_imbalance", usual},
    StoredMetric{"cache_hit_rate", usual},
    StoredMetric{"memory_bytes_max", usual},
    StoredMetric{"samples_per_s", usual},
    StoredMetric{"tokens_per_s", usual},
    StoredMetric{"mfu", usual},
    StoredMetric{"hfu", usual},
};

bool in_order(const outputs::Run* a, const outputs::Run* b) {
  if (a->label != b->label) return a->label < b->label;
  if (a->parameters != b->parameters) return a->parameters < b->parameters;
  return a->seed < b->seed;
}

}  // namespace

std::span<const StoredMetric> stored_metrics() { return all_metrics; }

Tolerances::Tolerances() {
  for (const StoredMetric& metric : all_metrics) values.emplace_back(metric.tolerance);
}

void Tolerances::describe(base::Describer& d) {
  for (std::size_t k = 0; k < all_metrics.size(); ++k)
    d.number(all_metrics[k].name, values[k], "the largest relative change that passes", base::Bounds::at_least(0));
}

void StoredScenario::describe(base::Describer& d) {
  d.text("name", name, "the scenario's name");
  d.text("version", version, "the release that made the runs");
  d.integer("results_number", results_number, "raised by every release that changes results");
  d.pairs("keys", keys, "the keys that decide on the runs");
}

StoredRun::StoredRun() : metrics(all_metrics.size()) {}

void StoredRun::describe(base::Describer& d) {
  d.text("scenario", scenario, "the scenario's name");
  d.text("label", label, "the strategy's label");
  d.text("point", point, "the grid point");
  d.integer("seed", seed, "the run's seed");
  d.text("id", id, "a hash of all that determines the run");
  d.text("status", status, "how the run ended");
  for (std::size_t k = 0; k < all_metrics.size(); ++k) d.number(all_metrics[k].name, metrics[k], "a number of the run");
}

std::string StoredRun::name() const {
  return fmt::format("{}{}{}, seed {}", label, point.empty() ? "" : ", ", point, seed);
}

bool StoredRun::same_place(const StoredRun& other) const {
  return scenario == other.scenario && label == other.label && point == other.point && seed == other.seed;
}

const StoredScenario* StoredBaseline::scenario(std::string_view name) const {
  const auto found = std::ranges::find(scenarios, name, &StoredScenario::name);
  return found == scenarios.end() ? nullptr : &*found;
}

std::vector<const StoredRun*> StoredBaseline::runs_of(std::string_view name) const {
  std::vector<const StoredRun*> found;
  for (const StoredRun& run : runs)
    if (run.scenario == name) found.push_back(&run);
  return found;
}

void StoredBaseline::put(const StoredScenario& scenario, const std::vector<StoredRun>& of_scenario) {
  std::erase_if(scenarios, [&](const StoredScenario& each) { return each.name == scenario.name; });
  std::erase_if(runs, [&](const StoredRun& each) { return each.scenario == scenario.name; });
  scenarios.push_back(scenario);
  runs.insert(runs.end(), of_scenario.begin(), of_scenario.end());
  std::ranges::stable_sort(scenarios, {}, &StoredScenario::name);
  std::ranges::stable_sort(runs, {}, &StoredRun::scenario);
}

std::vector<StoredRun> stored_runs(const outputs::Results& results) {
  std::vector<const outputs::Run*> sorted;
  for (const outputs::Run& run : results.runs) sorted.push_back(&run);
  std::ranges::stable_sort(sorted, in_order);
  std::vector<StoredRun> all;
  for (const outputs::Run* run : sorted) {
    StoredRun& stored = all.emplace_back();
    stored.scenario = results.name;
    stored.label = run->label;
    stored.point = outputs::point_text(run->parameters);
    stored.seed = static_cast<std::int64_t>(run->seed);
    stored.id = run->id;
    stored.status = record::name(run->record.status);
    for (std::size_t k = 0; k < all_metrics.size(); ++k)
      stored.metrics[k] = outputs::field(*run, std::string(all_metrics[k].name));
  }
  return all;
}

}  // namespace simgrad::experiment
