// Meshes that do not fit the workers, the model or the batch: each is refused with its place, and with what would do.
#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "experiment/refused.h"
#include "strategies/strategy.h"

namespace parallel_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// A transformer of 4 blocks, 6 units with embedding and head, on 8 workers; a step has 24 rows.
std::string cut(const std::string& parallel, const std::string& strategy = ring_allreduce,
                const std::string& training = "") {
  return "schema = 1\n[cluster]\nworkers = 8\ntopology = { kind = \"gpu_hosts\", devices = 4 }\n[data]\nsource = "
         "\"text\"\npath = \"none.txt\"\nsamples = 96\n[model]\nkind = \"transformer\"\nlayers = 4\nhidden = 48\n"
         "heads = 6\nsequence = 8\nvocabulary = 48\ntied = false\n[training]\nnumbers = false\nbatch_size = 24\n" +
         training + "[parallel]\n" + parallel + "[stop]\nsteps = 2\n" + strategy;
}

/// With a transformer of six experts in each block.
std::string cut_experts(const std::string& parallel) {
  std::string text = cut(parallel);
  return text.replace(text.find("tied = false"), 0, "experts = 6\n");
}

std::string of_kind(const std::string& kind) { return "[[strategy]]\nkind = \"" + kind + "\"\n"; }

/// With two tensor ranks in each of four replicas, a batch of so many of 96 rows and so many steps.
std::string sliced(int batch, int steps, const std::string& slices) {
  std::string text = cut("tensor = 2\n" + slices);
  text.replace(text.find("batch_size = 24"), 15, fmt::format("batch_size = {}", batch));
  return text.replace(text.find("steps = 2"), 9, fmt::format("steps = {}", steps));
}

/// The warnings of the first run of a scenario.
std::vector<std::string> warnings_of(const std::string& text) {
  const Plan plan = planned(text);
  const RunPlan& run = plan.runs.front();
  return run.strategy->warnings(run.workers, run.seed);
}

/// On two classes of hosts, which alternate or not, so that tensor ranks are unlike.
std::string on_unlike_hosts(std::string text, const std::string& other = "speed = \"3GF\"") {
  const std::string classes =
      "[[cluster.hosts]]\nclass = \"a\"\ncount = 1\nspeed = \"1GF\"\n[[cluster.hosts]]\nclass = \"b\"\ncount = 7\n" +
      other + "\n";
  return text.insert(text.find("[data]"), classes);
}

}  // namespace

TEST_CASE("a mesh has as many ranks as there are workers") {
  CHECK(planned(cut("tensor = 2\npipeline = 2\n")).runs.size() == 1);
  check_refused_text(cut("tensor = 3\n"),
                     "tensor x pipeline = 3 x 1 are 3 ranks, but there are 8 workers; expected a "
                     "multiple of 3 workers");
  check_refused_text(cut("tensor = 2\npipeline = 2\ndata = 3\n"),
                     "tensor x pipeline x data = 2 x 2 x 3 are 12 ranks, but there are 8 workers; expected "
                     "cluster.workers = 12");
  check_refused_text(cut("pipeline = 16\n"), "tensor x pipeline = 1 x 16 are 16 ranks");
}

TEST_CASE("a mesh takes the strategies whose parameters are held to those of uncut replicas, and no others") {
  // As in tests/strategies/mesh_strategies_test.cpp; single has one replica and is held there by its equal, allreduce.
  const std::set<std::string> known{"allreduce",         "d2",        "diloco", "fsdp",   "gossip",
                                    "gradient_tracking", "local_sgd", "sgp",    "single", "zero"};
  std::set<std::string> taken;
  for (const auto& entry : strategies::registry().entries()) {
    const std::string kind(entry.about.kind);
    try {
      planned(cut("pipeline = 2\n", of_kind(kind)));
      taken.insert(kind);
    } catch (const base::ScenarioError&) {
    }
  }
  CHECK(taken == known);
}

