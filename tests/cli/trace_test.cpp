// Traces and events as a user asks for them.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "cli/program.h"
#include "outputs/results.h"
#include "outputs/text/number_text.h"
#include "outputs/trace_reading.h"
#include "run_files.h"
#include "unpacked.h"

namespace trace_test {

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
label = "allreduce"
algorithm = "ring"
[[strategy]]
kind = "parameter_server"
consistency = "asp"
)";

struct Experiment {
  Scratch scratch;
  Experiment() { scratch.write("x.toml", scenario); }

  Called run(const std::string& options) const {
    return call("simgrad run x.toml --no-baseline " + options, scratch.path());
  }
  std::string file(const std::string& name) const { return contents(scratch.path() + "/" + name); }
  /// The name of a run's file, with its folder.
  std::string name_in(const std::string& folder, const std::string& id, const std::string& ending) const {
    return std::filesystem::relative(file_of_run(scratch.path() + "/" + folder, id, ending), scratch.path());
  }
  nlohmann::ordered_json results(const std::string& out) const {
    return outputs::parse_json(file(out + "/results.json"));
  }
};

/// results.json without what differs between two calls.
std::string timeless(nlohmann::ordered_json results) {
  for (auto& run : results["runs"]) run.erase("wall_s");
  return results.dump();
}

/// The lines that are a number and nothing else: answers to queries for one.
std::vector<std::size_t> numbers_alone(const std::string& text) {
  std::vector<std::size_t> numbers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error == std::errc() && end == line.data() + line.size()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

TEST_CASE("numbers alone on their lines are answers") {
  CHECK(numbers_alone("\"n\"\n42\n\n\"n\"\n7\nloaded 42 MB in 7 s\n") == std::vector<std::size_t>{42, 7});
}

TEST_CASE("option --trace writes a trace a run that viewers show right and whose times are those of ranks.csv") {
  const Experiment experiment;
  const Called called = experiment.run("--trace --out o");
  REQUIRE(called.exit_code == 0);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(experiment.scratch.path() + "/o/trace"))
    bytes += entry.file_size();
  CHECK(called.err.find("Traces: o/trace, one file for each run, " + outputs::byte_count(static_cast<double>(bytes)) +
                        " in all: open https://ui.perfetto.dev") != std::string::npos);
  CHECK(called.err.find("--trace=gz") == std::string::npos);
  for (const auto& run : experiment.results("o")["runs"]) {
    const Trace trace(experiment.file(experiment.name_in("o/trace", run["id"], ".json")));
    INFO(run["label"]);
    CHECK(trace.faults.empty());
    CHECK(trace.about.at("label") == run["label"]);
    CHECK(trace.about.at("scenario") == "x");
    CHECK(trace.about.at("run") == run["id"]);
    CHECK(trace.about.at("seed") == "1");
    CHECK(trace.distributed == nlohmann::json{{"backend", "simgrad"}, {"world_size", run["ranks"].size()}});
    CHECK_FALSE(trace.starts.empty());
    CHECK(trace.counters.contains("loss"));
    CHECK(trace.counters.size() > 1);  // counters of links
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
    const auto timeline = [&](const std::string& out) {
      return experiment.file(experiment.name_in(out + "/timelines", id, ".json.gz"));
    };
    CHECK(experiment.file(experiment.name_in("a/trace", id, ".json")) ==
          experiment.file(experiment.name_in("b/trace", id, ".json")));
    CHECK(timeline("a") == timeline("b"));
    CHECK(timeline("plain") == timeline("b"));
  }
}

TEST_CASE("option --trace=gz compresses every trace, --trace=FILE is the only run's") {
  const Experiment experiment;
  REQUIRE(experiment.run("--trace=gz --out o").exit_code == 0);
  const std::string id = experiment.results("o")["runs"][0]["id"];
  const std::string packed = unpacked(file_of_run(experiment.scratch.path() + "/o/trace", id, ".json.gz"));
  CHECK(Trace(packed).faults.empty());
  const Called called = experiment.run("--trace=one.json --strategy allreduce --out p");
  REQUIRE(called.exit_code == 0);
  CHECK(called.err.find(fmt::format("Trace: one.json, {}: open https://ui.perfetto.dev and drop the file",
                                    outputs::byte_count(static_cast<double>(packed.size())))) != std::string::npos);
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
    for (const auto& slice : slices)
      CHECK((slice.arguments["step"] == 1 || slice.arguments["step"] == 2 || slice.name == "wait:idle"));
  REQUIRE(experiment.run("--trace=t.json --trace-steps 2 --strategy allreduce --out o").exit_code == 0);
  CHECK_FALSE(Trace(experiment.file("t.json")).slices.empty());
}

