/// The options --trace and --events, and those that belong to them.
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
  std::string trace;  ///< "": none; "json" or "gz": one file for each run; else the file of the only run
  std::string steps;
  std::optional<std::int64_t> flows;
  bool events = false;
};

/// Adds the options. Returns --events, which other options exclude.
CLI::Option* add_tracing(CLI::App& command, Tracing& tracing);

/// The recordings that the options ask for.  Errors: base::ScenarioError if the options contradict each other or do not
/// suit the plan.
experiment::Recordings recordings_of(const Tracing& tracing, const experiment::Plan& plan);

/// Prints the events of every run under a heading, on stdout.
void print_events(const outputs::Results& results, const std::string& out);

/// Prints the places and sizes of the written traces, and how to open them, on stderr.
void print_trace_hint(const outputs::Results& results, const std::string& out,
                      const experiment::Recordings& recordings);

}  // namespace simgrad::cli
