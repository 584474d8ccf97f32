#include "outputs/pairs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include "outputs/paired_test.h"
#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

ResultRow values_of(const PointPairs& point, const Pair& pair, Compared by, const std::vector<std::string>& keys) {
  ResultRow values = {Json(point.rows[pair.first]->label),
                      Json(point.rows[pair.second]->label),
                      Json(name_of(by)),
                      Json(pair.seeds),
                      json_value(pair.behind.mean),
                      json_value(pair.behind.low),
                      json_value(pair.behind.high),
                      json_value(pair.p),
                      json_value(pair.p_holm)};
  for (const std::string& key : keys) values.push_back(point.rows.front()->parameters.value(key, Json()));
  return values;
}

}  // namespace

Compared pairs_compared_by(const Comparison& comparison) {
  return comparison.has_target ? by_time_to_target : by_time_per_sample;
}

std::string_view name_of(Compared by) { return by.to_target ? "time_to_target_s" : "s_per_sample"; }

std::vector<std::vector<const Row*>> rows_by_point(const Comparison& comparison) {
  std::vector<std::vector<const Row*>> points;
  std::unordered_map<std::string, std::size_t> places;
  for (const Row& row : comparison.rows) {
    const auto [place, is_new] = places.try_emplace(compact(row.parameters), points.size());
    if (is_new) points.emplace_back();
    points[place->second].push_back(&row);
  }
  return points;
}

PointPairs compared_in_pairs(const std::vector<const Row*>& point, Compared by) {
  constexpr double rounding = 1e-12;
  PointPairs found;
  for (const Row* row : point)
    if (compared(*row, by)) found.rows.push_back(row);
  std::ranges::stable_sort(found.rows, {}, [&](const Row* row) { return *compared(*row, by); });
  found.rows.resize(std::min(found.rows.size(), most_in_pairs));
  std::vector<double> p_values;
  for (std::size_t i = 0; i < found.rows.size(); ++i)
    for (std::size_t j = i + 1; j < found.rows.size(); ++j) {
      std::vector<double> differences = difference(*found.rows[i], *found.rows[j], by).pairs;
      if (differences.size() < 2) continue;
      const auto [least, most] = std::ranges::minmax(differences);
      const bool same = most - least <= rounding * *compared(*found.rows[j], by);  // with every seed
      p_values.push_back(same ? nan : paired_t_test(differences));
      found.pairs.push_back({.first = i,
                             .second = j,
                             .seeds = differences.size(),
                             .behind = interval(differences),
                             .p = p_values.back()});
    }
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t k = 0; k < corrected.size(); ++k) found.pairs[k].p_holm = corrected[k];
  return found;
}

ResultTable pairs_table(const Results& results) {
  const auto all = std::make_shared<const Comparison>(comparison(results));
  ResultTable table{.name = "pairs", .columns = {}, .each_row = {}};
  for (const char* name : {"label", "other", "compared_by"}) table.columns.push_back({name, ColumnType::text});
  table.columns.push_back({"seeds", ColumnType::integer});
  for (const char* name : {"behind", "behind_low", "behind_high", "p", "p_holm"})
    table.columns.push_back({name, ColumnType::number});
  for (const std::string& key : all->parameters) table.columns.push_back({"param." + key, ColumnType::any});
  table.each_row = [all](const auto& use) {
    const Compared by = pairs_compared_by(*all);
    for (const auto& rows : rows_by_point(*all)) {
      const PointPairs point = compared_in_pairs(rows, by);
      for (const Pair& pair : point.pairs) use(values_of(point, pair, by, all->parameters));
    }
  };
  return table;
}

bool has_pairs(const Results& results) {
  if (std::ranges::all_of(results.runs, [&](const Run& run) { return run.seed == results.runs.front().seed; }))
    return false;
  const Comparison all = comparison(results);
  const Compared by = pairs_compared_by(all);
  return std::ranges::any_of(rows_by_point(all),
                             [&](const auto& point) { return !compared_in_pairs(point, by).pairs.empty(); });
}

}  // namespace simgrad::outputs
