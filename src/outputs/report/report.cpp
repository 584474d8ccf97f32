#include "outputs/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "outputs/report/charts/answers.h"
#include "outputs/report/charts/collectives.h"
#include "outputs/report/charts/curves.h"
#include "outputs/report/charts/links.h"
#include "outputs/report/charts/memory.h"
#include "outputs/report/charts/mesh.h"
#include "outputs/report/charts/overview.h"
#include "outputs/report/charts/pairs.h"
#include "outputs/report/charts/pareto.h"
#include "outputs/report/charts/plan.h"
#include "outputs/report/charts/points_table.h"
#include "outputs/report/charts/speedup.h"
#include "outputs/report/charts/staleness.h"
#include "outputs/report/charts/time.h"
#include "outputs/report/sentences/summary_card.h"
#include "outputs/summary.h"
#include "outputs/text/language.h"

namespace simgrad::outputs::report {
namespace {

constexpr std::string_view slot = "@simgrad-data@";

std::vector<std::int64_t> seeds_of(const Results& results) {
  std::vector<std::int64_t> seeds;
  for (const Run& run : results.runs) seeds.push_back(static_cast<std::int64_t>(run.seed));
  std::ranges::sort(seeds);
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

/// Escapes each `<`. In JSON it can stand only within a string, where the escape has the same meaning.
std::string escaped(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

void write_view(Writer& writer, const ReportModel& model) {
  writer.key("strategies");
  writer.begin_array();
  for (const Strategy& strategy : model.strategies) {
    writer.begin_object();
    writer.member("label", strategy.label);
    writer.member("kind", strategy.kind);
    writer.end_object();
  }
  writer.end_array();
  writer.key("points");
  writer.begin_array();
  for (const Point& point : model.points) {
    writer.begin_object();
    writer.member("text", point.text);
    writer.member("workers", point.workers);
    writer.key("parameters");
    writer.raw(escaped(compact(point.parameters)));
    writer.end_object();
  }
  writer.end_array();
  writer.member("target", model.comparison.target);
  writer.member("metric_name", model.comparison.metric_name);
  writer.member("has_cost", model.has_cost);
  writer.member("has_energy", model.has_energy);
}

void write_consensus(Writer& writer, const std::optional<Chart>& chart) {
  writer.key("consensus");
  if (!chart) return writer.null();
  writer.begin_object();
  write_chart(writer, *chart);
  writer.end_object();
}

/// table: nothing for a large experiment, whose page has the overview's.
void write_charts(Writer& writer, const ReportModel& model, const std::optional<PointsTable>& table,
                  const TimelineOf& timeline_of, const std::string& command) {
  write_view(writer, model);
  writer.member("points_table", table);
  if (const std::optional<Pairs> compared = pairs(model)) writer.member("pairs", *compared);
  if (const std::optional<Answers> answered = answers(model)) writer.member("answers", *answered);
  writer.member("curves", curves(model));
  write_consensus(writer, consensus(model));
  writer.member("speedup", speedup(model));
  writer.member("time", time(model));
  writer.member("memory", memory(model));
  if (const std::optional<Mesh> cut = mesh(model)) writer.member("mesh", *cut);
  writer.member("pareto", pareto(model));
  writer.member("staleness", staleness(model));
  writer.member("links", links(model));
  const std::optional<Gantt> timelines = gantt(model, timeline_of);
  writer.member("gantt", timelines);
  writer.member("missing_timelines", missing_timelines(model, timelines, command));
  writer.member("collectives", collectives(model));
}

/// Returns the results of these grid points of the model.
Results at_points(const Results& results, const ReportModel& model, const std::vector<std::size_t>& points) {
  Results few{.name = results.name,
              .title = results.title,
              .version = results.version,
              .complete = results.complete,
              .command = results.command,
              .scenario = results.scenario,
              .runs = {},
              .baselines = results.baselines,
              .counterfactuals = results.counterfactuals};
  for (const std::size_t point : points)
    for (const Run& run : results.runs)
      if (run.parameters == model.points[point].parameters) few.runs.push_back(run);
  return few;
}

constexpr std::size_t points_of_closer_look = 3;

}  // namespace

std::string data(const Results& results, const TimelineOf& timeline_of, const Foot& foot, std::size_t most_in_full) {
  const ReportModel model = report::report_model(results);
  Writer writer;
  writer.begin_object();
  writer.member("schema", 1);
  writer.member("language", outputs::name(language()));
  writer.member("name", results.name);
  writer.member("title", results.title);
  writer.member("version", results.version);
  writer.member("complete", results.complete);
  if (!results.plan.is_null()) {
    writer.key("plan");
    writer.raw(plan_data(results.plan));
  }
  if (model.cases.size() > most_in_full && model.points.size() > points_of_closer_look) {
    writer.member("summary", summary_of_many(results, model));
    const bool jobs = model.cases.front().conditions.jobs;
    const auto measure = jobs ? std::nullopt : std::optional(best_measure(model));
    const CloserLook closer = closer_look(model, measure);
    writer.key("overview");
    write_overview(writer, model, measure, closer);
    const Results few = at_points(results, model, closer.points);
    write_charts(writer, report::report_model(few), {}, timeline_of, foot.command);
  } else {
    writer.member("summary", summary_card(results, model));
    write_charts(writer, model, points_table(model), timeline_of, foot.command);
  }
  writer.key("foot");
  writer.begin_object();
  writer.member("scenario_toml", foot.scenario_toml);
  writer.member("seeds", seeds_of(results));
  writer.member("command", foot.command);
  writer.member("version", results.version);
  writer.end_object();
  writer.end_object();
  return writer.take();
}

std::string filled(std::string_view page, std::string_view data) {
  const std::size_t at = page.find(slot);
  if (at == std::string_view::npos || page.find(slot, at + 1) != std::string_view::npos)
    throw base::EnvironmentError(
        fmt::format("the page's template must hold {} exactly once, in the place of the data", slot));
  std::string html;
  html.reserve(page.size() + data.size());
  html.append(page.substr(0, at)).append(data).append(page.substr(at + slot.size()));
  return html;
}

}  // namespace simgrad::outputs::report
