// Runs that do not fit into their devices, and recomputation where there is nothing to recompute.
#include <algorithm>
#include <vector>

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

/// A transformer on two A100 in float64, eight sequences each; the options of [training] and [[strategy]] may be added
/// to.
std::string deep(const std::string& strategy, const std::string& memory) {
  return "schema = 1\n[cluster]\nworkers = 2\ndevice = \"a100_80gb\"\nmemory = \"" + memory +
         "\"\n[data]\nsource = \"text\"\npath = \"none.txt\"\nsamples = 4000\n[model]\nkind = \"transformer\"\n"
         "layers = 8\nhidden = 64\nheads = 4\nsequence = 64\nvocabulary = 32\n[training]\nnumbers = false\n"
         "batch_size_per_worker = 8\noptimizer = \"adam\"\n[stop]\nsteps = 2\n[[strategy]]\n" +
         strategy;
}

/// The texts between those separators.
std::vector<std::string> parts(const std::string& text, const std::string& separator) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return all;
}

/// The changes that the scenario's refusal names: "training.recompute = ... and micro_batches = ...".
std::vector<std::string> changes_of(const std::string& scenario) {
  std::string told;
  try {
    planned(scenario);
  } catch (const base::ScenarioError& error) {
    told = error.what();
  }
  CAPTURE(told);
  const std::string before = "it would fit with ";
  const std::size_t begin = told.find(before) + before.size();
  REQUIRE(told.find(before) != std::string::npos);
  std::vector<std::string> changes;
  for (const std::string& each : parts(told.substr(begin, told.find("; training.memory") - begin), "; or "))
    changes.push_back(each.substr(0, each.rfind(" (")));
  return changes;
}

/// The scenario with those changes made; its strategy comes last, and may have such an option already.
std::string changed(std::string scenario, const std::string& changes) {
  for (const std::string& each : parts(changes, " and ")) {
    const std::size_t strategy = scenario.find("[[strategy]]");
    const std::size_t before = scenario.find("\n" + each.substr(0, each.find(" = ")) + " = ", strategy);
    if (each.starts_with("training."))
      scenario.insert(scenario.find("numbers = false"), each.substr(9) + "\n");
    else if (each.starts_with("cluster."))
      scenario.replace(scenario.find("workers = 2"), 11, each.substr(8));
    else if (before != std::string::npos)
      scenario.replace(before + 1, scenario.find('\n', before + 1) - before - 1, each);
    else
      scenario += each + "\n";
  }
  return scenario;
}

}  // namespace

TEST_CASE("a run that does not fit is refused with its sum and with changes that make it fit") {
  const std::string replicas = "kind = \"allreduce\"\nbucket_size = \"none\"\n";
  CHECK(planned(wide(replicas, "")).runs.size() == 1);
  CHECK(planned(wide(replicas, "65MB")).runs.size() == 1);
  CHECK(planned(wide(replicas, "63MB", "memory = \"ignore\"\n")).runs.size() == 1);
  check_refused_text(wide(replicas, "63MB"), "allreduce: a worker needs 64");
  check_refused_text(wide(replicas, "63MB"), "= parameters 16");
  check_refused_text(wide(replicas, "63MB"), "+ optimizer 32");
  check_refused_text(wide(replicas, "63MB"), "but its device has 63");
  check_refused_text(wide(replicas, "63MB"), "it would fit with zero(stage=1)");
  const std::string copies = "kind = \"allreduce\"\n";  // of the gradient in buckets, by default
  check_refused_text(wide(copies, "65MB"), "it would fit with bucket_size = \"none\"");
  CHECK(planned(changed(wide(copies, "65MB"), "bucket_size = \"none\"")).runs.size() == 1);
  CHECK(planned(wide("kind = \"zero\"\n", "63MB")).runs.size() == 1);
  check_refused_text(wide("kind = \"zero\"\n", "39MB"), "stage = 3");
  CHECK(planned(wide("kind = \"zero\"\nstage = 3\n", "39MB")).runs.size() == 1);
  check_refused_text(wide(replicas, "1MB"), "take a smaller model");
}

TEST_CASE("a run fits with each change that its refusal names") {
  const std::string strategy = GENERATE("kind = \"fsdp\"\n", "kind = \"zero\"\nstage = 2\n");
  for (const char* const memory : {"20MB", "10MB", "6MB", "5MB", "4MB", "3MB", "2MB"}) {
    const std::string scenario = deep(strategy, memory);
    for (const std::string& change : changes_of(scenario)) {
      CAPTURE(memory, change);
      CHECK(planned(changed(scenario, change)).runs.size() == 1);
    }
  }
}

