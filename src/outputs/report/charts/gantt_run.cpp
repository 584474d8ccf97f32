/// The bars of a timeline.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "outputs/report/charts/gantt.h"
#include "outputs/text/language.h"
#include "record/time_part.h"

namespace simgrad::outputs::report {
namespace {

using record::Span;

/// Returns the name of a rank, which the timeline has in English.
std::string in_words(const std::string& name) {
  constexpr std::string_view server = "server ";
  return name.starts_with(server) ? tr("server {}", name.substr(server.size())) : name;
}

/// Returns the lane of each (rank, stream), in the order of the timeline's ranks; each rank's own lane comes first.
std::map<std::pair<int, int>, int> lanes_of(const record::Timeline& timeline, GanttRun& run) {
  std::map<int, std::size_t> place;
  for (std::size_t i = 0; i < timeline.ranks.size(); ++i) place.try_emplace(timeline.ranks[i], i);
  std::map<std::pair<std::size_t, int>, int> used;  // (place of the rank, lane)
  for (const Span& span : timeline.spans)
    if (const auto found = place.find(span.rank); found != place.end()) used[{found->second, span.lane}] = 0;
  std::map<std::pair<int, int>, int> lanes;
  for (const auto& [key, unused] : used) {
    const int rank = timeline.ranks[key.first];
    const std::string recorded =
        key.first < timeline.rank_names.size() ? timeline.rank_names[key.first] : fmt::format("rank {}", rank);
    const std::string name = in_words(recorded);
    lanes[{rank, key.second}] = static_cast<int>(run.lanes.size());
    run.ranks.emplace_back(rank, key.second);
    run.lanes.push_back(key.second == 0 ? name : tr("{}, stream {}", name, key.second));
  }
  return lanes;
}

/// Returns the time before which at most `most` bars begin.
double cut(std::vector<double> starts, std::size_t most, double to_s) {
  if (starts.size() <= most) return to_s;
  std::ranges::nth_element(starts, starts.begin() + static_cast<std::ptrdiff_t>(most));
  return std::min(to_s, starts[most]);
}

std::optional<std::int64_t> if_any(std::int64_t number) { return number < 0 ? std::nullopt : std::optional(number); }

/// Returns the cause of a wait, counted from the first one.
char digit(const Span& span) {
  constexpr auto first = static_cast<int>(record::TimePart::wait_gradient);
  constexpr auto other = static_cast<int>(record::TimePart::wait_other);
  static_assert(other - first < 10);
  return static_cast<char>('0' + (span.cause < first ? other : span.cause) - first);
}

}  // namespace

GanttRun gantt_run(const record::Timeline& timeline, std::size_t most) {
  GanttRun run;
  const auto lanes = lanes_of(timeline, run);
  run.names = timeline.names;
  std::vector<const Span*> spans;
  std::vector<double> starts;
  for (const Span& span : timeline.spans) {
    if (!(span.to_s > span.from_s) || !lanes.contains({span.rank, span.lane})) continue;
    spans.push_back(&span);
    starts.push_back(span.from_s);
  }
  run.from_s = timeline.from_s;
  run.to_s = cut(std::move(starts), most, timeline.to_s);
  run.whole = timeline.whole && run.to_s == timeline.to_s;
  const bool micros = std::ranges::any_of(spans, [](const Span* span) { return span->micro >= 0; });
  for (const Span* span : spans) {
    if (span->from_s >= run.to_s || run.lane.size() == most) continue;
    run.lane.push_back(lanes.at({span->rank, span->lane}));
    run.kind.push_back(static_cast<int>(span->kind));
    run.name.push_back(span->name);
    if (span->kind == record::Activity::wait) run.waits += digit(*span);
    run.from.push_back(span->from_s);
    run.to.push_back(std::min(span->to_s, run.to_s));
    run.step.push_back(if_any(span->step));
    run.peer.push_back(if_any(span->peer));
    if (micros) run.micro.push_back(if_any(span->micro));
    run.bytes.push_back(span->bytes > 0 ? std::optional(span->bytes) : std::nullopt);
  }
  return run;
}

}  // namespace simgrad::outputs::report
