// Files of speeds: what they say, and what is refused where.
#include "cluster/stragglers/speed_file.h"

#include <limits>

#include "base/errors.h"
#include "catch.h"
#include "cluster/fabric/speed_timeline.h"
#include "scratch.h"

namespace speed_file_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

SpeedFile read(const std::string& text) {
  const tests::Scratch scratch;
  return read_speed_file(scratch.write("speeds.txt", text));
}

std::string fault(const std::string& text) {
  try {
    read(text);
  } catch (const base::ScenarioError& error) {
    const std::string whole = error.what();
    return whole.substr(whole.find("speeds.txt"));
  }
  return {};
}

std::vector<std::pair<double, double>> first(const SpeedFile& file, int rank, int count) {
  std::vector<std::pair<double, double>> all;
  const auto changes = file.of_rank(rank);
  for (int i = 0; i < count; ++i)
    if (const auto change = changes->next()) all.emplace_back(change->at_s, change->factor);
  return all;
}

using Pairs = std::vector<std::pair<double, double>>;

}  // namespace

TEST_CASE("SimGrid's profile format: dates, factors, comments, and how they repeat") {
  CHECK(first(read("# speeds\n0 1.0\n2 0.5 # slow\n\n4 0.1\n6 1.0\n"), 0, 9) ==
        Pairs{{0, 1}, {2, 0.5}, {4, 0.1}, {6, 1}});
  CHECK(first(read("PERIODICITY 10\n5 0\n8 1\n"), 3, 4) == Pairs{{5, 0}, {8, 1}, {15, 0}, {18, 1}});
  // As SimGrid has it: again so long after the last date.
  CHECK(first(read("5 0\n8 1\nLOOPAFTER 10\n"), 0, 4) == Pairs{{5, 0}, {8, 1}, {23, 0}, {26, 1}});
}

TEST_CASE("repetitions end where doubles do not tell one date from the next") {
  // 1e308 + 1e308 is infinite; the dates of the first round are 0 and 5.
  CHECK(first(read("0 1\n5 0.5\nPERIODICITY 1e308\n"), 0, 9) == Pairs{{0, 1}, {5, 0.5}, {1e308, 1}});
  CHECK(fault("1e308 1\nLOOPAFTER 1e308\n") ==
        "speeds.txt:2: a repetition 1e+308 s after the date 1e+308 s; expected a smaller number");
  CHECK(fault("1e20 0.5\nPERIODICITY 1e-9\n") ==
        "speeds.txt:2: a period of 1e-09 s is below the precision of the date 1e+20 s; expected a longer one");
}

TEST_CASE("CSV: of all hosts, or of each rank") {
  CHECK(first(read("date,factor\n0,0.5\n3,1\n"), 5, 9) == Pairs{{0, 0.5}, {3, 1}});
  const SpeedFile file = read("date, factor, rank\n0,0.5,1\n1,0.25,2\n3,1,1\n");
  CHECK(first(file, 1, 9) == Pairs{{0, 0.5}, {3, 1}});
  CHECK(first(file, 2, 9) == Pairs{{1, 0.25}});
  CHECK(!file.of_rank(0));
  CHECK(!file.of_rank({}));
}

TEST_CASE("5 seconds of work at speeds 1, 0.5 from 2 s, 0.1 from 4 s and 1 from 6 s on take 7.8 seconds") {
  SpeedTimeline timeline(read("0 1.0\n2 0.5\n4 0.1\n6 1.0\n").of_rank(0));
  CHECK(timeline.seconds(0.0, 5.0) == Approx(7.8).epsilon(1e-12));
  SpeedTimeline last(read("1 0\n").of_rank(0));
  CHECK(last.seconds(0.0, 2.0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("work that more changes of speed interrupt than the watchdog allows is given up") {
  const SpeedFile file = read("0 1\n1 0.5\nPERIODICITY 2\n");  // 1.5 s of work in 2 s
  SpeedTimeline long_work(file.of_rank(0), 10);
  CHECK(long_work.seconds(0.0, 6.9) == Approx(8.9).epsilon(1e-12));
  CHECK_THROWS_WITH(long_work.seconds(9.3, 8.0), ContainsSubstring("raise watchdog.events"));
  SpeedTimeline long_wait(file.of_rank(0), 10);
  CHECK(long_wait.seconds(9.5, 0.25) == Approx(0.5).epsilon(1e-12));
  CHECK_THROWS_WITH(long_wait.seconds(21.5, 0.25), ContainsSubstring("more than 10 times"));
}

TEST_CASE("what is wrong in a file of speeds is refused with its line") {
  CHECK(fault("0 1\n5 0.5\n4 1\n") == "speeds.txt:3: date 4 after date 5; expected ascending dates");
  CHECK(fault("date,factor,rank\n3,1,0\n1,1,1\n2,1,0\n") ==
        "speeds.txt:4: date 2 after date 3; expected ascending dates");
  CHECK(fault("0 1\n1 fast\n") == "speeds.txt:2: \"fast\" is no factor; expected a number");
  CHECK(fault("0 1\n1 -0.5\n") == "speeds.txt:2: a factor of -0.5; expected at least 0");
  CHECK(fault("0 1 2\n") == "speeds.txt:1: expected \"date factor\"; found \"0 1 2\"");
  CHECK(fault("time,speed\n0,1\n") == "speeds.txt:1: expected the header \"date,factor\" or \"date,factor,rank\"");
  CHECK(fault("date,factor\n0,1,2\n") == "speeds.txt:2: 3 cells; expected 2");
  CHECK(fault("0 1\n8 1\nPERIODICITY 5\n") ==
        "speeds.txt:3: a period of 5 s, but the dates span 8 s; expected a longer one");
  CHECK(fault("0 0\n8 0\nLOOPAFTER 5\n") == "speeds.txt:3: all factors are 0, for ever: the host would never compute");
  CHECK(fault("# nothing\n") == "speeds.txt:1: no date and factor in it");
  CHECK_THROWS_AS(read_speed_file("no/such/file"), base::EnvironmentError);
}

}  // namespace speed_file_test
