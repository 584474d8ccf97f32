/// The files that a run leaves beside its record: timelines, and traces and events if they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/recording/timeline_recorder.h"
#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// The recordings that the command line asks for, besides the timelines of beginnings that a plan keeps.
struct Recordings {
  bool trace = false;
  std::string trace_file;     ///< the file of the only run; empty: <out>/trace/<stem>.json
  bool trace_packed = false;  ///< true adds ".gz" to the name
  bool events = false;
  std::string scenario;  ///< the scenario's name, for traces
  std::pair<std::int64_t, std::int64_t> steps{0, 19};
  std::size_t most_flows = 20'000;

  bool more() const { return trace || events; }
  /// beginning: whether a timeline of the run's beginning is kept; it comes first.
  std::vector<cluster::TimelineLimits> limits(bool beginning) const;
};

/// "a..b", or "a": from a up to and including b, 0 <= a <= b.  Errors: ScenarioError.
std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text);

/// Whether the timeline of one of these runs is kept.
bool any_keeps_timeline(const std::vector<const RunPlan*>& runs);
/// The files of a run's trace and events.  stem: stem_of() in run_store.h.
std::string trace_file(const std::string& out, const std::string& stem, const Recordings& recordings);
std::string events_file(const std::string& out, const std::string& stem);

/// Makes the folders, and tests that the trace can be written.  Errors: EnvironmentError.
void prepare(const std::string& out, const Recordings& recordings);
/// Writes the recordings of a run for each of `runs`, which are one piece of work. Reports on stderr if something had
/// to be left out.
/// record: with the timelines of Recordings::limits(any_keeps_timeline(runs)).  Errors: EnvironmentError.
void write_recordings(const std::string& out, const std::vector<const RunPlan*>& runs, const record::Record& record,
                      const Recordings& recordings);

}  // namespace simgrad::experiment
