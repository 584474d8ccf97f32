#include "outputs/report/charts/points_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/leaders.h"
#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

WithMargin with_seeds(const Case& one, std::optional<double> SeedNumbers::*number) {
  const Interval of_seeds = seeds_interval(one.row, number);
  const auto finite = [](double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; };
  return {finite(of_seeds.mean), finite(of_seeds.high - of_seeds.mean)};
}

std::string points_status(const Row& row, bool has_target) {
  if (row.failed > 0) return row.failed == row.seeds ? tr("failed") : tr("{} of {} failed", row.failed, row.seeds);
  if (row.diverged > 0)
    return row.diverged == row.seeds ? tr("diverged") : tr("{} of {} diverged", row.diverged, row.seeds);
  if (row.reached > 0) return row.reached == row.seeds ? tr("reached") : tr("{} of {} reached", row.reached, row.seeds);
  if (has_target) return tr("not reached");
  if (row.ttft_s_median) return tr("answered");
  const std::string steps = count(row.steps.value_or(0.0));
  return row.steps == 1.0 ? tr("{} step done", steps) : tr("{} steps done", steps);
}

/// Returns the causes that bind, or why none is named.
std::string binds_text(const Counterfactual& counterfactual) {
  if (counterfactual.changes.empty()) return "";
  std::vector<std::string> causes;
  for (const Change* each : all_binding(counterfactual)) causes.push_back(cause_in_column(*each));
  if (!causes.empty()) return listed(causes);
  const auto& changes = counterfactual.changes;
  return changes.size() == 1 && changes.front().name == "failures" ? tr("only failures tried") : tr("no single cause");
}

PointsRow points_row(const ReportModel& model, const Case& one, bool to_target) {
  const Row& row = one.row;
  PointsRow made;
  made.strategy = one.strategy;
  made.point = one.point;
  for (const std::string& key : model.comparison.parameters)
    made.values.push_back(value_text(row.parameters.value(key, nlohmann::ordered_json())));
  made.time_s = with_seeds(one, to_target ? &SeedNumbers::time_to_target_s : &SeedNumbers::simulated_s);
  // Where a seed misses the target, the others' prices to it are those of a favourable choice.
  if (!to_target || row.all_reached()) {
    made.cost_usd = with_seeds(one, to_target ? &SeedNumbers::cost_to_target_usd : &SeedNumbers::cost_usd);
    made.energy_j = with_seeds(one, &SeedNumbers::energy_j);
  }
  made.speedup = to_target ? row.speedup_time_to_target : row.speedup_throughput;
  const Group sound = sound_runs(one.runs);
  const Interval of_seeds = to_target ? speedup_to_target(sound) : speedup_throughput(sound);
  if (made.speedup && std::isfinite(of_seeds.high)) made.speedup_margin = of_seeds.high - of_seeds.mean;
  if (made.speedup) made.efficiency = *made.speedup / static_cast<double>(one.workers);
  made.seeds = row.seeds;
  made.reached = row.reached;
  made.status = points_status(row, model.comparison.has_target);
  made.final_loss = row.final_loss;
  if (one.counterfactual) made.binds = binds_text(*one.counterfactual);
  return made;
}

/// Returns the numbers as they are, each margin in its own column.
Table points_numbers(const ReportModel& model, const PointsTable& chart) {
  const std::string to = chart.to_target ? " to target" : "";
  Table table;
  table.columns = {{"strategy"}};
  for (const std::string& key : chart.keys) table.columns.push_back({key});
  const std::vector<Column> numbers = {{chart.to_target ? "time to target" : "simulated time", "s"},
                                       {"time ±", "s"},
                                       {"cost" + to, "$"},
                                       {"cost ±", "$"},
                                       {"energy" + to, "J"},
                                       {"energy ±", "J"},
                                       {"speed-up" + to},
                                       {"speed-up ±"},
                                       {"efficiency" + to},
                                       {"reached"},
                                       {"seeds"},
                                       {"status"},
                                       {"final loss"},
                                       {"binds"}};
  table.columns.insert(table.columns.end(), numbers.begin(), numbers.end());
  for (const PointsRow& row : chart.rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells.emplace_back(model.strategies[row.strategy].label);
    for (const std::string& value : row.values) cells.emplace_back(value);
    for (const WithMargin* each : {&row.time_s, &row.cost_usd, &row.energy_j}) {
      cells.emplace_back(each->mean);
      cells.emplace_back(each->margin);
    }
    for (const auto& number : {row.speedup, row.speedup_margin, row.efficiency}) cells.emplace_back(number);
    cells.emplace_back(row.reached);
    cells.emplace_back(row.seeds);
    cells.emplace_back(row.status);
    cells.emplace_back(row.final_loss);
    cells.emplace_back(row.binds);
  }
  return table;
}

