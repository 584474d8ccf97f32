// Plans that are refused, and plans that are interrupted.
#include "catch.h"
#include "cli/process.h"
#include "cli/scenario.h"

namespace plan_refusals_test {

using namespace simgrad::tests;

namespace {

const std::string priced = with(with(small, "kind = \"allreduce\"\n", "kind = \"allreduce\"\nalgorithm = \"ring\"\n"),
                                "[stop]\nsteps = 10\n", R"([stop]
loss = 0.05
epochs = 500

[prices]
worker = "1$/h"

[plan]
objective = "cheapest"
)");

void check_plan_refused(const std::string& text, const std::vector<std::string>& parts) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("plan x.toml", scratch);
  CAPTURE(called.err);
  CHECK(called.exit_code == 2);
  CHECK(called.out.empty());
  for (const std::string& part : parts) CHECK(contains(called.err, part));
}

}  // namespace

TEST_CASE("A plan without a goal is refused, and one with two") {
  check_plan_refused(with(priced, "loss = 0.05\nepochs = 500\n", "steps = 10\n"),
                     {"x.toml:27", "neither a target loss nor a number of tokens"});
  check_plan_refused(with(priced, "[plan]\n", "[plan]\nsamples = 100\n"), {"x.toml:29:1: ", "leave one of them out"});
}

TEST_CASE("An objective needs its prices") {
  check_plan_refused(with(priced, "worker = \"1$/h\"\n", ""), {"x.toml:", "objective", "prices.worker"});
  check_plan_refused(with(priced, "\"cheapest\"", "\"least_energy\""), {"x.toml:", "prices.idle and prices.busy"});
  check_plan_refused(with(with(priced, "\"cheapest\"", "\"fastest\"\npower = \"1kW\""), "worker = \"1$/h\"\n", ""),
                     {"x.toml:29:1: the limit is about power", "prices.idle and prices.busy"});
}

TEST_CASE("Limits that nothing meets are named, with what they would have to be") {
  check_plan_refused(
      with(priced, "objective = \"cheapest\"\n", "objective = \"cheapest\"\ndeadline = \"1us\"\n"),
      {"x.toml:30:1: no candidate meets plan.deadline = ", "takes 2.51 ms", ", which is 25", " times as much"});
  check_plan_refused(
      with(priced, "objective = \"cheapest\"\n", "hosts = [{ class = \"host\", most = 2 }]\n"),
      {"none of the 1 candidates", "4 hosts of class host, but plan.hosts has at most 2", "is 100 % too large"});
}

TEST_CASE("Values of [plan] are checked by every command") {
  for (const char* const command : {"plan", "run", "validate"}) {
    const Scratch scratch;
    scratch.write("x.toml", with(priced, "\"cheapest\"", "\"cheepest\"\nbudget = \"100\""));
    const Called called = program(std::string(command) + " x.toml", scratch);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "did you mean \"cheapest\"?"));
    CHECK(contains(called.err, "a budget is an amount of dollars above 0, as in \"100$\"; found \"100\""));
  }
}

TEST_CASE("A plan that is interrupted prints the best so far") {
  const Scratch scratch;
  // The three slow ones would go on for a long time, and nothing says before that they are slower.
  const std::string rates = "[plan.space]\n\"training.learning_rate\" = [0.1, 0.01, 0.0001, 0.00001]\n[plan]";
  scratch.write("x.toml", with(with(with(priced, "samples = 200", "samples = 20000"), "[plan]", rates), "epochs = 500",
                               "epochs = 500000000"));
  Process process({"plan", "x.toml", "--seconds", "60"}, scratch);
  const std::string log = scratch.path() + "/out/x/simulations.jsonl";
  REQUIRE(soon([&] { return std::filesystem::exists(log) && contains(contents(log), "reached"); }));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  const std::string printed = contents(scratch.path() + "/err");
  CAPTURE(printed);
  CHECK(contains(printed, "Rent 4 hosts and train with allreduce"));
  CHECK(contains(printed, "Interrupted: "));
}

}  // namespace plan_refusals_test
