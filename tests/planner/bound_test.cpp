// The bound from below on a step, against simulations of it.
#include "planner/bound.h"

#include "catch.h"
#include "planner/laboratory.h"
#include "planner/regressions.h"
#include "planner/variants.h"
#include "scratch.h"

namespace bound_test {

using namespace simgrad;
using namespace simgrad::planner;
using tests::Scratch;

namespace {

/// Eight devices a host, and a transformer whose layers take milliseconds.
const std::string layouts = R"(seed = 1

[cluster]
workers = 16
topology = { kind = "gpu_hosts", devices = 8, nics = 8 }
device = { kind = "a100_80gb", efficiency = 0.75 }
latency = "1us"
bandwidth = "400Gbps"
network_model = "ideal"

[data]
samples = 1000

[model]
kind = "transformer"
layers = 14
hidden = 2048
heads = 16
sequence = 1024
vocabulary = 4096

[training]
batch_size = 64
optimizer = "adam"
precision = "bfloat16"
numbers = false
memory = "ignore"

[stop]
steps = 1

[plan]
objective = "fastest"
samples = 64000

)";

/// The candidates of a space, and their steps: by the bound and by the simulation of a few.
struct Steps {
  std::vector<std::string> names;
  std::vector<double> least, simulated;
};

/// count: the steps that are simulated.  before: those that do not count.
Steps steps_of(const std::string& scenario, std::size_t count, std::size_t before) {
  const Scratch scratch;
  const experiment::SearchSpace all = experiment::make_search_space(scratch.write("x.toml", scenario), {});
  const Candidates candidates = candidates_of(all, {});
  Laboratory laboratory(scratch.path(), 60.0, 2, 0, true);
  std::vector<experiment::RunPlan> runs;
  Steps steps;
  for (const Candidate& candidate : candidates.all) {
    runs.push_back(*timing_run(candidate, static_cast<double>(count) * static_cast<double>(candidate.batch), 1));
    steps.least.push_back(step_bound(candidate).step_s());
    steps.names.push_back(name_of(candidate));
  }
  std::vector<const experiment::RunPlan*> pointers;
  for (const experiment::RunPlan& run : runs) pointers.push_back(&run);
  REQUIRE(laboratory.simulate(pointers));
  for (const experiment::RunPlan& run : runs) {
    const Outcome* const outcome = laboratory.find(run);
    REQUIRE(outcome->curve.size() == count + 1);
    steps.simulated.push_back((outcome->curve.back().time_s - outcome->curve[before].time_s) /
                              static_cast<double>(count - before));
  }
  return steps;
}

Steps of_layouts(const std::string& space) { return steps_of(layouts + "[plan.space]\n" + space, 3, 2); }

/// No step is shorter than its bound, and none is longer than that by more than a share.
void check_near(const Steps& steps, double share) {
  for (std::size_t k = 0; k < steps.names.size(); ++k) {
    CAPTURE(steps.names[k], steps.least[k], steps.simulated[k]);
    CHECK(steps.least[k] <= steps.simulated[k] * (1.0 + 1e-9));
    CHECK(steps.least[k] >= steps.simulated[k] * (1.0 - share));
  }
}

}  // namespace

TEST_CASE("The bound of a pipeline is near its step, whatever the schedule and the recomputation") {
  const Steps steps = of_layouts(R"("parallel.pipeline" = [4, 16]
"training.recompute" = ["none", "selective", "full"]
"parallel.schedule" = ["1f1b", "gpipe", "zb_h1"]
"parallel.micro_batches" = [16]
[[strategy]]
kind = "zero"
stage = 1
)");
  REQUIRE(steps.names.size() == 18);
  check_near(steps, 0.1);
}

TEST_CASE("The bound counts the exchanges of ranks that share products") {
  const Steps steps = of_layouts(R"("parallel.tensor" = [2, 8]
"parallel.sequence_parallel" = [false, true]
"training.recompute" = ["none", "full"]
"parallel.pipeline" = [2]
"parallel.micro_batches" = [4]
[[strategy]]
kind = "zero"
stage = 1
)");
  REQUIRE(steps.names.size() == 8);
  check_near(steps, 0.12);
}

