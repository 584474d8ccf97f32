// Traces and events as a user asks for them.
#include <sstream>

#include "catch.h"
#include "cli/program.h"
#include "outputs/results.h"
#include "outputs/trace_reading.h"
#include "unpacked.h"

using namespace simgrad;
using namespace simgrad::tests;

namespace {

const std::string scenario = R"(
[cluster]
workers = 3
relative_speeds = [0.5]
speed = "1MF"
bandwidth = "1Mbps"
latency = "100us"
link_bins = 10
[data]
samples = 30
features = 3
[model]
kind = "least_squares"
[stop]
steps = 4
[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "parameter_server"
consistency = "asp"
)";

struct Experiment {
  Scratch scratch;
  Experiment() { scratch.write("x.toml", scenario); }

  Called run(const std::string& options) const { return call("simgrad run x.toml --no-baseline " + options, scratch.path()); }
  std::string file(const std::string& name) const { return contents(scratch.path() + "/" + name); }
  nlohmann::ordered_json results(const std::string& out) const { return outputs::parse_json(file(out + "/results.json")); }
};

/// results.json without what differs between two calls.
std::string timeless(nlohmann::ordered_json results) {
  for (auto& run : results["runs"]) run.erase("wall_s");
  return results.dump();
}

}  // namespace

TEST_CASE("option --trace writes a trace a run that viewers show right and whose times are those of ranks.csv") {
  const Experiment experiment;
  const Called called = experiment.run("--trace --out o");
  REQUIRE(called.exit_code == 0);
  CHECK(called.err.find("Traces: o/trace, a file a run: open https://ui.perfetto.dev") != std::string::npos);
  for (const auto& run : experiment.results("o")["runs"]) {
    const Trace trace(experiment.file("o/trace/" + run["id"].get<std::string>() + ".json"));
    INFO(run["label"]);
    CHECK(trace.faults.empty());
    CHECK(trace.about.at("label") == run["label"]);
    CHECK_FALSE(trace.starts.empty());
    CHECK(trace.counters.contains("loss"));
    CHECK(trace.counters.size() > 1);  // of links
    for (const auto& rank : run["ranks"])
      for (const char* part : {"compute", "communicate", "wait", "down"}) {
        INFO(rank["rank"] << " " << part);
        // A slice is rounded to nanoseconds at both ends, and there are some dozens.
        CHECK(static_cast<double>(trace.total_ns(rank["rank"].get<int>() + 1, part)) * 1e-9 ==
              Approx(rank[std::string(part) + "_s"].get<double>()).margin(1e-7));
      }
  }
}

TEST_CASE("a trace does not depend on threads and jobs, and tracing changes no result") {
  const Experiment experiment;
  REQUIRE(experiment.run("--out plain").exit_code == 0);
  REQUIRE(experiment.run("--trace --threads 0 --jobs 1 --out a").exit_code == 0);
  REQUIRE(experiment.run("--trace --events --threads 3 --jobs 2 --out b").exit_code == 0);
  CHECK(timeless(experiment.results("plain")) == timeless(experiment.results("a")));
  CHECK(timeless(experiment.results("plain")) == timeless(experiment.results("b")));
  for (const auto& run : experiment.results("a")["runs"]) {
    const std::string id = run["id"];
    CHECK(experiment.file("a/trace/" + id + ".json") == experiment.file("b/trace/" + id + ".json"));
    CHECK(experiment.file("a/timelines/" + id + ".json") == experiment.file("b/timelines/" + id + ".json"));
    CHECK(experiment.file("plain/timelines/" + id + ".json") == experiment.file("b/timelines/" + id + ".json"));
  }
}

