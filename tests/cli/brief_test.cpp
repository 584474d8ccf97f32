// `validate`: the answer in the first line, what differs from the defaults, and the first runs.
#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "catch.h"
#include "cli/scenario.h"

namespace brief_test {

using namespace simgrad::tests;

namespace {

std::string answered(const std::string& text, const std::string& options = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("validate x.toml " + options, scratch);
  INFO(called.err);
  CHECK(called.exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/out"));
  return called.out;
}

std::string id_of(const std::string& text, const std::string& options) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("validate x.toml --resolved " + options, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return lines_of(called.out).back().substr(2, 16);
}

/// The lines of a part, without their indentation.
std::vector<std::string> part(const std::string& text, const std::string& heading) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (inside && !line.starts_with("  ")) break;
    if (inside) lines.push_back(line.substr(2));
    inside = inside || line.starts_with(heading);
  }
  return lines;
}

const std::string bare = "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n[[strategy]]\nkind = \"allreduce\"\n";

}  // namespace

TEST_CASE("validate answers in its first line with the number of runs and their time") {
  CHECK(lines_of(answered(small)).at(0) == "ok: 1 run, less than 1 s");
  CHECK(lines_of(answered(small, "--grid cluster.workers=1,2,4 --seeds 1..2")).at(0) == "ok: 6 runs, less than 1 s");
  CHECK(std::regex_match(lines_of(answered(small, "--set stop.steps=1000000")).at(0),
                         std::regex("ok: 1 run, about [1-9][0-9a-z ]*")));
  CHECK_THAT(lines_of(answered(with(small, "steps = 10\n", "steps = 1000000\nloss = 1e-9\n"))).at(0),
             EndsWith(", or less where a target loss ends runs"));
}

TEST_CASE("validate says why the time is not estimated") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"d.csv\"\n"));
  scratch.write("d.csv", "price,rooms\n1,1\n");
  std::filesystem::resize_file(scratch.path() + "/d.csv", (64 << 20) + 1);
  const Called called = program("validate x.toml", scratch);
  CHECK(called.exit_code == 0);
  CHECK(called.out.starts_with("ok: 1 run; time not estimated: the data are too large to try a run\n"));
}

TEST_CASE("validate lists the keys that are set to other values than their defaults") {
  // seed = 1, the speed and the latency of `small` are those of a scenario that says nothing.
  const auto keys = part(answered(small), "set to other values");
  const Scratch scratch;
  const std::string cluster = program("explain cluster", scratch).out;
  for (const char* key : {"speed", "bandwidth", "latency", "workers"}) {
    INFO(key);
    const auto at = cluster.find(fmt::format("\n  {} (", key)), from = cluster.find(", default ", at) + 10;
    std::string usual = cluster.substr(from, cluster.find(")\n", from) - from);
    std::erase(usual, '"');
    const std::string here = key == std::string("speed")       ? "1GF"
                             : key == std::string("bandwidth") ? "1Gbps"
                             : key == std::string("latency")   ? "50us"
                                                               : "4";
    CHECK((std::ranges::count(keys, fmt::format("cluster.{} = {}", key, here)) == 1) == (usual != here));
  }
  CHECK(std::ranges::count(keys, "data.samples = 200") == 1);
  CHECK(std::ranges::count(keys, "stop.steps = 10") == 1);
  CHECK(std::ranges::count(keys, "[[strategy]] allreduce") == 1);
  CHECK(std::ranges::none_of(keys, [](const std::string& line) { return line.starts_with("seed"); }));
}

TEST_CASE("the keys that validate lists make the same run of a scenario that has none of them") {
  const std::string text = with(with(small, "learning_rate = 0.1",
                                     "learning_rate = 0.01\noptimizer = { kind = \"momentum\", momentum = "
                                     "0.5 }\nschedule = { kind = \"inverse_time\", decay = 0.25 }"),
                                "[data]", "topology = { kind = \"ring\" }\nnetwork_model = \"tcp\"\n[data]");
  std::string sets;
  for (const std::string& line : part(answered(text), "set to other values"))
    if (const auto at = line.find(" = "); at != std::string::npos && !line.starts_with("["))
      sets += fmt::format(" --set '{}={}'", line.substr(0, at), line.substr(at + 3));
  CHECK(contains(sets, "training.optimizer=momentum' --set 'training.optimizer.momentum=0.5'"));
  CHECK(id_of(bare, sets) == id_of(text, ""));
  CHECK(id_of(bare, "") != id_of(text, ""));
}

TEST_CASE("validate shows strategies by their options, grids by their lists, and lists of tables by their number") {
  const std::string out =
      answered(with_strategies("[[strategy]]\nkind = \"gossip\"\ngraph = \"star\"\nlabel = \"mine\"\n"
                               "[[strategy]]\nkind = \"allreduce\"\n") +
               "[grid]\n\"cluster.workers\" = [2, 4]\n[[grid.zip]]\n\"cluster.latency\" = [\"1us\", \"2us\"]\n"
               "\"data.samples\" = [100, 200]\n[[expect]]\nmetric = \"steps\"\nequals = 10\n");
  const auto keys = part(out, "set to other values");
  for (const char* line : {"[[strategy]] mine: gossip(graph=star)", "[[strategy]] allreduce",
                           "[grid] cluster.workers = 2, 4", "[[grid.zip]] cluster.latency = \"1us\", \"2us\"",
                           "[[grid.zip]] data.samples = 100, 200", "expect = 1 table"}) {
    INFO(out << line);
    CHECK(std::ranges::count(keys, line) == 1);
  }
  for (const std::string& line : keys) CHECK_FALSE(line.starts_with("cluster.workers"));
  CHECK(part(out, "runs").at(0) == "mine  cluster.workers=2  cluster.latency=1us  data.samples=100  seed=1");
}

TEST_CASE("validate lists twenty runs, counts the others, and says how many baselines there are") {
  const auto runs = part(answered(small, "--seeds 1..25"), "runs");
  REQUIRE(runs.size() == 22);
  CHECK(runs[19] == "allreduce  seed=20");
  CHECK(runs[20] == "... and 5 more; `simgrad run --dry-run` lists all");
  CHECK(runs[21] == "and 25 baselines of one worker, to which speed-ups are relative");
  CHECK(part(answered(small, "--no-baseline"), "runs") == std::vector<std::string>{"allreduce  seed=1"});
}

TEST_CASE("validate is short, whatever a scenario says, and keeps to the width of a screen") {
  std::string numbers = "1";
  for (int k = 0; k < 500; ++k) numbers += ", 1";
  const std::string out = answered(with(with(small, "samples = 200", "samples = 600"), "workers = 4\n",
                                        "workers = 502\nrelative_speeds = [" + numbers + ", 0.5]\n"));
  CHECK(lines_of(out).size() < 30);
  for (const std::string& line : lines_of(out)) CHECK(line.size() <= 120);
}

}  // namespace brief_test
