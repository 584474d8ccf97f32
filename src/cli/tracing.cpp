#include "cli/tracing.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/errors.h"
#include "base/say.h"
#include "outputs/comparison.h"
#include "outputs/files/run_stem.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

CLI::Option* add_tracing(CLI::App& command, Tracing& tracing) {
  command
      .add_flag("--trace{json}", tracing.trace,
                "Writes a timeline of each run for ui.perfetto.dev: DIR/trace/<run>.json; --trace=gz: compressed; "
                "--trace=FILE: of the only run, compressed if FILE ends in .gz")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command
      .add_option("--trace-steps", tracing.steps,
                  "Steps that --trace and --events show, counted from 0; or one step (default 0..19)")
      ->type_name("A..B");
  command
      .add_option(
          "--trace-flows", tracing.flows,
          "The most messages for which a trace has arrows from sender to receiver (default 20000; 0: no arrows)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->type_name("N");
  return command.add_flag("--events", tracing.events,
                          "Prints one line for each event, run by run, instead of the table");
}

experiment::Recordings recordings_of(const Tracing& tracing, const experiment::Plan& plan) {
  experiment::Recordings recordings;
  recordings.scenario = plan.name;
  recordings.events = tracing.events;
  recordings.trace = !tracing.trace.empty();
  recordings.trace_packed = tracing.trace == "gz";
  if (recordings.trace && tracing.trace != "json" && !recordings.trace_packed) {
    if (plan.runs.size() != 1)
      throw base::ScenarioError(
          fmt::format("--trace={} is one file, but there are {} runs; choose one with --strategy, --seeds "
                      "or --set, or write --trace for a file for each run",
                      tracing.trace, plan.runs.size()));
    recordings.trace_file = tracing.trace;
  }
  if (!tracing.steps.empty()) {
    if (!recordings.more())
      throw base::ScenarioError(
          "--trace-steps selects the steps that --trace or --events show; give one of them, or leave it out");
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
    const std::string file = experiment::events_file(out, outputs::run_stem(run));
    if (run.record.status == record::Status::failed || !std::filesystem::exists(file)) continue;
    const std::string point = outputs::point_text(run.parameters);
    fmt::print("{}# {}{}{}, seed {}\n{}", first ? "" : "\n", outputs::printable(run.label), point.empty() ? "" : ", ",
               point, run.seed, outputs::read_file(file));
    first = false;
  }
}

void print_trace_hint(const outputs::Results& results, const std::string& out,
                      const experiment::Recordings& recordings) {
  constexpr std::uintmax_t large_bytes = 50'000'000;
  std::vector<std::string> files;
  std::uintmax_t bytes = 0;
  for (const outputs::Run& run : results.runs) {
    const std::string file = experiment::trace_file(out, outputs::run_stem(run), recordings);
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file, missing);
    if (run.record.status == record::Status::failed || missing) continue;
    files.push_back(file);
    bytes += size;
  }
  if (files.empty()) return;
  const std::string size = outputs::byte_count(static_cast<double>(bytes));
  if (files.size() == 1)
    base::say(fmt::format("Trace: {}, {}: open https://ui.perfetto.dev and drop the file", files.front(), size));
  else
    base::say(fmt::format(
        "Traces: {}/trace, one file for each run, {} in all: open https://ui.perfetto.dev and drop one of them", out,
        size));
  if (bytes > large_bytes && !files.front().ends_with(".gz"))
    base::say(fmt::format(
        "{} is much for a viewer; {} compresses it, --trace-steps shows fewer steps", size,
        recordings.trace_file.empty() ? "--trace=gz" : fmt::format("--trace={}.gz", recordings.trace_file)));
}

}  // namespace simgrad::cli
