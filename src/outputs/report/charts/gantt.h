/// The Gantt chart: activities of each rank at the beginning of a run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"
#include "record/timeline.h"

namespace simgrad::outputs::report {

/// Returns the timeline of a run by the name of its files (outputs/files/run_stem.h); nothing if none was recorded.
using TimelineOf = std::function<std::optional<record::Timeline>(const std::string& stem)>;

/// One run's bars, as columns: bar i is in lane[i], from from[i] to to[i] in seconds.
struct GanttRun {
  const Case* one = nullptr;
  std::uint64_t seed = 1;
  double from_s = 0.0;
  double to_s = 0.0;
  bool whole = true;
  std::vector<std::string> lanes;          ///< "rank 3 (host-3)", or "rank 3 (host-3), stream 1" for a side stream
  std::vector<std::pair<int, int>> ranks;  ///< per lane: its rank, and the side stream (0: the rank itself)
  std::vector<std::string> names;
  std::vector<int> lane;
  std::vector<int> kind;  ///< 0 compute, 1 communicate, 2 wait, 3 down
  std::vector<int> name;  ///< index into names
  std::string waits;      ///< a digit per bar of waiting: its cause, counted from wait_gradient (record/time_part.h)
  std::vector<double> from;
  std::vector<double> to;
  std::vector<std::optional<std::int64_t>> step;
  std::vector<std::optional<std::int64_t>> peer;
  std::vector<std::optional<std::int64_t>> bytes;
  std::vector<std::optional<std::int64_t>> micro = {};  ///< the micro-batch of each bar; empty if no bar has one
};

/// Returns at most `most` bars, those that begin first. All lanes end where the next bar would have begun.
GanttRun gantt_run(const record::Timeline& timeline, std::size_t most);

inline constexpr std::size_t most_bars_in_all = 20'000;
/// As many as `simgrad run` keeps timelines of by itself.
inline constexpr std::size_t most_gantt_runs = 64;

struct Gantt : Chart {
  std::vector<GanttRun> runs;  ///< one per case, of its first seed; the best case of each strategy first
};

/// Cases without a timeline: why, and what makes them.
struct MissingTimelines {
  std::string sentence;
  std::string command;
};

/// Returns nothing if no timeline was recorded.
std::optional<Gantt> gantt(const ReportModel& model, const TimelineOf& timeline_of);

/// Returns nothing if the chart shows every case that ran.  command: which gives the results again; may be empty.
std::optional<MissingTimelines> missing_timelines(const ReportModel& model, const std::optional<Gantt>& chart,
                                                  const std::string& command);

void write(Writer& writer, const Gantt& gantt);
void write(Writer& writer, const MissingTimelines& missing);

}  // namespace simgrad::outputs::report
