// Words of other tools where a scenario has a key: the refusal names the key.
#include "scenario/usual_words.h"

#include <fmt/format.h>

#include "experiment/refused.h"

namespace usual_words_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// The refusals of a scenario in whose sections the word stands for a key.
std::string refusals_of(std::string_view word) {
  try {
    planned(
        fmt::format("[cluster]\n{0} = 1\n[data]\n{0} = 1\n[model]\nkind = \"transformer\"\n{0} = 1\n[training]\n{0} = "
                    "1\n[parallel]\n{0} = 1\n[stop]\n{0} = 1\n[[strategy]]\nkind = \"allreduce\"\n",
                    word));
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("words of PyTorch, MPI and Slurm are refused with the keys for them") {
  const auto refused = [](const char* section, const char* word, const char* key) {
    check_refused_text(fmt::format("[{}]\n{} = 1\n[[strategy]]\nkind = \"allreduce\"\n", section, word),
                       fmt::format("unknown key \"{}\" in [{}]; did you mean \"{}\"", word, section, key));
  };
  refused("cluster", "nodes", "workers");
  refused("cluster", "world_size", "workers");
  refused("cluster", "num_workers", "workers");
  refused("cluster", "gpu", "device");
  refused("cluster", "delay", "latency");
  refused("cluster", "bandwidth_gbps", "bandwidth");
  refused("data", "rows", "samples");
  refused("data", "n_features", "features");
  refused("training", "momentum", "optimizer");
  refused("training", "lr", "learning_rate");
  refused("training", "nodes", "cluster.workers");
  refused("parallel", "tp", "tensor");
  refused("training", "micro_batch_size", "batch_size_per_worker");
  refused("stop", "iterations", "steps");
  refused("stop", "max_epochs", "epochs");
}

TEST_CASE("each of the words leads to a key that some section has") {
  for (const auto& [word, key] : scenario::usual_words()) {
    CAPTURE(word);
    CHECK(refusals_of(word).find(fmt::format("did you mean \"{}\"?", key)) != std::string::npos);
  }
}

}  // namespace usual_words_test
