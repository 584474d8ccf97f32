// Runs that differ in their timing alone compute their numbers once, and nobody can tell by their files.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "base/hash.h"
#include "catch.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace shared_numbers_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string network = " --grid cluster.bandwidth=1Gbps,37Mbps --grid cluster.latency=50us,3ms";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All files below the directory but those of known numbers, without real times.
std::map<std::string, std::string> results_below(const std::string& directory) {
  static const std::regex real_time(R"re("wall_s":[ ]?[-0-9.e+]+)re");
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = fs::relative(entry.path(), directory);
    if (!entry.is_regular_file() || name.starts_with("trajectories") || name == "runs.csv") continue;
    files[name] = std::regex_replace(contents(entry.path()), real_time, "");
  }
  return files;
}

/// The files of known numbers, or of states.
std::vector<fs::path> trajectories(const Scratch& scratch, const std::string& out, const std::string& extension = "") {
  std::vector<fs::path> files;
  const fs::path folder = scratch.path() + "/" + out + "/trajectories";
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  return files;
}

/// A state, without its checksum, with every number's sign changed: a word, then the tensors, each with two words of
/// lineage and its size before its numbers.
std::string with_signs_changed(std::string state) {
  for (std::size_t at = 8; at < state.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, state.data() + at + 16, sizeof size);
    at += 24;
    for (const std::size_t end = at + 8 * size; at < end; at += 8) state.at(at + 7) ^= '\x80';
  }
  return state;
}

/// A state, without its checksum, each of whose tensors has so many numbers more.
std::string with_longer_tensors(const std::string& state, std::uint64_t more) {
  std::string longer = state.substr(0, 8);
  for (std::size_t at = 8; at < state.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, state.data() + at + 16, sizeof size);
    const std::uint64_t others = size + more;
    longer += state.substr(at, 16) + std::string(reinterpret_cast<const char*>(&others), sizeof others) +
              state.substr(at + 24, 8 * size) + std::string(8 * more, '\0');
    at += 24 + 8 * size;
  }
  return longer;
}

fs::path timeline_in(const Scratch& scratch, const std::string& out, const std::string& id) {
  return file_of_run(scratch.path() + "/" + out + "/timelines", id, ".json.gz");
}

/// Runs with shared numbers and without, and requires equal files.
void compare(const Scratch& scratch, const std::string& arguments) {
  INFO(arguments);
  const std::string run = "run x.toml --quiet " + arguments;
  REQUIRE(program(run + " --out shared", scratch).exit_code == 0);
  REQUIRE(program(run + " --out own --own-numbers", scratch).exit_code == 0);
  CHECK(results_below(scratch.path() + "/shared") == results_below(scratch.path() + "/own"));
  CHECK(trajectories(scratch, "own").empty());
}

}  // namespace

TEST_CASE(
    "shared numbers: a sweep over networks leaves the files of runs that compute everything, for all strategies") {
  const Scratch scratch;
  scratch.write("x.toml", small.substr(0, small.find("[[strategy]]")) + all_strategies);
  compare(scratch, "--jobs 2 --no-why" + network);
  CHECK(trajectories(scratch, "shared").size() > 5);
}

TEST_CASE("shared numbers: compressed gradients, replicas that drift apart, other optimizers, slow workers") {
  const Scratch scratch;
  scratch.write("x.toml", small + R"(compression = { kind = "qsgd" }
label = "qsgd"
[[strategy]]
kind = "allreduce"
compression = { kind = "top_k", fraction = 0.5, error_feedback = true }
label = "top_k"
[[strategy]]
kind = "local_sgd"
[[strategy]]
kind = "gossip"
[[strategy]]
kind = "parameter_server"
servers = 2
)");
  compare(scratch,
          "--jobs 2 --set training.optimizer=adam --set training.batch_size=40 --set cluster.stragglers=bimodal "
          "--set cluster.jitter=log_normal" +
              network);
  compare(scratch, "--force --set cluster.collectives=messages --set evaluate.every_steps=3 --threads 2" + network);
}

TEST_CASE("shared numbers: runs to other lengths and targets find what is known, and compute the rest") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  compare(scratch, "--jobs 1 --no-baseline --no-why --grid stop.steps=3,10,6 --grid cluster.latency=1ms,1us");
  compare(scratch,
          "--jobs 1 --no-baseline --no-why --force --grid stop.loss=0.4,0.1,0.3 --grid cluster.latency=1ms,1us");
  compare(scratch,
          "--force --no-why --grid training.learning_rate=0.1,2 --grid cluster.latency=1ms,1us");  // 2 diverges
}

