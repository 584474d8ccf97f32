#include "outputs/point_summary.h"

#include <cmath>
#include <map>
#include <string>

#include "outputs/leaders.h"
#include "outputs/pairs.h"
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

/// Adds the comparison of a row with the best one of its grid point.
void set_difference(Json& row, const Row& of_row, const Row* best, Compared by) {
  const bool has = compared(of_row, by).has_value();
  row["compared_by"] = name_of(by);
  row["best"] = best && has ? Json(best->label) : Json();
  Interval behind{nan, nan, nan};
  if (best && has && best != &of_row) behind = difference(*best, of_row, by).of_pairs;
  row["behind"] = json_value(behind.mean);
  row["behind_low"] = json_value(behind.low);
  row["behind_high"] = json_value(behind.high);
}

/// The best row of each grid point, by the point's text.
std::map<std::string, const Row*> best_rows(const Comparison& comparison, Compared by) {
  std::map<std::string, const Row*> best;
  for (const Row& row : comparison.rows)
    if (const auto mean = compared(row, by)) {
      const Row*& known = best[compact(row.parameters)];
      if (!known || *mean < *compared(*known, by)) known = &row;
    }
  return best;
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
  const Comparison all = comparison(results);
  const Compared by = pairs_compared_by(all);
  const auto best = best_rows(all, by);
  std::size_t place = 0;  // groups are in the order of the comparison's rows
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
    const Row& compared_row = all.rows[place++];
    const auto best_here = best.find(compact(compared_row.parameters));
    set_difference(row, compared_row, best_here == best.end() ? nullptr : best_here->second, by);
  }
  return rows;
}

}  // namespace simgrad::outputs
