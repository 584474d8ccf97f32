// The runs whose timelines are kept: the first seeds, a bounded number of cases, spread over every key of a grid.
#include "experiment/plan/kept_timelines.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "catch.h"

namespace kept_timelines_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// A grid of outer x inner points, with these strategies and seeds at each.
std::vector<RunPlan> runs_of(int outer, int inner, int strategies = 1, int seeds = 1) {
  std::vector<RunPlan> runs;
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j)
      for (int seed = 1; seed <= seeds; ++seed)
        for (int strategy = 0; strategy < strategies; ++strategy) {
          RunPlan& run = runs.emplace_back();
          run.parameters = {{"outer", i}, {"inner", j}};
          run.label = fmt::format("strategy {}", strategy);
          run.seed = static_cast<std::uint64_t>(seed);
          run.id = base::hash(fmt::format("{} {} {} {}", i, j, seed, strategy));
        }
  return runs;
}

/// The places of the runs that keep a timeline.
std::set<std::size_t> kept(std::vector<RunPlan> runs, const std::string& option) {
  mark_kept_timelines(runs, parse_timelines(option));
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].keeps_timeline) places.insert(i);
  return places;
}

}  // namespace

TEST_CASE("without an option the first seed of every case keeps its timeline, and of 65 cases one does not") {
  const std::vector<RunPlan> runs = runs_of(4, 8, 2, 3);
  std::set<std::size_t> first;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].seed == 1) first.insert(i);
  CHECK(first.size() == 64);
  CHECK(kept(runs, "") == first);
  CHECK(kept(runs_of(13, 5), "").size() == 64);
  CHECK(kept(runs, "0").empty());
  CHECK(kept(runs, "all").size() == runs.size());
  CHECK(kept(runs, "1000") == first);
  CHECK(kept(runs_of(1, 1, 100), "").size() == 64);
}

TEST_CASE("a larger number of cases includes those of a smaller one, and every value of every key has its share") {
  for (const int inner : {2, 4, 5, 8, 16}) {
    const int outer = 1024 / inner;
    const std::vector<RunPlan> runs = runs_of(outer, inner);
    std::set<std::size_t> before;
    for (const char* cases : {"1", "2", "7", "64", "65", "300"}) {
      const std::set<std::size_t> now = kept(runs, cases);
      CHECK(now.size() == std::stoul(cases));
      CHECK(std::ranges::includes(now, before));
      before = now;
    }
    std::map<int, int> by_inner;
    for (const std::size_t place : kept(runs, "64")) ++by_inner[runs[place].parameters["inner"]];
    INFO(inner);
    for (int value = 0; value < inner; ++value) {
      CHECK(by_inner[value] >= 1);
    }
  }
}

TEST_CASE("of a grid that grows no earlier run is chosen that was not chosen before") {
  std::vector<RunPlan> small = runs_of(10, 10), large = runs_of(30, 10);
  const std::set<std::size_t> before = kept(small, ""), after = kept(large, "");
  for (const std::size_t place : after)
    if (place < small.size()) CHECK(before.contains(place));
}

TEST_CASE("cases are taken by whole grid points, so that strategies can be compared") {
  const std::vector<RunPlan> runs = runs_of(10, 10, 4, 2);
  std::map<std::string, int> strategies;
  for (const std::size_t place : kept(runs, "20")) ++strategies[runs[place].parameters.dump()];
  CHECK(strategies.size() == 5);
  for (const auto& [point, count] : strategies) CHECK(count == 4);
}

}  // namespace kept_timelines_test
