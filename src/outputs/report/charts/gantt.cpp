#include "outputs/report/charts/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "outputs/files/run_stem.h"
#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/ranking.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

/// Returns the best case of each strategy, then the others in their order.
std::vector<const Case*> in_order(const ReportModel& model) {
  std::vector<const Case*> order = ranking(model, best_measure(model));
  for (const Case* one : model.ran())
    if (std::ranges::find(order, one) == order.end()) order.push_back(one);
  return order;
}

/// Returns the seconds of one kind of activity on each lane.
std::vector<double> seconds(const GanttRun& run, int kind) {
  std::vector<double> sums(run.lanes.size(), 0.0);
  for (std::size_t i = 0; i < run.lane.size(); ++i)
    if (run.kind[i] == kind) sums[static_cast<std::size_t>(run.lane[i])] += run.to[i] - run.from[i];
  return sums;
}

/// Returns the own lanes of the workers, or those of the servers.
std::vector<std::size_t> own_lanes(const GanttRun& run, bool of_workers) {
  const auto& ranks = run.one->runs.front()->record.ranks;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < run.ranks.size(); ++k) {
    const auto rank = static_cast<std::size_t>(run.ranks[k].first);
    const bool works = rank >= ranks.size() || ranks[rank].role == "worker";
    if (run.ranks[k].second == 0 && works == of_workers) found.push_back(k);
  }
  return found;
}

/// Returns the share of one kind of activity in the time of these lanes.
double share(const GanttRun& run, const std::vector<std::size_t>& lanes, int kind) {
  double sum = 0.0;
  double all = 0.0;
  for (int k = 0; k < 4; ++k) {
    const std::vector<double> sums = seconds(run, k);
    for (const std::size_t lane : lanes) {
      all += sums[lane];
      sum += k == kind ? sums[lane] : 0.0;
    }
  }
  return all > 0.0 ? sum / all : 0.0;
}

std::string shares_text(const GanttRun& run, const std::vector<std::size_t>& lanes, const std::string& ranks) {
  const bool one = lanes.size() == 1;
  const std::string computes = percent(share(run, lanes, 0)), communicates = percent(share(run, lanes, 1));
  const std::string waits = percent(share(run, lanes, 2));
  std::string text =
      one ? tr("{} computes {} of the time, communicates {}, waits {}", ranks, computes, communicates, waits)
          : tr("{} compute {} of the time, communicate {}, wait {}", ranks, computes, communicates, waits);
  if (const double down = share(run, lanes, 3); down > 0.0)
    text += one ? tr(", is down {}", percent(down)) : tr(", are down {}", percent(down));
  return text;
}

/// Returns "its 8 workers" or "the first 32 of its 1024 workers".
std::string workers_text(std::size_t shown, std::size_t all) {
  if (shown < all) return tr("the first {} of its {} workers", shown, all);
  return all == 1 ? tr("its worker") : tr("its {} workers", all);
}

std::string servers_text(std::size_t shown, std::size_t all) {
  if (shown < all) return tr("the first {} of its {} servers", shown, all);
  return all == 1 ? tr("its server") : tr("its {} servers", all);
}

std::int64_t steps(const GanttRun& run) {
  std::int64_t last = -1;
  for (const auto& step : run.step) last = std::max(last, step.value_or(-1));
  return last + 1;
}

std::string described(const ReportModel& model, const GanttRun& run) {
  const auto& ranks = run.one->runs.front()->record.ranks;
  const auto all_workers =
      static_cast<std::size_t>(std::ranges::count_if(ranks, [](const auto& rank) { return rank.role == "worker"; }));
  const std::vector<std::size_t> workers = own_lanes(run, true);
  const std::vector<std::size_t> servers = own_lanes(run, false);
  const std::string length = duration(run.to_s - run.from_s);
  const std::string started = counted(static_cast<std::size_t>(steps(run)), "{} step", "{} steps");
  const std::string seed = run.one->row.seeds > 1 ? tr(", seed {}", run.seed) : "";
  const std::string named = model.named(*run.one) + seed;
  std::string text = run.whole ? tr("all {} of {} ({} started)", length, named, started)
                               : tr("the first {} of {} ({} started)", length, named, started);
  if (!workers.empty())
    text += tr(": ") + shares_text(run, workers, workers_text(workers.size(), std::max(all_workers, workers.size())));
  const std::vector<double> waits = seconds(run, 2);
  const auto wait = [&](std::size_t lane) { return waits[lane]; };
  const auto longest = std::ranges::max_element(workers, {}, wait);
  if (workers.size() > 1 && waits[*longest] > 0.01 * (run.to_s - run.from_s) &&
      waits[*longest] > 1.05 * waits[*std::ranges::min_element(workers, {}, wait)])
    text += tr("; {} waits longest, {}", printable(run.lanes[*longest]),
               percent(waits[*longest] / (run.to_s - run.from_s)));
  if (!servers.empty()) {
    const std::size_t all = std::max(ranks.size() - all_workers, servers.size());
    text += tr("; ") + shares_text(run, servers, servers_text(servers.size(), all));
  }
  return text;
}

