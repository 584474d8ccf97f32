/// --trace, --events and what belongs to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiment/run/recordings.h"
#include "outputs/results.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace simgrad::cli {

struct Tracing {
  std::string trace;  ///< "": none; "json" or "gz": a file a run; else the file of the only run
  std::string steps;
  std::optional<std::int64_t> flows;
  bool events = false;
};

/// Returns --events, which others exclude.
CLI::Option* add_tracing(CLI::App& command, Tracing& tracing);

/// Errors: base::ScenarioError where the options contradict each other or do not suit the plan.
experiment::Recordings recordings_of(const Tracing& tracing, const experiment::Plan& plan);

/// On stdout, every run under a heading.
void print_events(const outputs::Results& results, const std::string& out);

/// On stderr: where the traces are that were written, how large they are and what to do with them.
void print_trace_hint(const outputs::Results& results, const std::string& out,
                      const experiment::Recordings& recordings);

}  // namespace simgrad::cli
