#include "cli/tracing.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/errors.h"
#include "outputs/comparison.h"

namespace simgrad::cli {

CLI::Option* add_tracing(CLI::App& command, Tracing& tracing) {
  command
      .add_flag("--trace{json}", tracing.trace,
                "A timeline of each run for ui.perfetto.dev: DIR/trace/<id>.json; --trace=gz: packed; --trace=FILE: of the only "
                "run, packed where FILE ends in .gz")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command.add_option("--trace-steps", tracing.steps, "Steps that --trace and --events show, counted from 0 (default 0..19)")
      ->type_name("A..B");
  command
      .add_option("--trace-flows", tracing.flows,
                  "With more messages than that a trace has no arrows from sender to receiver (default 20000; 0: none)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->type_name("N");
  return command.add_flag("--events", tracing.events, "Instead of the table: one line an event, run by run");
}

experiment::Recordings recordings_of(const Tracing& tracing, const experiment::Plan& plan) {
  experiment::Recordings recordings;
  recordings.events = tracing.events;
  recordings.trace = !tracing.trace.empty();
  recordings.trace_packed = tracing.trace == "gz";
  if (recordings.trace && tracing.trace != "json" && !recordings.trace_packed) {
    if (plan.runs.size() != 1)
      throw base::ScenarioError(fmt::format("--trace={} is one file, but there are {} runs; choose one with --strategy, --seeds "
                                            "or --set, or write --trace: a file a run",
                                            tracing.trace, plan.runs.size()));
    recordings.trace_file = tracing.trace;
  }
  if (!tracing.steps.empty()) {
    if (!recordings.more())
      throw base::ScenarioError("--trace-steps says what --trace or --events show; give one of them, or leave it out");
    recordings.steps = experiment::parse_steps(tracing.steps);
  }
  if (tracing.flows) {
    if (!recordings.trace) throw base::ScenarioError("--trace-flows is about --trace; give that, too, or leave it out");
    recordings.most_flows = static_cast<std::size_t>(*tracing.flows);
  }
  return recordings;
}

void print_events(const outputs::Results& results, const std::string& out) {
  bool first = true;
  for (const outputs::Run& run : results.runs) {
    if (run.record.status == record::Status::failed) continue;
    const std::string point = outputs::point_text(run.parameters);
    fmt::print("{}# {}{}{}, seed {}\n{}", first ? "" : "\n", run.label, point.empty() ? "" : ", ", point, run.seed,
               outputs::read_file(experiment::events_file(out, run.id)));
    first = false;
  }
}

void print_trace_hint(const experiment::Plan& plan, const std::string& out, const experiment::Recordings& recordings) {
  if (plan.runs.empty()) return;
  const std::string file = experiment::trace_file(out, plan.runs.front().id, recordings);
  if (plan.runs.size() == 1)
    fmt::print(stderr, "Trace: {}: open https://ui.perfetto.dev and drop the file\n", file);
  else
    fmt::print(stderr, "Traces: {}/trace, a file a run: open https://ui.perfetto.dev and drop one of them\n", out);
}

}  // namespace simgrad::cli