TEST_CASE("a run that has none of the requested steps is reported, once") {
  const Experiment experiment;
  const Called called = experiment.run("--trace=t.json --trace-steps 1000..2000 --strategy allreduce --out o");
  CHECK(called.exit_code == 0);
  CHECK(called.err.find("allreduce, seed 1: the run has steps 0..3: nothing to show\n") != std::string::npos);
  CHECK(Trace(experiment.file("t.json")).slices.empty());
  CHECK(experiment.run("--trace=t.json --trace-steps 3 --strategy allreduce --out o").err.find("nothing to show") ==
        std::string::npos);
}

TEST_CASE("a trace shows all ranks that are down or idle during the requested steps") {
  const Experiment experiment;
  // A step takes 30 ms or more: rank 1 is lost in step 2, all begin again from nothing, and steps 0 and 1 come twice.
  experiment.scratch.write("crash.toml", R"(
[cluster]
workers = 3
speed = "1MF"
bandwidth = "1Mbps"
latency = "10ms"
[cluster.failures]
crash = [{ rank = 1, at = "100ms", repair = "70ms" }]
detection = "5ms"
[data]
samples = 30
features = 3
[model]
kind = "least_squares"
[training]
checkpoint_every_steps = 0
[stop]
steps = 4
[[strategy]]
kind = "allreduce"
label = "allreduce"
algorithm = "ring"
)");
  const Called called = call("simgrad run crash.toml --no-baseline --events --trace=t.json --trace-steps 0..1 --out o",
                             experiment.scratch.path());
  REQUIRE(called.exit_code == 0);
  std::istringstream lines(called.out);
  double down_s = 0.0;
  bool idle = false;
  for (std::string line; std::getline(lines, line);) {
    double from_s = 0.0, to_s = 0.0;
    std::string who, rank, kind, what;
    if (!(std::istringstream(line) >> from_s >> to_s >> who >> rank >> kind >> what)) continue;
    if (kind == "down") down_s += to_s - from_s;
    if (kind == "down") CHECK(rank == "1");
    idle = idle || what == "idle";
  }
  CHECK(down_s == Approx(0.07).epsilon(1e-9));
  CHECK(idle);
  const Trace trace(experiment.file("t.json"));
  CHECK(trace.faults.empty());
  CHECK(trace.total_ns(2, "down") == 70'000'000);
}

TEST_CASE("a trace that cannot be written is refused before anything runs") {
  const Experiment experiment;
  std::filesystem::create_directories(experiment.scratch.path() + "/folder.json");
  for (const char* file : {"folder.json", "/proc/x.json", "x.toml/t.json", "/dev/full"}) {
    INFO(file);
    const Called called = experiment.run(std::string("--strategy allreduce --out o --trace=") + file);
    CHECK(called.exit_code == 5);
    CHECK(called.out.empty());
    CHECK(called.err.starts_with(file == std::string_view("x.toml/t.json")
                                     ? "x.toml: cannot be made"
                                     : std::string(file) + ": cannot be written"));
    CHECK(called.err.find("perfetto") == std::string::npos);
    CHECK_FALSE(std::filesystem::exists(experiment.scratch.path() + "/o/results.json"));
  }
}

TEST_CASE("a trace that cannot be written in the end leaves all other output complete, and ends with 5") {
  const Experiment experiment;
  REQUIRE(experiment.run("--out plain").exit_code == 0);
  const auto id = [&](std::size_t run) { return experiment.results("plain")["runs"][run]["id"].get<std::string>(); };
  const std::string one = "allreduce-w3-s1-" + id(0), other = "parameter_server-consistency-asp-w3-s1-" + id(1);
  std::filesystem::create_directories(experiment.scratch.path() + "/o/trace/" + one + ".json/in the way");
  const Called called = experiment.run("--trace --out o");
  CHECK(called.exit_code == 5);
  CHECK(called.err.find("o/trace/" + one + ".json: cannot be written: ") != std::string::npos);
  CHECK(called.err.find("Trace: o/trace/" + other + ".json") != std::string::npos);  // a trace that is there
  CHECK(called.out.find("allreduce") != std::string::npos);
  CHECK(called.out.find("parameter_server") != std::string::npos);
  CHECK(timeless(experiment.results("o")) == timeless(experiment.results("plain")));
  CHECK(Trace(experiment.file("o/trace/" + other + ".json")).faults.empty());
}