TEST_CASE("The bound of interleaved stages is near their step") {
  const Steps steps = of_layouts(R"("parallel.pipeline" = [2, 4]
"parallel.chunks" = [2, 4]
"parallel.schedule" = ["interleaved_1f1b"]
"parallel.micro_batches" = [8]
[[strategy]]
kind = "zero"
stage = 1
)");
  REQUIRE(steps.names.size() == 4);
  check_near(steps, 0.1);
}

TEST_CASE("The bound counts the parameters that ranks gather for every micro-batch") {
  const Steps steps = of_layouts(R"("parallel.pipeline" = [2]
"cluster.workers" = [32]
"cluster.bandwidth" = ["2Gbps"]
"parallel.micro_batches" = [2, 4]
[[strategy]]
kind = "fsdp"
no_sync = true
[[strategy]]
kind = "fsdp"
label = "kept"
no_sync = true
reshard_after_forward = false
)");
  REQUIRE(steps.names.size() == 4);
  check_near(steps, 0.8);  // sums of gradients, of twice as many bytes, are on the same links
  const double of_two = steps.least[0], kept_of_two = steps.least[1];
  const double of_four = steps.least[2], kept_of_four = steps.least[3];
  CHECK(of_two > 3.0 * kept_of_two);  // forward and backward, but for units that are still there
  CHECK(of_four > 1.9 * of_two);
  CHECK(kept_of_four == Approx(kept_of_two).epsilon(1e-9));
}

TEST_CASE("No run is faster than its candidate's bound, and some bounds are near") {
  const Steps steps = steps_of(tests::regressions(R"(workers = 4
speed = "1TF"
bandwidth = "10Mbps"
latency = "2ms"
)",
                                                  R"([grid]
"cluster.workers" = [2, 4, 8]
"cluster.bandwidth" = ["1Mbps", "1Gbps"]
"cluster.speed" = ["1MF", "1TF"]

[[strategy]]
kind = "allreduce"
algorithm = "rabenseifner"
[[strategy]]
kind = "allreduce"
label = "int8"
compression = "int8"
[[strategy]]
kind = "allreduce"
label = "top"
compression = { kind = "top_k", fraction = 0.01 }
[[strategy]]
kind = "zero"
[[strategy]]
kind = "local_sgd"
[[strategy]]
kind = "gossip"
)"),
                               10, 0);
  REQUIRE(steps.names.size() == 12 * 6);
  double nearest = 0.0;
  for (std::size_t k = 0; k < steps.names.size(); ++k) {
    const std::string& name = steps.names[k];
    const auto says = [&](const char* text) { return name.find(text) != std::string::npos; };
    CAPTURE(name, steps.least[k], steps.simulated[k]);
    CHECK(steps.least[k] <= steps.simulated[k] * (1.0 + 1e-9));
    // A gradient computes 4 d flops a row, and a sum of whole gradients sends and receives their 8 d bytes at least
    // 2 (P - 1) / P times (P. Patarasuk, X. Yuan, JPDC 69, 2009).
    const double P = says("workers = 2") ? 2.0 : says("workers = 4") ? 4.0 : 8.0, d = tests::regression_features;
    CHECK(steps.least[k] >= 4.0 * d * tests::regression_batch / P / (says("speed = 1MF") ? 1e6 : 1e12) * (1.0 - 1e-9));
    if (name.starts_with("allreduce") || name.starts_with("zero"))
      CHECK(steps.least[k] >= 2 * (P - 1) / P * 8 * d / (says("1Mbps") ? 1.25e5 : 1.25e8) * (1.0 - 1e-9));
    nearest = std::max(nearest, steps.least[k] / steps.simulated[k]);
  }
  CHECK(nearest > 0.9);
}

}  // namespace bound_test
