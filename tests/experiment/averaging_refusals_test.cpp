// Refusals of local SGD, DiLoCo, federated averaging and streams.
#include "experiment/refused.h"

namespace averaging_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::string strategy(const std::string& kind, const std::string& options) {
  return small + "[[strategy]]\nkind = \"" + kind + "\"\n" + options;
}

std::string streamed(const std::string& training, const std::string& evaluate = "") {
  return small + ring_allreduce + "[training]\n" + training + "[evaluate]\n" + evaluate;
}

}  // namespace

TEST_CASE("one average at the end needs an end, and has no rounds to take momentum of") {
  CHECK(planned(strategy("local_sgd", "local_steps = \"all\"\n")).runs.size() == 1);
  check_refused_text(strategy("local_sgd", "local_steps = \"all\"\nslow_momentum = 0.5\n"),
                     "local_steps = \"all\" is a single round");
  std::string timed = strategy("local_sgd", "local_steps = \"all\"\n");
  timed.replace(timed.find("steps = 2"), 9, "time = \"1s\"");
  check_refused_text(timed, "no number of steps, samples or epochs in [stop] says which that is");
  check_refused_text(strategy("local_sgd", "local_steps = 0\n"), "local_steps");
}

TEST_CASE("DiLoCo has a local step at least, an outer rate above 0, and a momentum below 1") {
  CHECK(planned(strategy("diloco", "local_steps = 1\nouter_momentum = 0\n")).runs.size() == 1);
  check_refused_text(strategy("diloco", "local_steps = 0\n"), "local_steps");
  check_refused_text(strategy("diloco", "local_steps = \"all\"\n"), "local_steps");
  check_refused_text(strategy("diloco", "outer_rate = 0\n"), "outer_rate");
  check_refused_text(strategy("diloco", "outer_momentum = 1\n"), "outer_momentum");
  check_refused_text(strategy("diloco", "outer_momentum = -0.1\n"), "outer_momentum");
}

TEST_CASE("blocks have options of one rule, a period each, and numbers where their movement is measured") {
  const auto blocks = [](const std::string& options) { return strategy("block_sync", options); };
  CHECK(planned(blocks("blocks = 2\nschedule = \"list\"\nperiods = [1, 2]\n")).runs.size() == 1);
  check_refused_text(blocks("schedule = \"list\"\n"), "give periods = [1, 4, ...]");
  check_refused_text(blocks("blocks = 3\nschedule = \"list\"\nperiods = [1, 4]\n"), "2 periods for 3 blocks");
  check_refused_text(blocks("blocks = 1\nschedule = \"list\"\nperiods = [1.5]\n"), "a period is a number of steps");
  check_refused_text(blocks("blocks = 1\nschedule = \"list\"\nperiods = [0]\n"), "periods");
  check_refused_text(blocks("blocks = 2\nschedule = \"list\"\nperiods = [1, 3]\n"),
                     "a block with period 3 would never be synchronised, for the run has 2 steps; expected 2 at most");
  CHECK(planned(blocks("blocks = 3\nblocks_a_step = 2\n")).runs.size() == 1);
  check_refused_text(blocks("periods = [1, 1, 1, 1]\n"), "periods is read by schedule = \"list\" alone");
  check_refused_text(blocks("longest = 4\n"), "longest is read by schedule = \"movement\" alone");
  check_refused_text(blocks("budget = 0.5\n"), "budget is read by schedule = \"movement\" alone");
  check_refused_text(blocks("schedule = \"movement\"\nbudget = 0\n"), "budget");
  check_refused_text(blocks("schedule = \"movement\"\nblocks_a_step = 2\n"), "blocks_a_step is read by");
  check_refused_text(blocks("blocks = 2\nblocks_a_step = 3\n"), "cannot synchronise 3 of 2 blocks");
  check_refused_text(blocks("blocks = 100000\n"), "100000 blocks have more than the model's");
  check_refused_text(blocks("send = \"movement\"\n"), "only schedule = \"movement\" measures");
  check_refused_text(blocks("blocks = 2\nschedule = \"movement\"\n[training]\nnumbers = false\n"), "computes none");
  check_refused_text(blocks("blocks = 2\n[training]\noptimizer = \"lamb\"\n"), "optimizer = \"lamb\"");
  check_refused_text(blocks("blocks = 2\n[training]\nprecision = \"float16\"\n"), "take bfloat16");
}

TEST_CASE("a period out of its range is refused in one sentence") {
  try {
    planned(strategy("block_sync", "blocks = 2\nschedule = \"list\"\nperiods = [1, 0]\n"));
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    const std::string told = error.what();
    CAPTURE(told);
    CHECK(told.find("periods") != std::string::npos);
    CHECK(told.find("give periods") == std::string::npos);
  }
}

TEST_CASE("a round of federated averaging is as long as one of two options says") {
  check_refused_text(strategy("federated_averaging", "local_steps = 2\nlocal_epochs = 1\n"), "leave one of them out");
  check_refused_text(strategy("federated_averaging", "fraction_train = 1.5\n"), "fraction_train");
}

TEST_CASE("a stream's window holds a batch, and half of the rows at most, and only a stream has rows that come next") {
  const std::string of_30 = "partition = { kind = \"stream\", window = 30 }\n";
  CHECK(planned(streamed("batch_size = 30\n" + of_30, "on = \"next\"\n")).runs.size() == 1);
  check_refused_text(streamed("batch_size = 31\n" + of_30), "a batch of 31 samples from the last 30 rows");
  check_refused_text(streamed(of_30), "a batch of 100 samples from the last 30 rows");
  check_refused_text(streamed("batch_size = 8\npartition = { kind = \"stream\", window = 51 }\n"),
                     "a window of 51 rows of 100");
  check_refused_text(streamed("batch_size = 8\n", "on = \"next\"\n"), "set training.partition = \"stream\"");
}

}  // namespace averaging_refusals_test
