// The parts of an experiment, and the effort that balances them.
#include "experiment/run/shards.h"

#include <algorithm>
#include <set>

#include "catch.h"
#include "experiment/run/expected_effort.h"
#include "experiment/scenario.h"

namespace shards_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

Plan plan_of(const Selection& selection, const std::string& strategies = ring_allreduce) {
  const tests::Scratch scratch;
  return make_plan(scratch.write("x.toml", small + strategies), selection);
}

/// The effort of the only run under some settings.
double effort_of(std::vector<std::string> sets) {
  return expected_effort_s(plan_of({.sets = std::move(sets)}).runs.front());
}

double sum_of(const std::vector<const RunPlan*>& pieces) {
  double sum_s = 0.0;
  for (const RunPlan* piece : pieces) sum_s += expected_effort_s(*piece);
  return sum_s;
}

}  // namespace

TEST_CASE("shards: every piece of work is in one part, in its order, for any number of parts") {
  const Plan plan = plan_of({.grids = {"cluster.workers=1,2,4,8"}, .seeds = "1..5"});
  const auto pieces = pieces_of_work(plan);
  CHECK(pieces.size() == plan.runs.size() + plan.baselines.size());
  for (const int n : {1, 2, 7, 24, 25, 100}) {
    const auto parts = dealt(pieces, n);
    REQUIRE(parts.size() == static_cast<std::size_t>(n));
    std::vector<const RunPlan*> all;
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
      CHECK(std::ranges::is_sorted(part, {}, [&](const RunPlan* run) { return std::ranges::find(pieces, run); }));
    }
    CHECK(all.size() == pieces.size());
    CHECK(std::set(all.begin(), all.end()) == std::set(pieces.begin(), pieces.end()));
  }
}

TEST_CASE("shards: equal plans are dealt equally") {
  const Selection selection{.grids = {"cluster.workers=1,2,4,8"}, .seeds = "1..5"};
  const Plan one = plan_of(selection), other = plan_of(selection);
  const auto parts = dealt(pieces_of_work(one), 4), again = dealt(pieces_of_work(other), 4);
  for (std::size_t k = 0; k < parts.size(); ++k)
    CHECK(std::ranges::equal(parts[k], again[k], {}, &RunPlan::id, &RunPlan::id));
}

TEST_CASE("shards: parts differ by no more than the longest piece of work") {
  const Plan plan = plan_of({.grids = {"cluster.workers=1,2,4,8", "stop.steps=10,100,5000"}, .seeds = "1..5"});
  const auto pieces = pieces_of_work(plan);
  double longest_s = 0.0;
  for (const RunPlan* piece : pieces) longest_s = std::max(longest_s, expected_effort_s(*piece));
  for (const int n : {2, 3, 5}) {
    double least_s = sum_of(pieces), most_s = 0.0;
    for (const auto& part : dealt(pieces, n)) {
      least_s = std::min(least_s, sum_of(part));
      most_s = std::max(most_s, sum_of(part));
    }
    CHECK(most_s - least_s <= longest_s);
  }
}

TEST_CASE("expected effort: grows with steps, workers, rows and features, and is less without numbers") {
  const double usual_s = effort_of({"stop.steps=100"});
  for (const char* more : {"stop.steps=200", "cluster.workers=16", "data.samples=5000", "data.features=500"})
    CHECK(effort_of({"stop.steps=100", more}) > usual_s);
  CHECK(effort_of({"stop.steps=100", "training.numbers=false"}) < usual_s);
  // Epochs of a full batch are steps.
  CHECK(effort_of({"stop={epochs=100}"}) == Approx(usual_s).epsilon(1e-9));
}

TEST_CASE("expected effort: of several rules that end a run the first counts, and a target is taken for 1000 steps") {
  CHECK(effort_of({"stop={steps=10,time=\"1h\"}"}) == Approx(effort_of({"stop={steps=10}"})).epsilon(1e-9));
  CHECK(effort_of({"stop={steps=10,samples=100}"}) == Approx(effort_of({"stop={steps=1}"})).epsilon(1e-9));
  CHECK(effort_of({"stop={time=\"1us\"}"}) < effort_of({"stop={time=\"1ms\"}"}));
  CHECK(effort_of({"stop={loss=0.01,time=\"1h\"}"}) == Approx(effort_of({"stop={steps=1000}"})).epsilon(1e-9));
}

}  // namespace shards_test
