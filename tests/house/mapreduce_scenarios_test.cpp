// The claims of the scenarios about MapReduce.
#include "house/results.h"

namespace mapreduce_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("combiner: adding first saves the rows' gradients on the wire, and more reducers only share them") {
  const auto results = results_of("combiner.toml");
  const auto of = [&](const char* label) -> const record::Record& { return run_of(*results, label).record; };
  // 8 times the parameters a step, and 8 sums or 2000 gradients.
  CHECK(static_cast<double>(of("no combiner").bytes) ==
        Approx((8.0 + 2000.0) / 16.0 * static_cast<double>(of("combiner").bytes)));
  CHECK(of("no combiner, 4 reducers").bytes == of("no combiner").bytes);
  CHECK(of("no combiner").simulated_s > 30.0 * of("combiner").simulated_s);
  CHECK(of("no combiner").simulated_s > 3.0 * of("no combiner, 4 reducers").simulated_s);
  CHECK(of("no combiner, 4 reducers").simulated_s > 8.0 * of("combiner").simulated_s);
}

TEST_CASE("hadoop_or_spark: the numbers are the same, and the disk takes most of the time") {
  const auto results = results_of("hadoop_or_spark.toml");
  const outputs::Run& memory = run_of(*results, "in memory");
  const outputs::Run& disk = run_of(*results, "on disk");
  const outputs::Run& solid = run_of(*results, "on solid-state disk");
  for (const outputs::Run& run : results->runs) {
    CHECK(reached(run));
    CHECK(run.record.final_loss == memory.record.final_loss);
    CHECK(run.record.bytes == memory.record.bytes);
  }
  // A round reads 2500 rows of 800 bytes and writes a sum; the reducer writes and reads eight, and writes the result.
  const double first_s = 2500 * 800.0 / 200e6, round_s = first_s + (800.0 + 17 * 800.0) / 200e6;
  const auto steps = static_cast<double>(memory.record.steps);
  CHECK(disk.record.simulated_s - memory.record.simulated_s == Approx(steps * round_s - first_s).epsilon(1e-9));
  CHECK(disk.record.simulated_s > 10.0 * memory.record.simulated_s);
  CHECK(solid.record.simulated_s - memory.record.simulated_s == Approx(steps * round_s / 10.0 - first_s).epsilon(1e-9));
}

TEST_CASE("splits_and_copies: finer splits and copies of the slowest each take the slow worker out of the way") {
  const auto results = results_of("splits_and_copies.toml");
  const auto seconds = [&](const char* label) { return run_of(*results, label).record.simulated_s; };
  CHECK(seconds("two splits") < 0.6 * seconds("one split a worker"));
  CHECK(seconds("two splits, copies") < 0.8 * seconds("two splits"));
  CHECK(seconds("eight splits") < 0.6 * seconds("two splits"));
  // Where splits are fine there is little left for copies to gain.
  CHECK(seconds("eight splits, copies") <= seconds("eight splits"));
  CHECK(seconds("eight splits, copies") > 0.9 * seconds("eight splits"));
  const double loss = run_of(*results, "one split a worker").record.final_loss.value();
  for (const outputs::Run& run : results->runs) CHECK(run.record.final_loss.value() == Approx(loss).epsilon(1e-10));
}

TEST_CASE("clustering: Lloyd's rounds never raise the loss, are through sooner than gradient steps, and send sums") {
  const auto results = results_of("clustering.toml");
  const record::Record& lloyd = run_of(*results, "Lloyd").record;
  const record::Record& steps = run_of(*results, "gradient steps").record;
  for (std::size_t k = 1; k < lloyd.curve.size(); ++k)
    CHECK(lloyd.curve[k].loss.value() <= lloyd.curve[k - 1].loss.value() * (1.0 + 1e-12));
  CHECK(lloyd.curve[5].loss < steps.curve[5].loss);
  CHECK(lloyd.final_loss.value() <= steps.final_loss.value());
  // One worker that does the same is what each is compared with.
  REQUIRE(results->baselines.size() == 2);
  for (const outputs::Run& baseline : results->baselines) {
    const double same = baseline.options.contains("job") ? *lloyd.final_loss : *steps.final_loss;
    CHECK(baseline.record.final_loss.value() == Approx(same).epsilon(1e-9));
  }
  // Every worker sends 4 (10 + 1) numbers and is sent 4 x 10; without a combiner 11 numbers a row travel.
  CHECK(lloyd.bytes == 30 * 8 * (40 + 44) * 8);
  CHECK(run_of(*results, "Lloyd, no combiner").record.bytes == 30 * (8 * 40 + 20000 * 11) * 8);
  CHECK(run_of(*results, "Lloyd, no combiner").record.final_loss == lloyd.final_loss);
}

}  // namespace mapreduce_scenarios_test