Table table(const ReportModel& model, const std::vector<GanttRun>& runs) {
  Table table;
  table.columns = {{"strategy"},         {"parameters"}, {"lane"},     {"compute", "s"},
                   {"communicate", "s"}, {"wait", "s"},  {"down", "s"}};
  for (const GanttRun& run : runs) {
    std::array<std::vector<double>, 4> sums;
    for (int kind = 0; kind < 4; ++kind) sums[static_cast<std::size_t>(kind)] = seconds(run, kind);
    for (std::size_t lane = 0; lane < run.lanes.size(); ++lane)
      table.rows.push_back({model.label(*run.one), model.text(*run.one), run.lanes[lane], sums[0][lane], sums[1][lane],
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
  std::vector<int> ranks;
  for (const auto& [rank, stream] : run.ranks) ranks.push_back(rank);
  writer.member("ranks", ranks);
  writer.member("names", run.names);
  writer.member("lane", run.lane);
  writer.member("kind", run.kind);
  writer.member("name", run.name);
  writer.member("waits", run.waits);
  writer.rounded_member("from", run.from);
  writer.rounded_member("to", run.to);
  writer.member("step", run.step);
  writer.member("peer", run.peer);
  writer.member("bytes", run.bytes);
  if (!run.micro.empty()) writer.member("micro", run.micro);
  writer.end_object();
}

}  // namespace

std::optional<Gantt> gantt(const ReportModel& model, const TimelineOf& timeline_of) {
  std::vector<std::pair<const Case*, record::Timeline>> kept;
  for (const Case* one : in_order(model)) {
    if (kept.size() == most_gantt_runs) break;
    if (auto timeline = timeline_of(run_stem(*one->runs.front()))) kept.emplace_back(one, std::move(*timeline));
  }
  Gantt chart;
  for (const auto& [one, timeline] : kept) {
    GanttRun run = gantt_run(timeline, most_bars_in_all / kept.size());
    if (run.lane.empty()) continue;
    run.one = one;
    run.seed = one->runs.front()->seed;
    chart.runs.push_back(std::move(run));
  }
  if (chart.runs.empty()) return std::nullopt;
  chart.sentence = tr("Shown are {}", described(model, chart.runs.front()));
  if (chart.runs.size() > 1) chart.sentence += tr(". Next to it, {}", described(model, chart.runs[1]));
  chart.sentence += tr(".");
  chart.table = table(model, chart.runs);
  return chart;
}

std::optional<MissingTimelines> missing_timelines(const ReportModel& model, const std::optional<Gantt>& chart,
                                                  const std::string& command) {
  const std::size_t shown = chart ? chart->runs.size() : 0, all = model.ran().size();
  if (shown >= all) return std::nullopt;
  MissingTimelines missing;
  missing.sentence = shown == 0
                         ? counted(all, "No timeline of the {} case is here", "No timeline of the {} cases is here")
                         : tr("Timelines of {} of {} cases are here", shown, all);
  missing.sentence +=
      tr(": those of the first seed of at most {} cases are kept by default, and this page shows no more. ",
         most_gantt_runs);
  missing.sentence +=
      tr("With the same directory, this command simulates the runs again that lack theirs, and leaves their results:");
  missing.command = (command.empty() ? "simgrad run SCENARIO" : command) + " --timelines all";
  return missing;
}

void write(Writer& writer, const MissingTimelines& missing) {
  writer.begin_object();
  writer.member("sentence", missing.sentence);
  writer.member("command", missing.command);
  writer.end_object();
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