TEST_CASE("slices refresh within the run, are no older than their bound, and have tensor ranks alone") {
  // The full batch: every row comes again in every step.
  CHECK(planned(sliced(96, 9, "refresh_every = 2\nstaleness = 9\n")).runs.size() == 1);
  const auto refused = [](const std::string& parallel, const std::string& why) {
    check_refused_text(cut(parallel), why);
  };
  refused("tensor = 2\nrefresh_every = 3\n", "refresh_every = 3 is longer than the run, which has 2 steps");
  refused("tensor = 2\nrefresh_every = 2\nstaleness = 0\n", "expected 1 or more, or a smaller refresh_every");
  refused("tensor = 2\nrefresh_every = 0\n", "refresh_every");
  refused("pipeline = 2\nrefresh_every = 2\n", "but tensor = 1; set tensor to 2 or more");
  refused("pipeline = 2\nstaleness = 2\n", "staleness is about ranks that share the products");
  refused("tensor = 2\npipeline = 2\nrefresh_every = 2\n", "set pipeline, context and expert to 1");
  refused("tensor = 2\nsequence_parallel = true\nrefresh_every = 2\n", "sequence_parallel divides the tokens");
  refused("automatic = true\ntensor = 2\nrefresh_every = 2\n", "automatic compares layouts");
  check_refused_text(cut("tensor = 2\nrefresh_every = 2\n", of_kind("fsdp")), "gathers the parameters of every unit");
  check_refused_text(cut("tensor = 2\nrefresh_every = 2\n", ring_allreduce, "clip_norm = 1.0\n"),
                     "training.clip_norm sums the norm");
  std::string in_epochs = cut("tensor = 2\nrefresh_every = 9\n");
  in_epochs.replace(in_epochs.find("steps = 2"), 9, "epochs = 2");
  check_refused_text(in_epochs, "longer than the run, which has 8 steps");
  check_refused_text(sliced(96, 9, "refresh_every = 2\nstaleness = 10\n"),
                     "staleness = 10 is longer than the run, which has 9 steps; expected 9 at most");
  check_refused_text(sliced(96, 9, "staleness = 10\n"), "staleness = 10 is longer than the run");
}

TEST_CASE("shares of tensor ranks by speed are refused beside what compares or keeps equal ones") {
  const std::string by_speed = "tensor_shares = \"speed\"\n";
  CHECK(planned(on_unlike_hosts(cut("tensor = 2\npipeline = 2\n" + by_speed))).runs.size() == 1);
  CHECK(planned(cut("tensor = 2\n" + by_speed)).runs.size() == 1);  // alike: equal shares
  CHECK(planned(on_unlike_hosts(cut("tensor = 2\n" + by_speed, of_kind("single")))).runs.size() == 1);  // two of eight
  const auto refused = [&](const std::string& parallel, const std::string& why) {
    check_refused_text(cut(parallel + by_speed), why);
  };
  refused("pipeline = 2\n", "tensor_shares = \"speed\" is about ranks that share the products of each layer");
  refused("automatic = true\ntensor = 2\n", "automatic compares layouts with equal shares");
  refused("tensor = 2\npipeline = 2\nbalance = \"time\"\n", "balance searches for stages with equal shares");
  refused("tensor = 2\npipeline = 2\nbalance = \"memory\"\n", "balance searches for stages with equal shares");
  refused("tensor = 2\npipeline = 2\ncopies = \"next_stage\"\n",
          "copies = \"next_stage\" keeps a copy of one next to the other");
  refused("tensor = 2\nrefresh_every = 2\n", "refresh_every and staleness spare these");
  std::string tied = on_unlike_hosts(cut("tensor = 2\npipeline = 2\n" + by_speed));
  check_refused_text(tied.replace(tied.find("tied = false"), 12, "tied = true"), "share the tied embedding");
  // Six heads among eight ranks; among four, equal shares would not be whole.
  check_refused_text(on_unlike_hosts(cut("tensor = 8\n" + by_speed)),
                     "kv_heads = 6 leave some of tensor = 8 ranks without any");
  CHECK(planned(on_unlike_hosts(cut("tensor = 4\n" + by_speed))).runs.size() == 1);
  check_refused_text(cut("tensor = 4\n" + by_speed), "heads = 6 do not divide among tensor = 4 ranks");
}