TEST_CASE("where no change is enough by itself, the fewest that are enough together are named") {
  const std::string fsdp = "kind = \"fsdp\"\n";
  const std::vector<std::string> alone = changes_of(deep(fsdp, "20MB"));
  CHECK(
      std::ranges::none_of(alone, [](const std::string& change) { return change.find(" and ") != std::string::npos; }));
  const std::vector<std::string> together = changes_of(deep(fsdp, "3MB"));
  CHECK(together.size() <= 3);
  for (const std::string& change : together) {
    const std::vector<std::string> each = parts(change, " and ");
    CHECK(each.size() == parts(together.front(), " and ").size());
    for (std::size_t left_out = 0; left_out < each.size(); ++left_out) {
      std::string scenario = deep(fsdp, "3MB");
      for (std::size_t k = 0; k < each.size(); ++k)
        if (k != left_out) scenario = changed(scenario, each[k]);
      check_refused_text(scenario, "a worker needs");
    }
  }
  check_refused_text(deep(fsdp, "10kB"), "nor all of them together; take a smaller model");
}

TEST_CASE("a server that does not fit is refused, too") {
  const std::string servers = "kind = \"parameter_server\"\n";
  CHECK(planned(wide(servers, "65MB")).runs.size() == 1);
  check_refused_text(wide(servers, "63MB"), "a server needs 64");
  CHECK(planned(wide(servers + "servers = 2\n", "63MB")).runs.size() == 1);
  // A median holds the gradients of all four workers: 16 MB of parameters, 4 x 16 of gradients, 32 of two vectors.
  check_refused_text(wide(servers + "reduce = \"median\"\n", "111MB"), "a server needs 112");
  CHECK(planned(wide(servers + "reduce = \"median\"\n", "113MB")).runs.size() == 1);
}

TEST_CASE("shards want optimizers that work element by element, and groups that divide the workers") {
  check_refused_text(small + "[training]\noptimizer = \"lamb\"\n[[strategy]]\nkind = \"zero\"\n", "updates its shard");
  check_refused_text(wide("kind = \"fsdp\"\nshard_group = 3\n", ""), "groups of 3 workers do not divide 4 workers");
  check_refused_text(wide("kind = \"fsdp\"\nprefetch = false\nlimit = 3\n", ""), "leave limit out");
  check_refused_text(wide("kind = \"zero\"\nstage = 3\nbucket_size = \"1MB\"\n", ""), "leave bucket_size out");
  check_refused_text(wide("kind = \"zero\"\nno_sync = true\n", ""), "set micro_batches to 2 or more");
  check_refused_text(wide("kind = \"fsdp\"\nno_sync = true\n", ""), "set micro_batches to 2 or more");
  for (const std::string stage : {"", "stage = 3\n"}) {  // on a mesh the micro-batches of [parallel] count
    const std::string kind = stage.empty() ? "kind = \"fsdp\"\n" : "kind = \"zero\"\n" + stage;
    const std::string mesh = "no_sync = true\n[parallel]\ntensor = 2\nmicro_batches = ";
    CHECK(planned(deep(kind + mesh + "2\n", "80GB")).runs.size() == 1);
    check_refused_text(deep(kind + mesh + "1\n", "80GB"), "set micro_batches to 2 or more");
  }
}

TEST_CASE("gradients of float32 stand beside shorter formats, or are those of float32") {
  const std::string replicas = "kind = \"allreduce\"\n", in_float32 = "gradient_precision = \"float32\"\n";
  check_refused_text(wide(replicas, "", in_float32), "is shorter than the numbers of precision = \"float64\"");
  check_refused_text(wide(replicas, "", "gradient_precision = \"float16\"\n"), "gradient_precision");
  CHECK(planned(wide(replicas, "", "precision = \"float32\"\n" + in_float32)).runs.size() == 1);
  // 2.001 million parameters of bfloat16: 14 bytes each beside the gradient, which has 2 and 2 in buckets, or 4.
  const std::string bfloat16 = "precision = \"bfloat16\"\n", at_once = "kind = \"allreduce\"\nbucket_size = \"none\"\n";
  CHECK(planned(wide(at_once, "33MB", bfloat16)).runs.size() == 1);
  check_refused_text(wide(at_once, "33MB", bfloat16 + in_float32), "gradients 8");
  CHECK(planned(wide(at_once, "37MB", bfloat16 + in_float32)).runs.size() == 1);
  // Stage 1 is Megatron-LM's distributed optimizer: 6 + 12/4 bytes.
  const std::string stage1 = "kind = \"zero\"\n";
  check_refused_text(wide(stage1, "17MB", bfloat16), "gradients 8");
  CHECK(planned(wide(stage1, "19MB", bfloat16)).runs.size() == 1);
  CHECK(planned(wide(stage1 + "bucket_size = \"none\"\n", "17MB", bfloat16 + "gradient_precision = \"precision\"\n"))
            .runs.size() == 1);
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
  const std::string fused =
      "[model]\nkind = \"transformer\"\npreset = \"gpt2_xl\"\nfused_attention = true\n"
      "[training]\nbatch_size_per_worker = 1\nnumbers = false\nrecompute = \"selective\"\n"
      "[stop]\nsteps = 1\n[[strategy]]\nkind = \"allreduce\"\n";
  check_refused_text(fused, "but fused attention (FlashAttention) keeps none; take \"full\", or leave recompute out");
}

}  // namespace memory_refusals_test
