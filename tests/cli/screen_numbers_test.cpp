// Numbers on the screen of whole commands: a column of a table has one unit of time, and a winner's scenario says what
// its scenario says.
#include <algorithm>
#include <regex>
#include <set>

#include "catch.h"
#include "cli/planning.h"

namespace screen_numbers_test {

using namespace simgrad::tests;

namespace {

/// The texts of each column of the first table below its title: cells are apart by two spaces or more.
std::vector<std::vector<std::string>> columns_of(const std::string& printed, const std::string& title) {
  std::vector<std::vector<std::string>> columns;
  std::istringstream lines(printed.substr(printed.find(title)));
  static const std::regex cell("\\S+(?: \\S+)*");
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::size_t column = 0;
    for (std::sregex_iterator found(line.begin(), line.end(), cell), end; found != end; ++found, ++column) {
      if (columns.size() <= column) columns.emplace_back();
      columns[column].push_back(found->str());
    }
  }
  return columns;
}

/// The unit of a time, "min s" of "3 min 20 s"; empty for another text.
std::string unit_of(const std::string& text) {
  static const std::regex time("[0-9.,]+ (ns|µs|ms|s|min|h|d)(?: [0-9]+ (s|min|h))?");
  std::smatch match;
  return std::regex_match(text, match, time) ? match[1].str() + " " + match[2].str() : "";
}

}  // namespace

TEST_CASE("the times of a column of capacity have one unit, though they would have several") {
  const Scratch scratch;
  // Daly's rule saves every few hours, the fixed one every three days; with spares the training takes less.
  scratch.write("x.toml", small + R"(
[capacity]
hosts = 4
spares = [0, 3]
failures = { kind = "exponential", mtbf = "20d" }
repair = { kind = "exponential", mean = "2d" }
restart = "30min"
checkpoint_time = "10min"
[capacity.training]
hosts = 4
work = "20d"
fixed = "3d"
)");
  const Called called = program("capacity x.toml --seeds 1..3", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  const auto columns = columns_of(called.out, "spares  ");
  REQUIRE(columns.size() == 10);
  for (const std::size_t k : {2, 3, 4, 5}) {
    REQUIRE(columns[k].size() == 7);
    std::set<std::string> units;
    for (std::size_t row = 1; row < columns[k].size(); ++row) units.insert(unit_of(columns[k][row]));
    CAPTURE(columns[k]);
    CHECK(units.size() == 1);
    CHECK_FALSE(units.contains(""));
  }
  // The interval of the fixed rule would be "3 d 0 h" by itself.
  CHECK(std::ranges::count(columns[2], "72.0 h") == 2);
}

TEST_CASE("the times of a column of a plan have one unit") {
  const Scratch scratch;
  scratch.write("x.toml", with(twelve, "\"20Mbps\"", "\"200kbps\""));
  const Called called = program("plan x.toml --no-confirm", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  std::set<std::string> units;
  std::istringstream lines(called.out);
  static const std::regex row("(?:winner|Pareto front|runner-up of another kind) +(\\S+ \\S+(?: \\S+ \\S+)?)  +\\$.*");
  std::smatch match;
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, row)) ++rows, units.insert(unit_of(match[1]));
  CHECK(rows >= 2);
  CHECK(units.size() == 1);
  CHECK_FALSE(units.contains(""));
}

TEST_CASE("a winner's scenario has no section and no data that its scenario does not have") {
  const Scratch scratch;
  scratch.write("x.toml", R"([cluster]
workers = 4
speed = "1GF"
bandwidth = "1Gbps"
latency = "50us"
[model]
kind = "transformer"
layers = 2
hidden = 32
heads = 2
vocabulary = 64
sequence = 16
[training]
batch_size = 64
numbers = false
[stop]
steps = 1
[plan]
objective = "fastest"
samples = 1000
[plan.space]
"cluster.workers" = [2, 4]
[[strategy]]
kind = "allreduce"
)");
  const Called planned = program("plan x.toml --no-confirm --json", scratch);
  CAPTURE(planned.err);
  REQUIRE(planned.exit_code == 0);
  const std::string winner = contents(scratch.path() + "/out/x/winner.toml");
  CAPTURE(winner);
  for (const char* const unsaid : {"house_prices", "[data]", "[prices]", "[evaluate]", "[plan"})
    CHECK_FALSE(contains(winner, unsaid));
  for (const char* const said : {"[cluster]", "kind = \"transformer\"", "numbers = false", "samples = 1024"})
    CHECK(contains(winner, said));
  const Called run = program("run out/x/winner.toml --json --no-baseline --no-why --out out/winner", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(Json::parse(run.out)["runs"][0]["simulated_s"].get<double>() ==
        Approx(Json::parse(planned.out)["winner"]["time_s"].get<double>()).epsilon(1e-9));
  // A section that is there keeps what it says.
  scratch.write("y.toml", with(contents(scratch.path() + "/x.toml"), "[model]\n", "[data]\nsamples = 640\n[model]\n"));
  REQUIRE(program("plan y.toml --no-confirm --quiet", scratch).exit_code == 0);
  const std::string other = contents(scratch.path() + "/out/y/winner.toml");
  CHECK(contains(other, "[data]\nsamples = 640\n"));
  CHECK_FALSE(contains(other, "house_prices"));
}

}  // namespace screen_numbers_test
