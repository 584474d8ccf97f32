// How reports make up steps, in each of the three kinds of progress.
#include "training/session/progress.h"

#include "training/session/async_replicas.h"
#include "training/session/keep_going.h"
#include "training/session/lockstep.h"
#include "training/session_parts.h"

namespace progress_test {

using namespace simgrad::tests;
using namespace simgrad::training;

namespace {

constexpr int P = 3;

/// Three workers with a replica each; keeps what their progress observes and remembers.
struct Reports : SessionParts {
  std::vector<bool> alive = std::vector<bool>(P, true);
  std::vector<Observed> observed;
  std::vector<int> remembered;  ///< ranks
  Tally tally{false};
  StopRules rules{{}, 24, {}};
  Replicas replicas{true, [this](int rank) { return alive[static_cast<std::size_t>(rank)]; }};
  Generation first = generation(alive, P, Holder::workers);

  Progress::Hooks hooks() {
    return {.observe =
                [this](Observed state) {
                  observed.push_back(std::move(state));
                  return true;
                },
            .remember = [this](int rank, const State&, int) { remembered.push_back(rank); }};
  }
  void begin(Progress& progress) {
    replicas.begin(P);
    progress.begin(first);
  }
  std::int64_t arrive(Progress& progress, int rank, double w, std::int64_t step) {
    return progress.arrive(rank, state({w, w, w, w}, step));
  }
  /// The first number of each replica of a step.
  std::vector<double> replicas_of(std::size_t at) const {
    std::vector<double> all;
    for (const auto& each : observed.at(at).replicas) all.push_back(each.value()[0]);
    return all;
  }
};

}  // namespace

TEST_CASE("in lockstep a step is complete with its last report, whatever the order of the ranks") {
  Reports reports;
  Lockstep progress(reports.hooks(), {}, reports.tally, reports.rules);
  reports.begin(progress);
  CHECK(reports.arrive(progress, 2, 2.0, 1) == 1);
  reports.arrive(progress, 0, 0.0, 1);
  reports.arrive(progress, 0, 0.5, 2);  // runs ahead
  CHECK(reports.observed.empty());
  reports.arrive(progress, 1, 1.0, 1);
  REQUIRE(reports.observed.size() == 1);
  CHECK(reports.observed[0].step == 1);
  CHECK(reports.replicas_of(0) == std::vector<double>{0, 1, 2});
  CHECK(reports.remembered == std::vector{2, 0, 0, 1});
}

TEST_CASE("lockstep counts a batch a step, and keeps the samples that a crash undid") {
  Reports reports;
  Lockstep progress(reports.hooks(), 12, reports.tally, reports.rules);
  reports.begin(progress);
  CHECK(progress.samples_at({.step = 4, .replicas = {}}) == 4 * 12);
  progress.go_back(4, 70);  // 70 were computed by then
  CHECK(progress.samples_at({.step = 5, .replicas = {}}) == 70 + 12);
}

TEST_CASE("without lockstep the first to report counts the samples, and they can end the training") {
  Reports reports;
  StopOptions stop;
  stop.samples = 20;
  reports.rules = StopRules(stop, 24, {});
  Lockstep progress(reports.hooks(), {}, reports.tally, reports.rules);
  reports.begin(progress);
  reports.tally.add_samples(20);
  for (int rank = 0; rank < P; ++rank) reports.arrive(progress, rank, 0.0, 3);
  CHECK(progress.samples_at(reports.observed.at(0)) == 20);
  CHECK(reports.rules.last_step(3));
  CHECK_FALSE(reports.rules.last_step(2));
}

TEST_CASE("steps go on without a worker that is lost, and with it from the step that it joins") {
  Reports reports;
  KeepGoing progress(reports.hooks(), reports.learning.batches(), reports.rules, reports.replicas);
  reports.begin(progress);
  for (int rank = 0; rank < P; ++rank) reports.arrive(progress, rank, rank, 0);
  reports.arrive(progress, 0, 0.0, 1);
  reports.arrive(progress, 2, 2.0, 1);
  CHECK(reports.observed.size() == 1);
  reports.replicas.lose(1);
  progress.lose(1);
  REQUIRE(reports.observed.size() == 2);
  CHECK(reports.replicas_of(1) == std::vector<double>{0, 2});
  CHECK(reports.observed[1].samples == 2 * 4);  // two of three parts of 12 rows
  reports.replicas.bring_back(1);
  reports.replicas.join(1, 2, 0);
  reports.arrive(progress, 1, 1.0, 2);  // the parameters that it was sent: no gradient of its own
  reports.arrive(progress, 0, 0.0, 2);
  reports.arrive(progress, 2, 2.0, 2);
  REQUIRE(reports.observed.size() == 3);
  CHECK(reports.replicas_of(2) == std::vector<double>{0, 1, 2});
  CHECK(reports.observed[2].samples == 4 * 4);
}

TEST_CASE("a step of asynchronous replicas is as many updates as there are workers, whoever makes them") {
  Reports reports;
  AsyncReplicas progress(
      reports.hooks(), [&](int rank) { return reports.alive[static_cast<std::size_t>(rank)]; }, reports.tally,
      reports.rules, reports.replicas);
  reports.begin(progress);
  CHECK(reports.arrive(progress, 0, 0.0, 0) == 0);  // with the first report of all, step 0 is there
  REQUIRE(reports.observed.size() == 1);
  CHECK(reports.observed[0].replicas.size() == P);
  for (int update = 1; update <= P; ++update) reports.arrive(progress, 0, update, update);
  REQUIRE(reports.observed.size() == 2);
  CHECK(progress.updates() == P);
  CHECK(reports.observed[1].step == 1);
  CHECK(reports.replicas_of(1) == std::vector<double>{3, 0, 0});
  progress.show(0, reports.state({9, 9, 9, 9}, 3));
  CHECK(progress.updates() == P);
  progress.lose(1);
  for (int update = 4; update <= 2 * P; ++update) reports.arrive(progress, 2, update, update);
  // The first report of rank 2 is its start state, no update.
  CHECK(progress.updates() == 2 * P - 1);
  reports.arrive(progress, 2, 7.0, 7);
  CHECK(reports.replicas_of(2) == std::vector<double>{9, 7});
}

TEST_CASE("each asynchronous replica writes a step that was chosen once, when it reports next") {
  Reports reports;
  AsyncReplicas progress(
      reports.hooks(), [](int) { return true; }, reports.tally, reports.rules, reports.replicas);
  reports.begin(progress);
  const auto chosen = [](std::int64_t step) { return step == 1; };
  reports.arrive(progress, 0, 0.0, 0);
  const State state = reports.state({1, 1, 1, 1}, 3);
  CHECK_FALSE(progress.due_checkpoint(0, state, chosen));  // step 0
  for (int update = 1; update <= P; ++update) reports.arrive(progress, 0, update, update);
  CHECK(progress.due_checkpoint(0, state, chosen).value().step == 1);
  CHECK_FALSE(progress.due_checkpoint(0, state, chosen));
  CHECK(progress.due_checkpoint(2, state, chosen).value().step == 1);
}

TEST_CASE("replicas that go on without a lost one need more steps for as many samples, and those undone do not count") {
  Reports reports;
  StopOptions stop;
  stop.samples = 40;
  reports.rules = StopRules(stop, 24, {});
  KeepGoing progress(reports.hooks(), reports.learning.batches(), reports.rules, reports.replicas);
  reports.begin(progress);
  const auto all_arrive = [&](std::int64_t step) {
    for (int rank = 0; rank < P; ++rank)
      if (reports.replicas.active(rank)) reports.arrive(progress, rank, 0.0, step);
  };
  for (std::int64_t step = 0; step <= 2; ++step) all_arrive(step);
  CHECK(reports.observed.back().samples == 2 * 12);
  progress.go_back(1, 24);
  reports.begin(progress);  // of step 2's 12 samples nothing is left
  reports.replicas.lose(1);
  progress.lose(1);
  for (std::int64_t step = 2; step <= 4; ++step) all_arrive(step);
  // Two of three parts a step: 12 + 3 x 8 = 36 < 40.
  CHECK(reports.observed.back().samples == 24 + 3 * 8);
  CHECK_FALSE(reports.rules.last_step(4));
  all_arrive(5);
  CHECK(reports.rules.last_step(5));
}

}  // namespace progress_test