TEST_CASE("shares of tensor ranks need the memory of each class, and fit into it") {
  const auto device = [](const std::string& memory) {
    return "device = { kind = \"custom\", float64 = \"3GF\", memory_bandwidth = \"1TB/s\"" + memory + " }";
  };
  const std::string text = cut("tensor = 2\ntensor_shares = \"speed\"\n");
  check_refused_text(on_unlike_hosts(text, device(", memory = \"1GB\"")),
                     "class \"a\" has no memory, but tensor_shares = \"speed\" sizes shares within the memory");
  check_refused_text(on_unlike_hosts(text, device(", memory = \"1kB\"")), "has no memory");
  CHECK(planned(on_unlike_hosts(text, device(""))).runs.size() == 1);  // nothing is known of any class
}

TEST_CASE("slices of mini-batches have rows that come again within the bound of their age") {
  // 24 of 96 rows a step: 4 steps an epoch, and within 8 steps every row comes again.
  check_refused_text(
      sliced(24, 100, "refresh_every = 2\n"),
      "refresh_every = 2 has hardly an effect: a step takes 24 of 96 rows, so that a row comes again "
      "after 4 steps on average, but numbers are kept for staleness = 1 steps, and the run has 100 steps");
  check_refused_text(sliced(24, 100, "refresh_every = 2\n"), "or a staleness of several epochs");
  std::string one_replica = sliced(24, 100, "refresh_every = 2\n");
  one_replica.replace(one_replica.find("workers = 8\ntopology = { kind = \"gpu_hosts\", devices = 4 }"), 58,
                      "workers = 2");
  check_refused_text(one_replica, "or set staleness to 8 or more");
  check_refused_text(sliced(24, 100, "staleness = 1\n"), "staleness = 1 has hardly an effect");
  check_refused_text(sliced(24, 4, "refresh_every = 2\nstaleness = 4\n"), "or a longer run with an older staleness");
  CHECK(planned(sliced(24, 100, "refresh_every = 2\nstaleness = 8\n")).runs.size() == 1);
  // With the bound of an epoch the first step of an epoch knows its rows; with one row a step, most steps do sooner.
  CHECK(planned(sliced(24, 100, "refresh_every = 2\nstaleness = 4\n")).runs.size() == 1);
  CHECK(planned(sliced(4, 200, "refresh_every = 10\nstaleness = 23\n")).runs.size() == 1);
}

TEST_CASE("a pipeline has at most one stage for each unit of the model, and stages that add up to its units") {
  check_refused_text(cut("pipeline = 8\n"), "pipeline x chunks = 8 pieces of a model of 6 units");
  check_refused_text(cut("pipeline = 8\n"), "take pipeline = 6 or less");
  const std::string interleaved = "schedule = \"interleaved_1f1b\"\nmicro_batches = 6\n";
  check_refused_text(cut(interleaved + "pipeline = 2\nchunks = 4\n"), "take chunks = 3 or less");
  check_refused_text(cut("pipeline = 2\nstages = [2, 3]\n"), "stages has 5 units in all, but the model has 6");
  check_refused_text(cut("pipeline = 2\nstages = [2, 2, 2]\n"), "3 numbers in stages, but pipeline x chunks = 2");
  check_refused_text(cut("pipeline = 2\nstages = [2.5, 3.5]\n"), "expected whole numbers");
  CHECK(planned(cut("pipeline = 2\nstages = [2, 4]\n")).runs.size() == 1);
}

TEST_CASE("micro-batches divide a replica's share of the batch") {
  check_refused_text(
      cut("pipeline = 2\nmicro_batches = 5\n"),
      "a batch of 24 rows does not divide into 5 micro-batches on each of 4 replicas; take a batch of 20 "
      "or 40 rows, or micro_batches = 3 or 6");
  check_refused_text(cut("pipeline = 2\nmicro_batches = 7\n"), "or micro_batches = 6");
  CHECK(planned(cut("pipeline = 2\nmicro_batches = 6\n")).runs.size() == 1);
}

