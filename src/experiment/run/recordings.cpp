#include "experiment/run/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/errors.h"
#include "base/files.h"
#include "base/say.h"
#include "base/version.h"
#include "experiment/run/run_store.h"
#include "outputs/comparison.h"
#include "outputs/files/byte_file.h"
#include "outputs/results.h"
#include "outputs/timelines/chrome_trace.h"
#include "outputs/timelines/events.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

namespace {

/// A full timeline takes some hundred megabytes while the run goes on.
constexpr std::size_t most_spans = 1'000'000;

/// Whether the command line names the file of the trace.
outputs::NamedBy namer(const Recordings& recordings) {
  return recordings.trace_file.empty() ? outputs::NamedBy::program : outputs::NamedBy::command_line;
}

/// Opens the file as it will be opened later, and leaves no trace of it. A link's target is opened only then, for that
/// empties it.
void try_file(const std::string& path, const Recordings& recordings) {
  for (const char* descriptors : {"/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(descriptors))
      throw base::EnvironmentError(fmt::format(
          "{}: is open in this process alone, and another one simulates and writes; expected the name of a file",
          path));
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw base::EnvironmentError(fmt::format("{}: cannot be written: it is not a regular file", path));
  if (namer(recordings) == outputs::NamedBy::command_line && outputs::is_written_in_place(path)) return;
  outputs::ByteFile file(path);
}

void tell_if_nothing_to_show(const RunPlan& plan, const record::Timeline& timeline) {
  if (!timeline.spans.empty() || !timeline.messages.empty() || timeline.last_step < 0) return;
  const std::string point = outputs::point_text(plan.parameters);
  base::say(fmt::format("{}{}{}, seed {}: the run has steps 0..{}: nothing to show", plan.label,
                        point.empty() ? "" : ", ", point, plan.seed, timeline.last_step));
}

void write_trace_file(const std::string& path, const RunPlan& plan, const record::Record& record,
                      const Recordings& recordings) {
  const record::Timeline& timeline = record.timelines.back();
  outputs::ByteFile file(path, namer(recordings));
  outputs::ChromeTrace format([&](std::string_view text) { file.write(text); });
  const bool flows =
      outputs::write_trace(timeline, record,
                           {{"simgrad", std::string(version)},
                            {"scenario", recordings.scenario},
                            {"run", plan.id},
                            {"label", plan.label},
                            {"parameters", plan.parameters.dump()},
                            {"seed", fmt::to_string(plan.seed)},
                            {"steps", fmt::format("{}..{}", recordings.steps.first, recordings.steps.second)}},
                           {.most_flows = recordings.most_flows}, format);
  file.close();
  if (!flows)
    base::say(fmt::format("{}: {} messages are more than --trace-flows {}: no arrows are drawn", path,
                          timeline.messages.size(), recordings.most_flows));
  if (timeline.full)
    base::say(fmt::format("{}: ends at {:.6g} s, for it is full; ask for fewer steps with --trace-steps", path,
                          timeline.to_s));
}

}  // namespace

std::vector<cluster::TimelineLimits> Recordings::limits(bool beginning) const {
  std::vector<cluster::TimelineLimits> all;
  if (beginning) all.emplace_back();
  if (more()) {
    constexpr int everybody = std::numeric_limits<int>::max();
    all.push_back({.workers = everybody, .servers = everybody, .spans = most_spans, .steps = steps});
  }
  return all;
}

std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text) {
  const auto fail = [&](const char* what) {
    throw base::ScenarioError(
        fmt::format("--trace-steps {}: {}; expected a..b with 0 <= a <= b, such as 0..19, or one step", text, what));
  };
  const auto number = [&](std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0) fail("that is no range of steps");
    return value;
  };
  const std::size_t dots = text.find("..");
  const std::int64_t first = number(std::string_view(text).substr(0, dots));
  const std::int64_t last = dots == std::string::npos ? first : number(std::string_view(text).substr(dots + 2));
  if (last < first) fail("the range is empty");
  return {first, last};
}

bool any_keeps_timeline(const std::vector<const RunPlan*>& runs) {
  return std::ranges::any_of(runs, &RunPlan::keeps_timeline);
}

std::string trace_file(const std::string& out, const std::string& stem, const Recordings& recordings) {
  if (!recordings.trace_file.empty()) return recordings.trace_file;
  return fmt::format("{}/trace/{}.json{}", out, stem, recordings.trace_packed ? ".gz" : "");
}

std::string events_file(const std::string& out, const std::string& stem) {
  return fmt::format("{}/events/{}.txt", out, stem);
}

void prepare(const std::string& out, const Recordings& recordings) {
  base::make_own_folder(out + "/timelines");
  if (recordings.trace) {
    const std::string file = trace_file(out, "run", recordings);
    const auto folder = std::filesystem::path(file).parent_path();
    if (recordings.trace_file.empty())
      base::make_own_folder(folder);
    else if (!folder.empty())
      base::make_directory(folder);
    try_file(file, recordings);
  }
  if (recordings.events) base::make_own_folder(out + "/events");
}

void write_recordings(const std::string& out, const std::vector<const RunPlan*>& runs, const record::Record& record,
                      const Recordings& recordings) {
  for (const RunPlan* run : runs) {
    const std::string stem = stem_of(*run);
    if (run->keeps_timeline) outputs::write_timeline(out, record.timelines.front(), stem);
    if (recordings.more()) tell_if_nothing_to_show(*run, record.timelines.back());
    if (recordings.trace) write_trace_file(trace_file(out, stem, recordings), *run, record, recordings);
    if (recordings.events)
      outputs::write_file(events_file(out, stem),
                          outputs::events_text(record.timelines.back(), static_cast<int>(run->workers)));
  }
}

}  // namespace simgrad::experiment