TEST_CASE("shared numbers: a later command takes them from the directory, and simulates no gradient") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto run = [&](const std::string& latency) {
    return program("run x.toml --no-baseline --no-why --out d --grid cluster.latency=" + latency, scratch);
  };
  REQUIRE(run("1us,2us").exit_code == 0);
  const auto files = trajectories(scratch, "d");
  REQUIRE(files.size() == 1);
  // Other losses than anybody would compute, with the right checksum.
  std::string text = contents(files.front());
  text = text.substr(0, text.find("checksum "));
  text = std::regex_replace(text, std::regex(R"re((score \w+) \S+)re"), "$1 0.125");
  std::ofstream(files.front(), std::ios::binary) << text << "checksum " << simgrad::base::hash(text) << "\n";
  const Called believed = run("1us,2us,3us");
  REQUIRE(believed.exit_code == 0);
  CHECK(contains(believed.err, "simgrad: 2 of 3 runs are in d already; --force does them again\n"));
  CHECK(contains(believed.err,
                 "simgrad: the numbers of 1 run come from d/trajectories, where an earlier command has left them; "
                 "--own-numbers computes them\n"));
  const Json results = Json::parse(contents(scratch.path() + "/d/results.json"));
  CHECK(results["runs"][0]["final_loss"] != 0.125);  // finished before
  CHECK(results["runs"][2]["final_loss"] == 0.125);
  // A file that is cut off is told, and its numbers are computed.
  std::ofstream(files.front(), std::ios::binary) << text.substr(0, text.size() / 2);
  const Called changed = run("1us,2us,5us");
  CHECK(contains(changed.err, " is not whole; its numbers are computed again\n"));
  // Scores without a loss are those of no training.
  const std::string lossless = std::regex_replace(text, std::regex(R"re((score \w+) .*)re"), "$1 - 0.5");
  std::ofstream(files.front(), std::ios::binary) << lossless << "checksum " << simgrad::base::hash(lossless) << "\n";
  const Called misfits = run("1us,2us,6us");
  CHECK(contains(misfits.err, "the numbers that are kept do not fit this training; they are computed again\n"));
  CHECK(results_in(scratch, "d")["runs"][2]["final_loss"] == results["runs"][0]["final_loss"]);
  // Nor is one whose numbers are not those of its checksum.
  text = contents(files.front());
  std::ofstream(files.front(), std::ios::binary) << with(text, "score ", "score f").erase(text.find("score ") + 7, 1);
  const Called again = run("1us,2us,4us");
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, files.front().filename().string() + " is not whole; its numbers are computed again\n"));
  CHECK(results_in(scratch, "d")["runs"][2]["final_loss"] == results["runs"][0]["final_loss"]);
  // --force, and a check, compute everything.
  REQUIRE(program("run x.toml --no-baseline --no-why --out d --force --grid cluster.latency=1us", scratch).exit_code ==
          0);
  CHECK(results_in(scratch, "d")["runs"][0]["final_loss"] == results["runs"][0]["final_loss"]);
}

