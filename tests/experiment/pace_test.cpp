// The time that is left, and the sentences on slow runs.
#include "experiment/run/pace.h"

#include "catch.h"
#include "experiment/run/slowness.h"
#include "experiment/scenario.h"

namespace pace_test {

using namespace simgrad;
using namespace simgrad::experiment;

TEST_CASE("the time left is unknown until a run is some way, and then the mean of its group for those that wait") {
  Pace pace({"a", "a", "b", "b"}, 2);
  CHECK_FALSE(pace.left_s());
  pace.at(0, 0.001, 5.0);  // too little of it
  CHECK_FALSE(pace.left_s());
  pace.at(0, 0.25, 5.0);
  // The run itself takes 20 s, as do the other three: 15 + 3 * 20 on two jobs.
  CHECK(*pace.left_s() == 37.5);
  pace.ended(0, 16.0);
  pace.ended(2, 4.0);
  // One of each group is left: 16 + 4 on two jobs, but the longer one takes 16 by itself.
  CHECK(*pace.left_s() == 16.0);
  pace.ended(1, 16.0);
  pace.ended(3, 4.0);
  CHECK(*pace.left_s() == 0.0);
}

TEST_CASE("a run under way counts by what it has reported, not by the time since its start") {
  Pace pace({"a", "a", "a"}, 1);
  pace.ended(0, 2.0);
  pace.at(1, 0.0, 1.5);  // nothing is done yet, however long it has been there
  CHECK(*pace.left_s() == 2.0 + 2.0);
  pace.at(1, 0.04, 10.0);  // too little to extrapolate
  CHECK(*pace.left_s() == 0.96 * 2.0 + 2.0);
  pace.at(1, 0.5, 10.0);  // it takes 20 s, so that the mean of its group is 11 s
  CHECK(*pace.left_s() == 10.0 + 11.0);
  pace.at(1, 1.0, 20.0);
  CHECK(*pace.left_s() == 11.0);
}

TEST_CASE("evaluations are too many where they take half as long again as the gradients, for a second or more") {
  const Plan plan = planned(small + ring_allreduce);
  training::Pulse pulse{.share = 1.0, .gradients_s = 2.0, .evaluations_s = 6.0, .evaluations = 11};
  CHECK(evaluation_advice(plan.runs[0], pulse)
            .find("11 evaluations of the loss took 3.0 x as long as all gradients (6.0 s of processor time); set "
                  "evaluate.every_steps to more than 1") != std::string::npos);
  pulse.evaluations_s = 2.9;
  CHECK(evaluation_advice(plan.runs[0], pulse).empty());
  pulse = {.share = 1.0, .gradients_s = 0.1, .evaluations_s = 0.9, .evaluations = 11};
  CHECK(evaluation_advice(plan.runs[0], pulse).empty());
}

TEST_CASE("a run that is slow is told with the work on which most of the time was spent") {
  const Plan plan = planned(small + ring_allreduce);
  const auto said = [&](double share, double gradients_s, double evaluations_s, double elapsed_s) {
    const training::Pulse pulse{
        .share = share, .simulated_s = 0.0031, .gradients_s = gradients_s, .evaluations_s = evaluations_s};
    return slow_run(plan.runs[0], pulse, elapsed_s, 1);
  };
  CHECK(said(0.1, 1.0, 1.0, 19.0).empty());  // not slow yet
  CHECK(said(0.6, 1.0, 1.0, 40.0).empty());  // soon at its end
  const std::string rest = said(0.1, 5.0, 7.0, 30.0);
  CHECK(rest.find("30 s of real time, 3.10 ms simulated so far, 10 % of the run: 18 s of it simulating messages") !=
        std::string::npos);
  CHECK(said(0.1, 20.0, 5.0, 30.0).find("20 s of it computing gradients") != std::string::npos);
  CHECK(said(0.1, 5.0, 20.0, 30.0).find("20 s of it evaluating the loss; set evaluate.every_steps") !=
        std::string::npos);
}

}  // namespace pace_test
