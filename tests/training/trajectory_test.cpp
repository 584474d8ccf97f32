// The known numbers of a training, as text and back.
#include "training/learning/trajectory.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "training/learning/learning.h"
#include "values/dispatcher.h"

namespace trajectory_test {

using namespace simgrad::training;
using simgrad::values::Lineage;

namespace {

constexpr Lineage one{1, 2}, other{0xfedcba9876543210, 7}, third{3, 3};

Score fixed(double loss) { return {.loss = loss, .metric = {}}; }

}  // namespace

TEST_CASE("a number is computed once, and known from then on") {
  Trajectory trajectory;
  CHECK(trajectory.empty());
  int computed = 0;
  const auto compute = [&] { return ++computed, fixed(0.25); };
  CHECK(trajectory.score(one, compute).loss == 0.25);
  CHECK(trajectory.score(one, compute).loss == 0.25);
  CHECK(trajectory.score(one, nullptr).loss == 0.25);
  CHECK(computed == 1);
  CHECK_FALSE(trajectory.empty());
  CHECK_FALSE(trajectory.lacking());
  CHECK_THROWS_AS(trajectory.score(other, nullptr), std::runtime_error);
  CHECK(trajectory.lacking());
}

TEST_CASE("a state of unknown lineage is computed each time, and not kept") {
  Trajectory trajectory;
  int computed = 0;
  for (int i = 0; i < 2; ++i) trajectory.score(Lineage(), [&] { return ++computed, fixed(1.0); });
  CHECK(computed == 2);
  CHECK(trajectory.empty());
}

TEST_CASE("numbers read back to the same bits, those that are not finite, too") {
  const double infinity = std::numeric_limits<double>::infinity(), least = std::numeric_limits<double>::denorm_min();
  Trajectory trajectory;
  trajectory.score(one, [&] { return Score{.loss = 0.1 + 0.2, .metric = least}; });
  trajectory.score(other, [&] { return Score{.loss = -infinity, .metric = {}}; });
  trajectory.score(third, [] { return fixed(std::nan("")); });
  trajectory.distance(one, [] { return 1.0 / 3.0; });
  Trajectory again;
  REQUIRE(again.add(trajectory.text()));
  CHECK(again.text() == trajectory.text());
  CHECK(again.computed().empty());
  CHECK(trajectory.computed() == trajectory.text());
  CHECK(again.score(one, nullptr).loss == 0.1 + 0.2);
  CHECK(again.score(one, nullptr).metric == least);
  CHECK(again.score(other, nullptr).loss == -infinity);
  CHECK_FALSE(again.score(other, nullptr).metric);
  CHECK(std::isnan(*again.score(third, nullptr).loss));
  CHECK(again.distance(one, nullptr) == 1.0 / 3.0);
  CHECK_THROWS(again.distance(other, nullptr));  // a score is no distance
}

TEST_CASE("choices of experts read back, and scores without them are written as before") {
  Trajectory trajectory;
  trajectory.score(
      one, [] { return Score{.loss = 0.5, .metric = {}, .dropped_share = 1.0 / 3.0, .expert_imbalance = 1.25}; });
  trajectory.score(other, [] { return fixed(0.5); });
  Trajectory again;
  REQUIRE(again.add(trajectory.text()));
  CHECK(again.text() == trajectory.text());
  CHECK(again.score(one, nullptr).dropped_share == 1.0 / 3.0);
  CHECK(again.score(one, nullptr).expert_imbalance == 1.25);
  CHECK_FALSE(again.score(other, nullptr).dropped_share);
}

TEST_CASE("the mean of replicas of one lineage is each of them, whether or not numbers are computed") {
  using namespace simgrad::values;
  for (const bool numbers : {true, false}) {
    Dispatcher dispatcher({.numbers = numbers, .lineages = true});
    const Tensor replicas[] = {dispatcher.constant({0.1, 0.2}), dispatcher.constant({0.1, 0.2})};
    REQUIRE(replicas[0].identity() != replicas[1].identity());
    CHECK(mean(replicas).lineage() == replicas[0].lineage());
    const Tensor others[] = {replicas[0], dispatcher.constant({0.1, 0.3})};
    CHECK(mean(others).lineage() != replicas[0].lineage());
  }
}

TEST_CASE("lines that are no numbers are told") {
  const std::string lineage = "00000000000000010000000000000002";
  for (const std::string& line : std::vector<std::string>{
           "score " + lineage, "score " + lineage + " x -", "score " + lineage + " 1 - 2", "score 12 1 -",
           "score 000000000000000102 1 -", "distance " + lineage, "guess " + lineage + " 1", "x"}) {
    Trajectory trajectory;
    CHECK_FALSE(trajectory.add("distance " + lineage + " 0.5\n" + line + "\n"));
  }
  Trajectory trajectory;
  CHECK(trajectory.add("score " + lineage + " 1 -\n"));
}

TEST_CASE("a known score that is none of the training is left out, and said to be") {
  Trajectory trajectory;
  REQUIRE(trajectory.add("score 00000000000000010000000000000002 - -\n"));
  const auto fits = [](const Score& score) { return score.loss.has_value(); };
  const Lineage state{1, 2};
  CHECK(trajectory
            .score(
                state, [] { return Score{.loss = 0.5, .metric = {}}; }, fits)
            .loss == 0.5);
  CHECK(trajectory.misfits());
  CHECK_FALSE(trajectory.lacking());
  CHECK(trajectory.score(state, nullptr, fits).loss == 0.5);

  Trajectory of_a_file;
  REQUIRE(of_a_file.add("distance 00000000000000010000000000000002 -1\n"));
  CHECK_THROWS_AS(of_a_file.distance(state, nullptr), std::runtime_error);
  CHECK(of_a_file.lacking());
  CHECK(of_a_file.misfits());
}

}  // namespace trajectory_test