TEST_CASE("options of traces that contradict each other, or the plan, are refused with a remedy") {
  const Experiment experiment;
  const auto refusal = [&](const std::string& options) {
    const Called called = experiment.run(options + " --out o");
    CHECK(called.exit_code == 2);
    return called.err;
  };
  CHECK(refusal("--trace=t.json").find("--trace=t.json is one file, but there are 2 runs; choose one") !=
        std::string::npos);
  CHECK(refusal("--trace-steps 1..2").find("give one of them, or leave it out") != std::string::npos);
  CHECK(refusal("--trace-flows 5").find("--trace-flows is about --trace") != std::string::npos);
  CHECK(refusal("--trace --trace-steps 3..1").find("the range is empty") != std::string::npos);
  for (const char* steps : {"x", "1..", "-1..3", "1...3", "1..2..3"})
    CHECK(refusal(std::string("--trace --trace-steps=") + steps).find("expected a..b with 0 <= a <= b") !=
          std::string::npos);
  CHECK(refusal("--trace --dry-run").find("--dry-run runs nothing") != std::string::npos);
  CHECK(refusal("--events --json").find("--events") != std::string::npos);
  CHECK(refusal("--events --quiet").find("--events") != std::string::npos);
}

TEST_CASE("option --events prints every run under a heading, and no table") {
  const Experiment experiment;
  const Called called = experiment.run("--events --trace-steps 0..0 --out o");
  REQUIRE(called.exit_code == 0);
  std::istringstream lines(called.out);
  std::string heading;
  std::map<std::string, std::multiset<std::string>> messages;  // by heading: who sends what to whom
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.find("Results:") == std::string::npos);
    if (line.starts_with("# ")) messages[heading = line];
    std::istringstream words(line);
    std::string from, to, who, number, kind, what, step, bytes, peer, peers_number;
    words >> from >> to >> who >> number >> kind >> what >> step >> bytes >> peer >> peers_number;
    if (kind != "message") continue;
    CHECK(std::stod(from) < std::stod(to));
    messages[heading].insert(who + " " + number + " " + what + " " + bytes + " " + peer + " " + peers_number);
  }
  // A ring of 3 sends one number in each of its 2 (3 - 1) exchanges. Each worker of asp is sent three and sends three.
  std::multiset<std::string> ring, servers;
  for (const int rank : {0, 1, 2}) {
    for (int exchange = 0; exchange < 4; ++exchange)
      ring.insert(fmt::format("rank {} allreduce 8 rank {}", rank, (rank + 1) % 3));
    servers.insert(fmt::format("server 0 pull 24 rank {}", rank));
    servers.insert(fmt::format("rank {} push 24 server 0", rank));
  }
  REQUIRE(messages.size() == 2);
  CHECK(messages["# allreduce, seed 1"] == ring);
  CHECK(messages["# parameter_server(consistency=asp), seed 1"] == servers);
}

TEST_CASE("Perfetto's trace_processor reads a trace and finds every slice") {
  if (std::system("command -v trace_processor >/dev/null 2>&1 || command -v trace_processor_shell >/dev/null 2>&1") !=
      0) {
    WARN("skipped: trace_processor is not in PATH");
    return;
  }
  const Experiment experiment;
  REQUIRE(experiment.run("--trace=t.json --strategy allreduce --out o").exit_code == 0);
  const Trace trace(experiment.file("t.json"));
  std::size_t slices = 0;
  for (const auto& [lane, all] : trace.slices) slices += all.size();
  experiment.scratch.write("q.sql", "select count(*) as n from slice;\nselect count(*) as n from flow;\n");
  const Called called = call("$(command -v trace_processor || command -v trace_processor_shell) -q q.sql t.json",
                             experiment.scratch.path());
  CHECK(called.exit_code == 0);
  CHECK(numbers_alone(called.out) == std::vector{slices, trace.starts.size()});
}

}  // namespace trace_test