TEST_CASE("on a mesh the number of micro-batches stands in [parallel] alone") {
  for (const std::string kind : {"allreduce", "zero", "fsdp"}) {
    CAPTURE(kind);
    const std::string strategy = "\n" + of_kind(kind) + "label = \"accumulating\"\nmicro_batches = 2\n";
    for (const std::string parallel : {"pipeline = 2\nmicro_batches = 3\n", "tensor = 2\n", "micro_batches = 3\n",
                                       "pipeline = 2\nschedule = \"pipedream_2bw\"\n"})
      check_refused_text(cut(parallel + strategy), "on a mesh, micro_batches is set in [parallel]; leave it out here");
    check_refused_text(cut("automatic = true\n" + strategy), "leave them out of the strategy");
  }
}

TEST_CASE("tensor divides the heads, and what else it cuts") {
  check_refused_text(cut("tensor = 4\n"), "heads = 6 do not divide among tensor = 4 ranks; take tensor from");
  check_refused_text(cut("tensor = 8\n"), "heads = 6 do not divide among tensor = 8 ranks");
}

TEST_CASE("chunks are refused where there is no pipeline, and so is sequence parallelism without tensor ranks") {
  check_refused_text(cut("tensor = 2\nchunks = 2\n"), "but pipeline = 1; set pipeline to 2 or more");
  check_refused_text(cut("pipeline = 2\nsequence_parallel = true\n"), "but tensor = 1; set tensor to 2 or more");
}

TEST_CASE("context divides the sequence, and expert the experts and the micro-batches") {
  check_refused_text(cut("context = 2\nexpert = 2\ntensor = 3\n"),
                     "tensor x pipeline x context x expert = 3 x 1 x 2 x 2 are 12 ranks, but there are 8 workers");
  check_refused_text(cut("expert = 2\n"), "expert = 2");
  std::string uneven = cut("context = 8\n");
  uneven.replace(uneven.find("sequence = 8"), 12, "sequence = 12");
  check_refused_text(uneven, "sequence = 12 does not divide among context = 8 ranks");
  const std::string experts = cut_experts("expert = 4\nmicro_batches = 2\n");
  check_refused_text(experts, "experts = 6 do not divide among expert = 4 ranks");
  check_refused_text(
      cut_experts("expert = 2\nmicro_batches = 2\n"),
      "a batch of 24 rows does not divide into 2 micro-batches on each of 4 replicas, each shared by expert = "
      "2 ranks; take a batch of 16 or 32 rows");
  CHECK(planned(cut_experts("expert = 2\nmicro_batches = 3\n")).runs.size() == 1);
}

TEST_CASE("order names the dimensions of the mesh once each, and a misspelt schedule is told the known ones") {
  const std::string known = "\"tensor\", \"context\", \"expert\", \"data\", \"pipeline\"";
  check_refused_text(cut_experts("expert = 2\norder = [\"tensor\", \"data\", \"pipeline\"]\n"), known);
  CHECK(planned(cut("tensor = 2\norder = [\"data\", \"tensor\", \"pipeline\"]\n")).runs.size() == 1);
  check_refused_text(
      cut("tensor = 2\norder = [\"tensor\", \"data\", \"pipelines\"]\n"),
      "\"pipelines\" is no dimension of the mesh; order names each dimension of the mesh once: " + known);
  check_refused_text(cut("tensor = 2\norder = [\"tensor\", \"data\", \"data\"]\n"), "\"data\" is there more than once");
  check_refused_text(cut("tensor = 2\norder = [\"tensor\", \"data\"]\n"), "\"pipeline\" is missing");
  check_refused_text(cut("pipeline = 2\nschedule = \"1f1\"\n"), "did you mean \"1f1b\"?");
  check_refused_text(cut("pipeline = 2\nschedule = \"interleaved_1f1b\"\n"), "interleaving needs 2 chunks");
}

TEST_CASE("strategies without lockstep, or with servers do not work on parts of a model") {
  for (const char* kind : {"parameter_server", "ad_psgd", "async_broadcast", "mapreduce"}) {
    CAPTURE(kind);
    check_refused_text(cut("pipeline = 2\n", of_kind(kind)), "under [parallel]");
  }
  const std::string gathering = of_kind("zero") + "stage = 3\n";
  check_refused_text(cut("pipeline = 2\nschedule = \"pipedream_2bw\"\n", gathering), "take a synchronous schedule");
  check_refused_text(cut("pipeline = 2\nschedule = \"pipedream\"\n", of_kind("fsdp")), "take a synchronous schedule");
  CHECK(planned(cut("pipeline = 2\n", gathering)).runs.size() == 1);
  for (const char* kind : {"zero", "fsdp", "local_sgd", "diloco"})
    CHECK(planned(cut("pipeline = 2\n", of_kind(kind))).runs.size() == 1);
}

