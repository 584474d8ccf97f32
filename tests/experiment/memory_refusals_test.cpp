// Runs that do not fit into their devices, and recomputation where there is nothing to recompute.
#include "experiment/refused.h"

namespace memory_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// 1,000 x 1,000 + 1,000 x 1,000 + 1,000 weights of 8 bytes: 16.008 MB, four times with Adam; 8 or 1 rows keep 0.2 MB
/// or less.
std::string wide(const std::string& strategy, const std::string& memory, const std::string& training = "") {
  return "schema = 1\n[cluster]\nworkers = 4\n" + (memory.empty() ? "" : "memory = \"" + memory + "\"\n") +
         "[data]\nsource = \"house_prices\"\nsamples = 4000\nfeatures = 1000\n[model]\nkind = \"perceptron\"\n"
         "hidden = [1000, 1000]\ntask = \"regression\"\n[training]\nnumbers = false\nbatch_size = 32\noptimizer = "
         "\"adam\"\n" +
         training + "[stop]\nsteps = 2\n[[strategy]]\n" + strategy;
}

}  // namespace

TEST_CASE("a run that does not fit is refused with its sum and with changes that make it fit") {
  const std::string replicas = "kind = \"allreduce\"\n";
  CHECK(planned(wide(replicas, "")).runs.size() == 1);
  CHECK(planned(wide(replicas, "65MB")).runs.size() == 1);
  CHECK(planned(wide(replicas, "63MB", "memory = \"ignore\"\n")).runs.size() == 1);
  check_refused_text(wide(replicas, "63MB"), "allreduce: a worker needs 64");
  check_refused_text(wide(replicas, "63MB"), "= parameters 16");
  check_refused_text(wide(replicas, "63MB"), "+ optimizer 32");
  check_refused_text(wide(replicas, "63MB"), "but its device has 63");
  check_refused_text(wide(replicas, "63MB"), "it would fit with zero(stage=1)");
  CHECK(planned(wide("kind = \"zero\"\n", "63MB")).runs.size() == 1);
  check_refused_text(wide("kind = \"zero\"\n", "39MB"), "stage = 3");
  CHECK(planned(wide("kind = \"zero\"\nstage = 3\n", "39MB")).runs.size() == 1);
  check_refused_text(wide(replicas, "1MB"), "take a smaller model");
}

TEST_CASE("a server that does not fit is refused, too") {
  const std::string servers = "kind = \"parameter_server\"\n";
  CHECK(planned(wide(servers, "65MB")).runs.size() == 1);
  check_refused_text(wide(servers, "63MB"), "a server needs 64");
  CHECK(planned(wide(servers + "servers = 2\n", "63MB")).runs.size() == 1);
}

TEST_CASE("shards want optimizers that work element by element, and groups that divide the workers") {
  check_refused_text(small + "[training]\noptimizer = \"lamb\"\n[[strategy]]\nkind = \"zero\"\n", "updates its shard");
  check_refused_text(wide("kind = \"fsdp\"\nshard_group = 3\n", ""), "groups of 3 workers do not divide 4 workers");
  check_refused_text(wide("kind = \"fsdp\"\nprefetch = false\nlimit = 3\n", ""), "leave limit out");
  check_refused_text(wide("kind = \"zero\"\nstage = 3\nbucket_size = \"1MB\"\n", ""), "leave bucket_size out");
  check_refused_text(wide("kind = \"zero\"\nno_sync = true\n", ""), "set micro_batches to 2 or more");
}

TEST_CASE("offloading wants a link between device and host, and stage 3 for parameters") {
  const std::string zero = "kind = \"zero\"\noffload = \"optimizer\"\n";
  check_refused_text(wide(zero, ""), "offload needs a link between a device and its host, but the host of worker 0");
  std::string on_tpu = wide(zero, "");
  on_tpu.replace(on_tpu.find("workers = 4"), 11, "workers = 4\ndevice = \"cpu_host\"");
  check_refused_text(on_tpu, "but the device of worker 0 has none");
  check_refused_text(wide("kind = \"zero\"\noffload = \"parameters\"\n", ""), "or take stage 3");
  check_refused_text(wide("kind = \"fsdp\"\nhost_bandwidth = \"1GB/s\"\n", ""), "set offload, or leave it out");
}

TEST_CASE("recomputation wants activations to compute again") {
  check_refused_text(wide("kind = \"allreduce\"\n", "", "recompute = \"selective\"\n"), "take \"full\"");
  CHECK(planned(wide("kind = \"allreduce\"\n", "", "recompute = \"full\"\n")).runs.size() == 1);
}

}  // namespace memory_refusals_test
