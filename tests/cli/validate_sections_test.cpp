// `validate` says of [plan] and [capacity] what `plan` and `capacity` say.
#include <filesystem>

#include "catch.h"
#include "cli/planning.h"

namespace validate_sections_test {

using namespace simgrad::tests;

namespace {

/// The faults of a command, without its notes; empty: it takes the scenario.
std::string faults_of(const std::string& command, const Scratch& scratch) {
  const Called called = program(command, scratch);
  CAPTURE(command, called.err);
  std::string faults;
  for (const std::string& line : lines_of(called.err))
    if (line.starts_with("x.toml:") && !contains(line, "is not read")) faults += line + "\n";
  CHECK(called.exit_code == (faults.empty() ? 0 : 2));
  return faults;
}

/// The faults that both commands report.
std::string refused_by_both(const std::string& text, const std::string& command) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const std::string faults = faults_of("validate x.toml", scratch);
  CHECK(faults == faults_of(command + " x.toml", scratch));
  return faults;
}

const std::string of_twelve_hosts = with(small, "samples = 200", "samples = 8") + R"([capacity]
hosts = 13
arrivals = [{ hosts = [12], rate = "20/d", samples = 10000.0 }]
)";

}  // namespace

TEST_CASE("validate refuses jobs of a fleet whose training cannot have so many workers") {
  CHECK_THAT(refused_by_both(of_twelve_hosts, "capacity"),
             ContainsSubstring("12 workers for 8 training rows") && !ContainsSubstring("training.numbers"));
  CHECK(refused_by_both(with(of_twelve_hosts, "[12]", "[2]"), "capacity").empty());
}

TEST_CASE("validate refuses a fleet's sizes in tokens of what is no text, and too many jobs") {
  CHECK_THAT(
      refused_by_both(with(with(of_twelve_hosts, "[12]", "[2]"), "samples = 10000.0", "tokens = 1e4"), "capacity"),
      ContainsSubstring("are no text"));
  CHECK_THAT(refused_by_both(with(with(of_twelve_hosts, "[12]", "[2]"), "20/d", "20/s"), "capacity"),
             ContainsSubstring("more than 1,000,000 jobs"));
}

TEST_CASE("a fleet of several strategies is taken where one of them is") {
  const Scratch scratch;
  scratch.write("x.toml", with(of_twelve_hosts, "[12]", "[4]") + "[[strategy]]\nkind = \"gossip\"\n");
  CHECK(faults_of("validate x.toml", scratch).empty());
}

TEST_CASE("validate refuses a fleet of several trainings by a grid") {
  const std::string of_two_hosts = with(of_twelve_hosts, "[12]", "[2]") + "[grid]\nseed = ";
  CHECK_THAT(refused_by_both(of_two_hosts + "[1, 2]\n", "capacity"), ContainsSubstring("the scenario has 2 runs"));
  CHECK(refused_by_both(of_two_hosts + "[1]\n", "capacity").empty());
}

TEST_CASE("validate refuses a plan about money without prices, and one without a goal") {
  CHECK(refused_by_both(twelve, "plan --seconds 1 --no-confirm --quiet").empty());
  const std::string no_price = with(twelve, "worker = \"0.40$/h\"\n", "");
  CHECK_THAT(refused_by_both(no_price, "plan"), ContainsSubstring("the objective is about money"));
  CHECK_THAT(refused_by_both(with(no_price, "\"cheapest\"", "\"fastest\"\nbudget = \"1$\""), "plan"),
             ContainsSubstring("the budget is about money"));
  CHECK_THAT(refused_by_both(with(twelve, "loss = 0.05\nepochs = 200", "steps = 5"), "plan"),
             ContainsSubstring("a plan needs a goal"));
}

TEST_CASE("of a plan, too, validate leaves a large data file unread") {
  const Scratch scratch;
  const std::string house_prices = "source = \"house_prices\"\nsamples = 400\nfeatures = 20";
  scratch.write("x.toml", with(twelve, house_prices, "source = \"csv\"\npath = \"d.csv\""));
  scratch.write("d.csv", "price,rooms\n1,many\n");
  std::filesystem::resize_file(scratch.path() + "/d.csv", (64 << 20) + 1);
  CHECK(program("validate x.toml", scratch).exit_code == 0);
}

TEST_CASE("of several scenarios each has its plan checked") {
  const Scratch scratch;
  scratch.write("x.toml", twelve);
  scratch.write("y.toml", with(twelve, "worker = \"0.40$/h\"\n", ""));
  const Called called = program("validate x.toml y.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK_THAT(called.err, StartsWith("y.toml:") && ContainsSubstring("the objective is about money"));
  CHECK_THAT(called.out, StartsWith("x.toml\nok: "));
}

TEST_CASE("validate says where a scenario that cannot be run as it is can be planned") {
  const Scratch scratch;
  const std::string text = with(with(twelve, "workers = 4", "workers = 500"), "[1, 2, 4]", "[2, 4]");
  scratch.write("x.toml", text);
  const Called called = program("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK_THAT(called.err, ContainsSubstring("`simgrad plan` takes this scenario all the same"));
  CHECK(program("plan x.toml --seconds 1 --no-confirm --quiet", scratch).exit_code == 0);
  scratch.write("x.toml", with(text, "[2, 4]", "[600, 700]"));
  CHECK_THAT(program("validate x.toml", scratch).err, !ContainsSubstring("simgrad plan"));
}

}  // namespace validate_sections_test
