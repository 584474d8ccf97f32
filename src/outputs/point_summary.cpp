#include "outputs/point_summary.h"

#include <cmath>
#include <string>

#include "outputs/statistics.h"
#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

void set_number(Json& row, const SummarisedNumber& number, const Group& runs) {
  const Interval of_seeds = number.over_seeds ? number.over_seeds(runs) : mean_of_seeds(runs, number.of);
  const std::string name(number.name);
  row[name] = json_value(of_seeds.mean);
  row[name + "_low"] = json_value(of_seeds.low);
  row[name + "_high"] = json_value(of_seeds.high);
}

}  // namespace

const std::vector<SummarisedNumber>& summarised_numbers() {
  using Number = std::optional<double>;
  static const std::vector<SummarisedNumber> all = {
      {"simulated_s", [](const Run& run) -> Number { return run.record.simulated_s; }},
      {"time_to_target_s", [](const Run& run) { return run.record.time_to_target_s; }},
      {"cost_usd", [](const Run& run) { return run.bill.cost_usd; }},
      {"cost_to_target_usd", [](const Run& run) { return run.bill.cost_to_target_usd; }},
      {"energy_j", [](const Run& run) { return run.bill.energy_j; }},
      {"samples_per_s", nullptr, samples_per_s},
      {"speedup_throughput", nullptr, speedup_throughput},
      {"speedup_time_to_target", nullptr, speedup_to_target},
      {"efficiency", nullptr, efficiency},
      {"final_loss", [](const Run& run) { return run.record.final_loss; }}};
  return all;
}

std::vector<Json> point_summaries(const Results& results) {
  std::vector<Json> rows;
  for (const Group& group : groups_of(results.runs)) {
    const Run& first = *group.front();
    Json& row = rows.emplace_back(Json::object());
    row["parameters"] = json_value(first.parameters);
    row["label"] = first.label;
    row["strategy"] = first.strategy;
    row["workers"] = first.workers;
    std::int64_t reached = 0, diverged = 0, failed = 0;
    for (const Run* run : group) {
      reached += run->record.time_to_target_s ? 1 : 0;
      diverged += run->record.status == record::Status::diverged ? 1 : 0;
      failed += run->record.status == record::Status::failed ? 1 : 0;
    }
    row["seeds"] = group.size();
    row["reached"] = reached;
    row["diverged"] = diverged;
    row["failed"] = failed;
    const auto sound = sound_runs(group);
    for (const SummarisedNumber& number : summarised_numbers()) set_number(row, number, sound);
  }
  return rows;
}

}  // namespace simgrad::outputs