TEST_CASE("tensor ranks in several hosts are warned of, with the ratio of the links and with what would help") {
  // A NIC has 1 Gbit/s, 125 MB/s, and NVLink 300 GB/s: 2,400 times as much. A host has 4 of the 8 devices.
  const std::string wide = "tensor = 2\norder = [\"data\", \"tensor\", \"pipeline\"]\n";
  REQUIRE(warnings_of(cut(wide)).size() == 1);
  CHECK_THAT(warnings_of(cut(wide)).front(), ContainsSubstring("2 ranks that share products (tensor) are in 2 hosts") &&
                                                 ContainsSubstring("2400 times as slow") &&
                                                 ContainsSubstring("put \"tensor\" first in order"));
  std::string large = cut("tensor = 8\n");
  large.replace(large.find("heads = 6"), 9, "heads = 8");
  REQUIRE(warnings_of(large).size() == 1);
  CHECK_THAT(warnings_of(large).front(), ContainsSubstring("8 ranks") && ContainsSubstring("take tensor = 4 or less"));
  CHECK(warnings_of(cut("tensor = 2\n")).empty());
  CHECK(warnings_of(cut("pipeline = 2\norder = [\"data\", \"pipeline\", \"tensor\"]\n")).empty());
}

TEST_CASE("a cut model fits with each change that its refusal names") {
  // Stage 0 of two keeps six micro-batches of four in flight; 1.2 MB are less than it needs and more than each change
  // does.
  const std::string in_memory = "tensor = 2\npipeline = 2\nmicro_batches = 2\n";
  const auto text = [&](const char* memory) {
    std::string scenario = cut(in_memory, plain_allreduce + "bucket_size = \"none\"\n", "optimizer = \"adam\"\n");
    return scenario.insert(scenario.find("workers = 8"), fmt::format("memory = \"{}\"\n", memory));
  };
  const std::vector<std::pair<std::string, std::string>> sets{
      {"training.recompute = \"full\"", "training.recompute=full"},
      {"parallel.micro_batches = ", "parallel.micro_batches="},
      {"parallel.pipeline = ", "parallel.pipeline="},
      {"parallel.tensor = ", "parallel.tensor="},
      {"parallel.sequence_parallel = true", "parallel.sequence_parallel=true"},
      {"zero(stage=1)", "strategy.0.kind=zero"}};
  std::size_t named = 0;
  for (const char* memory :
       {"2MB", "1500kB", "1300kB", "1200kB", "1100kB", "1MB", "900kB", "800kB", "700kB", "600kB"}) {
    std::string told;
    try {
      planned(text(memory));
      continue;
    } catch (const base::ScenarioError& error) {
      told = error.what();
    }
    CAPTURE(memory, told);
    CHECK(told.find("allreduce: a worker needs") != std::string::npos);
    for (const auto& [change, set] : sets) {
      const std::size_t at = told.find(change);
      if (at == std::string::npos || told.find("it would fit") == std::string::npos) continue;
      const std::size_t value = at + change.size();
      const std::string with = change.back() == ' ' ? set + told.substr(value, told.find(' ', value) - value) : set;
      CAPTURE(with);
      CHECK(planned(text(memory), {.sets = {with}}).runs.size() == 1);
      ++named;
    }
  }
  CHECK(named >= 6);
  check_refused_text(text("20kB"), "makes it fit by itself; take more workers or a smaller model");
}

TEST_CASE("micro-batches cut a step of an uncut model, too, if the model can be passed through in parts") {
  CHECK(planned(cut("micro_batches = 3\n")).runs.size() == 1);
  check_refused_text(cut("micro_batches = 2\n"),
                     "a batch of 24 rows does not divide into 2 micro-batches on each of 8");
}

}  // namespace parallel_refusals_test
