/// Timelines that a run leaves beside its record, and traces and events where they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/recording/timeline_recorder.h"
#include "experiment/plan.h"

namespace simgrad::experiment {

/// What is asked for beside the timeline of its beginning, which every run has.
struct Recordings {
  bool trace = false;
  std::string trace_file;     ///< of the only run; empty: <out>/trace/<id>.json
  bool trace_packed = false;  ///< ".gz" behind that
  bool events = false;
  std::string scenario;  ///< its name, for traces
  std::pair<std::int64_t, std::int64_t> steps{0, 19};
  std::size_t most_flows = 20'000;

  bool more() const { return trace || events; }
  std::vector<cluster::TimelineLimits> tapes() const;
};

/// "a..b", or "a": from a up to and including b, 0 <= a <= b.  Errors: ScenarioError.
std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text);

std::string timeline_file(const std::string& out, const std::string& id);
std::string trace_file(const std::string& out, const std::string& id, const Recordings& recordings);
std::string events_file(const std::string& out, const std::string& id);

/// Makes the folders, and tries that the trace can be written.  Errors: EnvironmentError.
void prepare(const std::string& out, const Recordings& recordings);
/// Writes what was recorded in a run, for each of these, which are all one piece of work. Says on stderr what had to be
/// left out.
/// record: with the timelines of Recordings::tapes().  Errors: EnvironmentError.
void write_recordings(const std::string& out, const std::vector<const RunPlan*>& runs, const record::Record& record,
                      const Recordings& recordings);

}  // namespace simgrad::experiment