TEST_CASE("shared numbers: a longer run goes on from the state that is kept") {
  const Scratch scratch;
  scratch.write("x.toml", with(with(small, "samples = 200", "samples = 20000"), "features = 5", "features = 40") +
                              "compression = { kind = \"sign\" }\n");
  const auto run = [&](const std::string& out, const std::string& grid) {
    const Called called = program("run x.toml --no-baseline --no-why --out " + out + " --grid " + grid, scratch);
    CHECK(called.exit_code == 0);
    return called.err;
  };
  const auto state = [&](const std::string& out) {
    const std::vector<fs::path> states = trajectories(scratch, out, ".state");
    return states.empty() ? fs::path() : states.front();
  };
  const auto equal_but_for_the_first_part = [&](const std::string& out) {
    const Json on = results_in(scratch, out)["runs"], own = results_in(scratch, "own")["runs"];
    REQUIRE(on.size() == 1);
    CHECK(on[0]["curve"] == own[0]["curve"]);
    CHECK((contents(timeline_in(scratch, out, on[0]["id"])) == contents(timeline_in(scratch, "own", own[0]["id"]))));
  };
  run("own", "stop.steps=90 --own-numbers");
  CHECK(trajectories(scratch, "own").empty());
  run("on", "stop.steps=60");
  REQUIRE_FALSE(state("on").empty());
  const std::string kept = contents(state("on"));
  CHECK(run("on", "stop.steps=90").find("whole") == std::string::npos);
  equal_but_for_the_first_part("on");
  CHECK((contents(state("on")) != kept));  // that of the longer run
  // Other numbers than those of the training: the run goes on from them.
  run("false", "stop.steps=60");
  const std::string changed = with_signs_changed(kept.substr(0, kept.size() - 32));
  std::ofstream(state("false"), std::ios::binary) << changed << simgrad::base::hash(changed);
  run("false", "stop.steps=90");
  const Json believed = results_in(scratch, "false")["runs"][0]["curve"],
             own = results_in(scratch, "own")["runs"][0]["curve"];
  CHECK(believed[58] == own[58]);
  CHECK((believed != own));
  // A damaged state is told, and made again.
  run("damaged", "stop.steps=60");
  std::ofstream(state("damaged"), std::ios::binary) << kept.substr(0, kept.size() - 1);
  CHECK(contains(run("damaged", "stop.steps=90"),
                 state("damaged").filename().string() + " is not whole; its numbers are computed again\n"));
  equal_but_for_the_first_part("damaged");
  const std::string again = contents(state("damaged"));
  CHECK(again.substr(again.size() - 32) == simgrad::base::hash(again.substr(0, again.size() - 32)));
  // Nor is a state taken whose tensors have other lengths, or that lacks most of them.
  run("misfit", "stop.steps=60");
  const std::string longer = with_longer_tensors(kept.substr(0, kept.size() - 32), 1000);
  std::ofstream(state("misfit"), std::ios::binary) << longer << simgrad::base::hash(longer);
  CHECK(contains(run("misfit", "stop.steps=90"), state("misfit").filename().string() +
                                                     " does not fit this training; its numbers are computed again\n"));
  equal_but_for_the_first_part("misfit");
  run("empty", "stop.steps=60");
  std::ofstream(state("empty"), std::ios::binary) << kept.substr(0, 8) << simgrad::base::hash(kept.substr(0, 8));
  run("empty", "stop.steps=90");
  equal_but_for_the_first_part("empty");
  // Nothing is kept of a short run, nor under a limit of memory.
  run("short", "stop.steps=2");
  run("limited", "stop.steps=60 --run-memory 4GB");
  CHECK(state("short").empty());
  CHECK(state("limited").empty());
}

TEST_CASE("shared numbers: a run to a target that goes on beyond what is known computes its numbers") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string run = "run x.toml --no-baseline --no-why --quiet --jobs 1 ";
  REQUIRE(program(run + "--out d --grid stop.steps=3 --grid cluster.latency=1us,2us", scratch).exit_code == 0);
  REQUIRE(trajectories(scratch, "d").size() == 1);
  const std::string target = "--grid stop.loss=0.0001 --grid cluster.latency=1us,2us";
  const Called called = program(run + "--out d " + target, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  REQUIRE(program(run + "--out own --own-numbers " + target, scratch).exit_code == 0);
  const Json runs = results_in(scratch, "d")["runs"], own = results_in(scratch, "own")["runs"];
  REQUIRE(runs.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(runs[i]["status"] == "stopped");
    CHECK(runs[i]["steps"] == 10);
    CHECK(runs[i]["final_loss"] == own[i]["final_loss"]);
  }
}

TEST_CASE("a run that takes longer, or more memory, than it may has failed with the limit, and the rest goes on") {
  const Scratch scratch;
  scratch.write("x.toml", small + "[[strategy]]\nkind = \"single\"\n");
  const std::string run = "run x.toml --no-baseline --no-why --grid stop.steps=5,100000000 --strategy single --jobs 2 ";
  const Called late = program(run + "--run-time 300ms", scratch);
  CHECK(late.exit_code == 4);
  const Json runs = results_in(scratch)["runs"];
  CHECK(runs[0]["status"] == "stopped");
  CHECK(runs[1]["status"] == "failed");
  CHECK(runs[1]["error"] == "stopped after 300ms of real time, the limit of a run");
  const Called large = program(run + "--out m --run-memory 1kB", scratch);
  CHECK(results_in(scratch, "m")["runs"][1]["error"] ==
        "stopped at 1kB of memory, the limit of a run, while its data were loaded");
  for (const char* bad : {"--run-time 5", "--run-time 0s", "--run-memory 1h", "--run-memory -1MB"}) {
    const Called refused = program(run + bad, scratch);
    INFO(bad);
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.starts_with(bad));
  }
}

}  // namespace shared_numbers_test
