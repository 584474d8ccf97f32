// Plans of a small scenario, for tests of `simgrad plan`.
#pragma once

#include <string>

#include "catch.h"
#include "cli/scenario.h"

namespace simgrad::tests {

/// Twelve ways to train, with prices of hosts and powers.
inline const std::string twelve = R"(title = "twelve"
seed = 1

[cluster]
workers = 4
speed = "20MF"
bandwidth = "20Mbps"
latency = "2ms"

[data]
source = "house_prices"
samples = 400
features = 20

[model]
kind = "least_squares"

[training]
batch_size = 100
learning_rate = 0.05

[stop]
loss = 0.05
epochs = 200

[evaluate]
every_steps = 2

[prices]
worker = "0.40$/h"
idle = "60W"
busy = "140W"

[plan]
objective = "cheapest"
seeds = 1

[plan.space]
"cluster.workers" = [1, 2, 4]
"training.learning_rate" = [0.02, 0.05]

[[strategy]]
kind = "allreduce"

[[strategy]]
kind = "parameter_server"
consistency = "asp"
)";

/// Three meshes of a transformer, timed alone, to an amount of samples.
inline const std::string meshes = R"([cluster]
workers = 8
speed = "1TF"
bandwidth = "100Gbps"
latency = "5us"
memory = "1GB"

[data]
samples = 800

[model]
kind = "transformer"
layers = 4
hidden = 64
heads = 4
sequence = 32
vocabulary = 100

[training]
batch_size = 16
numbers = false

[stop]
steps = 1

[prices]
worker = "1$/h"

[plan]
objective = "fastest"
samples = 800

[plan.space]
"parallel.pipeline" = [1, 2, 3, 4]

[[strategy]]
kind = "allreduce"
)";

/// A hundred million steps of 64 samples on four servers.
inline const std::string long_one = R"(title = "long"
seed = 1

[cluster]
workers = 4
speed = "1GF"
bandwidth = "1Gbps"
latency = "50us"

[data]
samples = 320
features = 5

[model]
kind = "least_squares"

[training]
batch_size = 64
numbers = false

[stop]
steps = 1

[prices]
worker = "3.6$/h"
idle = "100W"
busy = "300W"

[plan]
objective = "cheapest"
samples = 6_400_000_000

[[strategy]]
kind = "allreduce"
algorithm = "recursive_doubling"
)";

/// The four servers fail every 1000 s.
inline const std::string fails = R"([capacity]
failures = { kind = "exponential", mtbf = "1000s" }
repair = { kind = "constant", time = "60s" }
detection = "2s"
restart = "3s"
checkpoint_time = "0.5s"
)";

inline Json plan_of(const std::string& text, const std::string& arguments = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("plan x.toml --json " + arguments, scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  return Json::parse(called.out);
}

/// plan.json without its real time.
inline Json plan_without_wall(Json plan) {
  plan.erase("wall_s");
  return plan;
}

}  // namespace simgrad::tests