TEST_CASE("option --trace=gz packs every trace, --trace=FILE is the only run's") {
  const Experiment experiment;
  REQUIRE(experiment.run("--trace=gz --out o").exit_code == 0);
  const std::string id = experiment.results("o")["runs"][0]["id"];
  const std::string packed = unpacked(experiment.scratch.path() + "/o/trace/" + id + ".json.gz");
  CHECK(Trace(packed).faults.empty());
  const Called called = experiment.run("--trace=one.json --strategy allreduce --out p");
  REQUIRE(called.exit_code == 0);
  CHECK(called.err.find("Trace: one.json: open https://ui.perfetto.dev and drop the file") != std::string::npos);
  CHECK(experiment.file("one.json") == packed);
  REQUIRE(experiment.run("--strategy allreduce --trace=one.json.gz --out p").exit_code == 0);
  CHECK(unpacked(experiment.scratch.path() + "/one.json.gz") == packed);
}

TEST_CASE("option --trace-steps chooses the steps of a trace") {
  const Experiment experiment;
  REQUIRE(experiment.run("--trace=t.json --trace-steps 1..2 --strategy allreduce --out o").exit_code == 0);
  const Trace trace(experiment.file("t.json"));
  CHECK(trace.faults.empty());
  for (const auto& [lane, slices] : trace.slices)
    for (const auto& slice : slices) CHECK((slice.arguments["step"] == 1 || slice.arguments["step"] == 2));
}

TEST_CASE("options of traces that contradict each other, or the plan, are refused with what to do") {
  const Experiment experiment;
  const auto refusal = [&](const std::string& options) {
    const Called called = experiment.run(options + " --out o");
    CHECK(called.exit_code == 2);
    return called.err;
  };
  CHECK(refusal("--trace=t.json").find("--trace=t.json is one file, but there are 2 runs; choose one") != std::string::npos);
  CHECK(refusal("--trace-steps 1..2").find("give one of them, or leave it out") != std::string::npos);
  CHECK(refusal("--trace-flows 5").find("--trace-flows is about --trace") != std::string::npos);
  CHECK(refusal("--trace --trace-steps 3..1").find("the range is empty") != std::string::npos);
  for (const char* steps : {"x", "1..", "-1..3", "1...3", "1..2..3"})
    CHECK(refusal(std::string("--trace --trace-steps=") + steps).find("expected a..b with 0 <= a <= b") != std::string::npos);
  CHECK(refusal("--trace --dry-run").find("--dry-run runs nothing") != std::string::npos);
  CHECK(refusal("--events --json").find("--events") != std::string::npos);
  CHECK(refusal("--events --quiet").find("--events") != std::string::npos);
}

TEST_CASE("option --events prints every run under a heading, and no table") {
  const Experiment experiment;
  const Called called = experiment.run("--events --trace-steps 0..0 --out o");
  REQUIRE(called.exit_code == 0);
  std::istringstream lines(called.out);
  int headings = 0, messages = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) ++headings;
    if (line.find(" message ") != std::string::npos) ++messages;
    CHECK(line.find("Results:") == std::string::npos);
  }
  CHECK(headings == 2);
  // A ring of 3 sends 3 * 4 messages a step; asp's pulls and pushes of step 0, of server and workers, come on top.
  CHECK(messages > 12);
}

TEST_CASE("Perfetto's trace_processor reads a trace and finds every slice") {
  if (std::system("command -v trace_processor >/dev/null 2>&1 || command -v trace_processor_shell >/dev/null 2>&1") != 0) {
    WARN("skipped: trace_processor is not in PATH");
    return;
  }
  const Experiment experiment;
  REQUIRE(experiment.run("--trace=t.json --strategy allreduce --out o").exit_code == 0);
  const Trace trace(experiment.file("t.json"));
  std::size_t slices = 0;
  for (const auto& [lane, all] : trace.slices) slices += all.size();
  experiment.scratch.write("q.sql", "select count(*) as n from slice;\nselect count(*) as n from flow;\n");
  const Called called =
      call("$(command -v trace_processor || command -v trace_processor_shell) -q q.sql t.json", experiment.scratch.path());
  CHECK(called.exit_code == 0);
  CHECK(called.out.find(std::to_string(slices)) != std::string::npos);
  CHECK(called.out.find(std::to_string(trace.starts.size())) != std::string::npos);
}
