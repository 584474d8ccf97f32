#include "outputs/report/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "outputs/human.h"
#include "outputs/report/ranking.h"
#include "outputs/report/words.h"

namespace simgrad::outputs::report {
namespace {

/// The best case of each strategy, then the others in their order.
std::vector<const Case*> in_order(const View& view) {
  std::vector<const Case*> order = ranking(view, best_measure(view));
  for (const Case* one : view.ran())
    if (std::ranges::find(order, one) == order.end()) order.push_back(one);
  return order;
}

/// Seconds of one kind on each lane.
std::vector<double> seconds(const GanttRun& run, int kind) {
  std::vector<double> sums(run.lanes.size(), 0.0);
  for (std::size_t i = 0; i < run.lane.size(); ++i)
    if (run.kind[i] == kind) sums[static_cast<std::size_t>(run.lane[i])] += run.to[i] - run.from[i];
  return sums;
}

double share(const GanttRun& run, int kind) {
  double sum = 0.0;
  double all = 0.0;
  for (int k = 0; k < 4; ++k)
    for (const double lane : seconds(run, k)) {
      all += lane;
      sum += k == kind ? lane : 0.0;
    }
  return all > 0.0 ? sum / all : 0.0;
}

std::int64_t steps(const GanttRun& run) {
  std::int64_t last = -1;
  for (const auto& step : run.step) last = std::max(last, step.value_or(-1));
  return last + 1;
}

std::string described(const View& view, const GanttRun& run) {
  std::string text =
      fmt::format("{} of {} ({} begun): its lanes compute {} of it, communicate {}, wait {}",
                  run.whole ? "all " + duration(run.to_s - run.from_s) : "the first " + duration(run.to_s - run.from_s),
                  view.named(*run.one), counted(static_cast<std::size_t>(steps(run)), "step"), percent(share(run, 0)),
                  percent(share(run, 1)), percent(share(run, 2)));
  const std::vector<double> waits = seconds(run, 2);
  const auto longest = std::ranges::max_element(waits);
  if (longest != waits.end() && *longest > 0.0 && waits.size() > 1)
    text +=
        fmt::format("; {} waits longest, {}", printable(run.lanes[static_cast<std::size_t>(longest - waits.begin())]),
                    percent(*longest / (run.to_s - run.from_s)));
  return text;
}

Table table(const View& view, const std::vector<GanttRun>& runs) {
  Table table;
  table.columns = {{"strategy"},         {"parameters"}, {"lane"},     {"compute", "s"},
                   {"communicate", "s"}, {"wait", "s"},  {"down", "s"}};
  for (const GanttRun& run : runs) {
    std::array<std::vector<double>, 4> sums;
    for (int kind = 0; kind < 4; ++kind) sums[static_cast<std::size_t>(kind)] = seconds(run, kind);
    for (std::size_t lane = 0; lane < run.lanes.size(); ++lane)
      table.rows.push_back({view.label(*run.one), view.text(*run.one), run.lanes[lane], sums[0][lane], sums[1][lane],
                            sums[2][lane], sums[3][lane]});
  }
  return table;
}

void write_run(Writer& writer, const GanttRun& run) {
  writer.begin_object();
  writer.member("strategy", run.one->strategy);
  writer.member("point", run.one->point);
  writer.member("seed", static_cast<std::int64_t>(run.seed));
  writer.member("from_s", run.from_s);
  writer.member("to_s", run.to_s);
  writer.member("whole", run.whole);
  writer.member("lanes", run.lanes);
  writer.member("names", run.names);
  writer.member("lane", run.lane);
  writer.member("kind", run.kind);
  writer.member("name", run.name);
  writer.rounded_member("from", run.from);
  writer.rounded_member("to", run.to);
  writer.member("step", run.step);
  writer.member("peer", run.peer);
  writer.member("bytes", run.bytes);
  writer.end_object();
}

}  // namespace

std::optional<Gantt> gantt(const View& view, const TimelineOf& timeline_of) {
  std::vector<const Case*> order = in_order(view);
  order.resize(std::min(order.size(), most_gantt_runs));
  std::vector<std::pair<const Case*, record::Timeline>> kept;
  for (const Case* one : order)
    if (auto timeline = timeline_of(one->runs.front()->id)) kept.emplace_back(one, std::move(*timeline));
  Gantt chart;
  for (const auto& [one, timeline] : kept) {
    GanttRun run = gantt_run(timeline, most_bars_in_all / kept.size());
    if (run.lane.empty()) continue;
    run.one = one;
    run.seed = one->runs.front()->seed;
    chart.runs.push_back(std::move(run));
  }
  if (chart.runs.empty()) return std::nullopt;
  chart.sentence = "Shown are " + described(view, chart.runs.front());
  if (chart.runs.size() > 1) chart.sentence += ". Beside it, " + described(view, chart.runs[1]);
  chart.sentence += ".";
  chart.table = table(view, chart.runs);
  return chart;
}

void write(Writer& writer, const Gantt& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  writer.key("runs");
  writer.begin_array();
  for (const GanttRun& run : chart.runs) write_run(writer, run);
  writer.end_array();
  writer.end_object();
}

}  // namespace simgrad::outputs::report