/// Says of how many of the cases every seed reaches the target.
std::string sure_text(std::size_t sure, std::size_t cases) {
  if (cases == 1)
    return sure == 1 ? tr(", which reaches the target with every seed")
                     : tr(", which does not reach the target with every seed");
  if (sure == 0) return tr(", none of which reaches the target with every seed");
  if (sure == cases) return tr(", all of which reach the target with every seed");
  return counted(sure, ", {} of which reaches the target with every seed",
                 ", {} of which reach the target with every seed");
}

bool shows_margin(const std::optional<double>& mean, const std::optional<double>& margin) {
  return mean && margin && outputs::shows_margin(*mean, *margin);
}

bool has_margin(const PointsRow& row) {
  const auto shown = [](const WithMargin& number) { return shows_margin(number.mean, number.margin); };
  return shown(row.time_s) || shown(row.cost_usd) || shown(row.energy_j) ||
         shows_margin(row.speedup, row.speedup_margin);
}

/// could_be_tried: there are runs on which changes are tried, so that it must be told if none was.
std::string points_sentence(const PointsTable& chart, bool could_be_tried) {
  std::size_t sure = 0;
  for (const PointsRow& row : chart.rows) sure += row.reached == row.seeds ? 1U : 0U;
  std::string text = counted(chart.rows.size(), "{} case", "{} cases");
  if (chart.to_target) text += sure_text(sure, chart.rows.size());
  text += tr(".");
  if (std::ranges::any_of(chart.rows, has_margin))
    text += between_sentences() + tr("±: half of the 95 % interval of the mean over the seeds (Student's t).");
  const auto tried = [](const PointsRow& row) { return !row.binds.empty(); };
  if (could_be_tried && std::ranges::none_of(chart.rows, tried))
    text += tr(" No change was tried to find the bottleneck, as with --no-why.");
  return text;
}

}  // namespace

std::optional<PointsTable> points_table(const ReportModel& model) {
  if (model.cases.empty()) return std::nullopt;
  PointsTable chart;
  for (const std::string& key : model.comparison.parameters)
    chart.keys.push_back(short_name(key, model.comparison.parameters));
  for (const Case& one : model.cases) chart.to_target = chart.to_target || one.row.reached > 0;
  for (const Case& one : model.cases) chart.rows.push_back(points_row(model, one, chart.to_target));
  // Where nothing was tried on any case, there is no such column.
  if (std::ranges::any_of(chart.rows, [](const PointsRow& row) { return !row.binds.empty(); }))
    for (PointsRow& row : chart.rows)
      if (row.binds.empty()) row.binds = tr("not tried");
  chart.sentence = points_sentence(chart, std::ranges::any_of(model.cases, [](const Case& one) {
                                     return one.row.sound() && !one.conditions.jobs && !one.row.ttft_s_median;
                                   }));
  chart.table = points_numbers(model, chart);
  return chart;
}

void write(Writer& writer, const WithMargin& number) {
  writer.begin_array();
  writer.value(number.mean);
  writer.value(number.margin);
  writer.end_array();
}

void write(Writer& writer, const PointsTable& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  writer.member("keys", chart.keys);
  writer.member("to_target", chart.to_target);
  write_objects(writer, "rows", chart.rows, [&](const PointsRow& row) {
    writer.member("strategy", row.strategy);
    writer.member("point", row.point);
    writer.member("values", row.values);
    writer.member("time_s", row.time_s);
    writer.member("cost_usd", row.cost_usd);
    writer.member("energy_j", row.energy_j);
    writer.member("speedup", row.speedup);
    writer.member("speedup_margin", row.speedup_margin);
    writer.member("efficiency", row.efficiency);
    writer.member("seeds", row.seeds);
    writer.member("reached", row.reached);
    writer.member("status", row.status);
    writer.member("final_loss", row.final_loss);
    writer.member("binds", row.binds);
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
