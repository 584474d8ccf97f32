// The memory of actors' stacks, over many generations of a thousand ranks.
#include "experiment/checked_runs.h"

namespace actor_stacks_test {

using namespace simgrad;
using namespace simgrad::experiment;
using namespace checked;

TEST_CASE("an actor's stack is given back with its generation") {
  // Were they kept, those of 33 generations would be more than the kernel lets a process map (65,530).
  std::string crashes;
  for (int k = 0; k < 32; ++k)
    crashes +=
        "{ rank = " + std::to_string(k) + ", at = \"" + std::to_string(5000 + 1500 * k) + "us\", repair = \"1ms\" },";
  const auto runs =
      runs_of("[cluster]\nworkers = 1024\n[cluster.failures]\ndetection = \"100us\"\ncrash = [" + crashes +
              "]\n[data]\nsamples = 1024\n[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n"
              "checkpoint_every_steps = 1\n[stop]\ntime = \"54ms\"\n" +
              strategy("local_sgd"));
  CHECK(runs.at(0).record.crashes == 32);
  CHECK(runs.at(0).record.status == record::Status::stopped);
}

}  // namespace actor_stacks_test
