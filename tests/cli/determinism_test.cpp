// A same-seed rerun is byte-identical in every file, wall_s aside, whatever --threads and --jobs.
#include <map>
#include <regex>

#include "catch.h"
#include "cli/scenario.h"

namespace determinism_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// Every strategy, minibatches, a test set, momentum with a schedule, a slow worker.
const std::string everything = R"(
[cluster]
workers = 3
relative_speeds = [1, 0.5]
speed = "1GF"
[data]
source = "blobs"
samples = 400
features = 6
classes = 3
test_fraction = 0.2
[model]
kind = "softmax_regression"
bias = true
l2 = 1e-3
[training]
batch_size = 48
optimizer = "momentum"
schedule = { kind = "inverse_time", decay = 0.01 }
[stop]
loss = 0.05
epochs = 4
[evaluate]
every_steps = 3
on = "test"
[grid]
"cluster.workers" = [2, 5]
"training.partition" = ["iid", "contiguous"]
)" + all_strategies;

/// Every file below the directory by its name, with the seconds of the wall clock struck out.
std::map<std::string, std::string> files_below(const std::string& directory) {
  static const std::regex in_json("\"wall_s\":[^,]*");
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), directory).string();
    std::string text = std::regex_replace(contents(entry.path().string()), in_json, "");
    files[name] = std::move(text);
  }
  return files;
}

/// runs.csv without its column wall_s.
std::string without_wall(const std::string& csv) {
  std::string text;
  const auto lines = lines_of(csv);
  const auto column = [](const std::string& line, std::size_t wanted) {
    bool quoted = false;
    std::size_t from = 0, seen = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      if (i < line.size() && line[i] == '"') quoted = !quoted;
      if (i < line.size() && (line[i] != ',' || quoted)) continue;
      if (seen++ == wanted) return std::pair(from, i);
      from = i + 1;
    }
    return std::pair(line.size(), line.size());
  };
  std::size_t wall = 0;
  for (; lines.front().substr(column(lines.front(), wall).first, 6) != "wall_s"; ++wall) {
  }
  for (const std::string& line : lines) {
    const auto [from, to] = column(line, wall);
    text += line.substr(0, from) + line.substr(to) + "\n";
  }
  return text;
}

std::map<std::string, std::string> outputs_of(const std::string& options) {
  const Scratch scratch;
  scratch.write("x.toml", everything);
  const Called called = program("run x.toml --quiet --seeds 1..2 " + options, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  auto files = files_below(scratch.path() + "/out/x");
  files["runs.csv"] = without_wall(files.at("runs.csv"));
  return files;
}

}  // namespace

TEST_CASE("all outputs are byte-identical whatever --threads and --jobs, and again") {
  const auto plain = outputs_of("--threads 0 --jobs 1");
  // 9 strategies x 4 grid points x 2 seeds, some baselines, and five files beside.
  REQUIRE(plain.size() > 72 + 5);
  for (const char* options : {"--threads 0 --jobs 1", "--threads 0 --jobs 2", "--threads 1 --jobs 2",
                              "--threads 2 --jobs 1", "--threads 4 --jobs 2"}) {
    const auto other = outputs_of(options);
    REQUIRE(other.size() == plain.size());
    for (const auto& [name, text] : plain) {
      INFO(options << ": " << name);
      REQUIRE(other.contains(name));
      CHECK((other.at(name) == text));
    }
  }
}

TEST_CASE("another seed gives other outputs") {
  CHECK(each(results_of(small, "--seeds 1"), "final_loss") != each(results_of(small, "--seeds 2"), "final_loss"));
}

TEST_CASE("a rerun into the same directory gives the same files") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --quiet", scratch).exit_code == 0);
  const auto first = files_below(scratch.path() + "/out/x");
  REQUIRE(program("run x.toml --quiet", scratch).exit_code == 0);
  const auto second = files_below(scratch.path() + "/out/x");
  REQUIRE(second.size() == first.size());
  for (const char* name : {"results.json", "curves.csv", "ranks.csv", "links.csv"})
    CHECK(second.at(name) == first.at(name));
  CHECK(without_wall(second.at("runs.csv")) == without_wall(first.at("runs.csv")));
}

}  // namespace determinism_test
