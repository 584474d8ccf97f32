// Every strategy that works on a mesh trains there as among uncut replicas.
#include "scratch.h"
#include "share.h"
#include "strategies/gossip/gossip.h"
#include "strategies/gossip/graphs/edge_list.h"
#include "strategies/mesh_trial.h"
#include "strategies/parallel/stages.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "strategies/strategy.h"

namespace mesh_strategies_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

Parallel cut(std::int64_t tensor, std::int64_t context, std::int64_t pipeline, std::int64_t micro_batches) {
  Parallel parallel;
  parallel.tensor = tensor;
  parallel.context = context;
  parallel.pipeline = pipeline;
  parallel.micro_batches = micro_batches;
  return parallel;
}

/// Three replicas, cut so and uncut.
void check_equal(MeshTrial trial, const Parallel& parallel, std::int64_t steps = 6) {
  constexpr int replicas = 3;
  trial.steps = steps;
  trial.workers = replicas;
  const Outcome uncut = trial.run();
  trial.parallel = parallel;
  trial.workers = replicas * static_cast<int>(parallel.ranks_a_replica());
  const Outcome on_mesh = trial.run();
  REQUIRE(uncut.record.error.empty());
  REQUIRE(on_mesh.record.error.empty());
  CHECK(on_mesh.evaluated.front() == uncut.evaluated.front());
  CHECK(relative_distance(uncut.final_parameters(), uncut.evaluated.front()) > 1e-3);  // something is trained
  CHECK(relative_distance(on_mesh.final_parameters(), uncut.final_parameters()) <= 1e-12);
  REQUIRE(on_mesh.record.curve.size() == uncut.record.curve.size());
  for (std::size_t k = 0; k < uncut.record.curve.size(); ++k) {
    const auto &distance = on_mesh.record.curve[k].consensus_distance,
               &expected = uncut.record.curve[k].consensus_distance;
    REQUIRE(distance.has_value() == expected.has_value());
    CHECK(distance.value_or(0.0) == Approx(expected.value_or(0.0)).epsilon(1e-9).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("every strategy that a mesh takes trains the parameters of uncut replicas, to 1e-12") {
  Share share;
  for (const char* const kind :
       {"allreduce", "d2", "diloco", "fsdp", "gossip", "gradient_tracking", "local_sgd", "sgp", "zero"})
    for (const Parallel& parallel :
         {cut(1, 1, 1, 2), cut(1, 2, 1, 1), cut(2, 1, 1, 2), cut(1, 1, 2, 2), cut(2, 2, 2, 2)}) {
      if (!share.next()) continue;
      CAPTURE(kind, parallel.tensor, parallel.context, parallel.pipeline, parallel.micro_batch_count());
      MeshTrial trial = transformer_trial(4, false);
      trial.strategy = strategies::registry().find(kind)->make();
      check_equal(trial, parallel);
    }
}

TEST_CASE("tensor ranks of a perceptron, which share layers in pairs, train the parameters of uncut replicas") {
  for (const char* const kind : {"allreduce", "zero", "fsdp"})
    for (const Parallel& parallel : {cut(2, 1, 1, 1), cut(2, 1, 2, 2), cut(4, 1, 1, 2)}) {
      CAPTURE(kind, parallel.tensor, parallel.pipeline);
      MeshTrial trial = perceptron_trial();
      trial.strategy = strategies::registry().find(kind)->make();
      check_equal(trial, parallel, 3);
    }
}

TEST_CASE("one rank stands for all that are alike where units are gathered, with the same times, bytes and memory") {
  for (const char* const kind : {"zero", "fsdp"})
    for (const Parallel& parallel : {cut(1, 1, 1, 2), cut(2, 1, 2, 4)}) {
      CAPTURE(kind, parallel.tensor, parallel.pipeline);
      MeshTrial trial = transformer_trial(4, false);
      trial.strategy = strategies::registry().find(kind)->make();
      if (std::string(kind) == "zero") {
        auto zero = std::make_shared<strategies::Zero>();
        zero->stage = 3;
        trial.strategy = zero;
      }
      trial.data = {};
      trial.training.numbers = false;
      trial.parallel = parallel;
      if (parallel.tensor > 1) trial.training.clip_norm = 1.0;  // the norm's sum is no ring
      trial.workers = 4 * static_cast<int>(parallel.ranks_a_replica());
      const record::Record one = trial.run().record;
      trial.parallel.simulate = strategies::Simulate::all;
      const record::Record all = trial.run().record;
      REQUIRE(one.error.empty());
      REQUIRE(all.error.empty());
      CHECK(one.simulated_s == Approx(all.simulated_s).epsilon(1e-9));
      CHECK(one.bytes == all.bytes);
      CHECK(peak_memory(one) == peak_memory(all));
      REQUIRE(one.ranks.size() == all.ranks.size());
      for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
        CHECK(one.ranks[rank].communicate_s == Approx(all.ranks[rank].communicate_s).epsilon(1e-9));
        CHECK(one.ranks[rank].bytes_sent == all.ranks[rank].bytes_sent);
      }
    }
}

TEST_CASE("shards of parts, with units that are gathered or not, train the parameters of uncut replicas") {
  Parallel interleaved = cut(1, 1, 2, 4);
  interleaved.chunks = 2;
  interleaved.schedule.choose("interleaved_1f1b");
  Parallel split = cut(2, 1, 2, 4);
  split.schedule.choose("zb_h1");
  Parallel experts = cut(1, 1, 1, 2);
  experts.expert = 2;
  const auto zero = [](std::int64_t stage) {
    auto strategy = std::make_shared<strategies::Zero>();
    strategy->stage = stage;
    return strategy;
  };
  const auto fsdp = [](bool reshard, std::int64_t group, bool no_sync) {
    auto strategy = std::make_shared<strategies::Fsdp>();
    strategy->reshard_after_forward = reshard;
    strategy->shard_group = group;
    strategy->no_sync = no_sync;
    strategy->limit = 3;
    return strategy;
  };
  const std::vector<std::shared_ptr<const strategies::Strategy>> strategies{
      zero(2), zero(3), fsdp(false, 3, false), fsdp(true, 1, false), fsdp(true, 3, false), fsdp(true, 3, true)};
  Share share;
  for (std::size_t s = 0; s < strategies.size(); ++s)
    for (const Parallel& parallel : {interleaved, split, experts, cut(1, 2, 1, 1), cut(2, 2, 2, 1)}) {
      if (!share.next()) continue;
      CAPTURE(s, parallel.tensor, parallel.context, parallel.pipeline, parallel.expert);
      MeshTrial trial = parallel.expert > 1 ? experts_trial(4, true) : transformer_trial(4, true);
      trial.strategy = strategies[s];
      trial.batch = 96;
      if (s != 1) trial.training.clip_norm = 0.05;  // less than the norm of every step's gradient
      check_equal(trial, parallel, 3);
    }
}

// Stage 3 and fsdp add up micro-batches in the order of allreduce with no_sync; else they add up sums over replicas.
TEST_CASE("zero of every stage and fsdp train the parameters of allreduce on the same mesh, bit for bit with no_sync") {
  const auto trained = [](const char* kind, std::int64_t stage, bool no_sync = false) {
    MeshTrial trial = transformer_trial(4, false);
    trial.strategy = around_a_ring<strategies::Allreduce>();
    auto zero = std::make_shared<strategies::Zero>();
    zero->stage = stage;
    auto fsdp = std::make_shared<strategies::Fsdp>();
    zero->no_sync = fsdp->no_sync = no_sync;
    if (std::string(kind) == "zero") trial.strategy = zero;
    if (std::string(kind) == "fsdp") trial.strategy = fsdp;
    trial.parallel = cut(2, 1, 2, 2);
    trial.workers = 8;  // two replicas: a sum of two has one order
    return trial.run().final_parameters();
  };
  const std::vector<double> expected = trained("allreduce", 0);
  for (const std::int64_t stage : {1, 2}) CHECK(trained("zero", stage) == expected);
  CHECK(trained("zero", 3, true) == expected);
  CHECK(trained("fsdp", 0, true) == expected);
  CHECK(relative_distance(trained("zero", 3), expected) < 1e-13);
  CHECK(relative_distance(trained("fsdp", 0), expected) < 1e-13);
}

TEST_CASE(
    "a rank of fsdp on a mesh gathers for each pass or once a step, and reduces each micro-batch or all at once") {
  for (const auto& [reshard, micro_batches, no_sync] :
       std::vector<std::tuple<bool, std::int64_t, bool>>{{true, 1, false},
                                                         {true, 4, false},
                                                         {true, 4, true},
                                                         {false, 1, false},
                                                         {false, 4, false},
                                                         {false, 4, true}}) {
    CAPTURE(reshard, micro_batches, no_sync);
    auto fsdp = std::make_shared<strategies::Fsdp>();
    fsdp->no_sync = no_sync;
    fsdp->reshard_after_forward = reshard;
    MeshTrial trial = transformer_trial(4, false);
    trial.strategy = fsdp;
    trial.training.numbers = false;
    trial.data = {};
    trial.parallel = cut(1, 1, 1, micro_batches);
    trial.parallel.pipeline = 2;
    trial.workers = 8;
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    // R replicas: (R - 1) / R of a part's parameters by each all-gather and by the reduce-scatter. The ranks of all
    // parts together gather R times the model; parameters and gradients have 8 bytes. Hops come on top.
    const double N = static_cast<double>(trial.model->parameters(trial.problem)), R = 4.0;
    const double gathers = reshard ? 2.0 * static_cast<double>(micro_batches) : 1.0;
    const double sums = no_sync ? 1.0 : static_cast<double>(micro_batches);
    const double hops = 2.0 * static_cast<double>(trial.batch) * 8.0 * 16.0;  // sequence x hidden, there and back
    CHECK(static_cast<double>(record.bytes) == Approx(3.0 * 8.0 * ((gathers + sums) * (R - 1.0) * N + hops)));
  }
}

TEST_CASE("the initial values of every part are the whole model's, also where parts have equal lengths") {
  const MeshTrial trial = transformer_trial(4, true);
  values::Dispatcher dispatcher({.numbers = true, .label = {}});
  const training::Learning whole({.data = std::make_shared<const data::Split>(data::Split{trial.data, {}}),
                                  .model = trial.model,
                                  .problem = trial.problem,
                                  .rows = trial.rows,
                                  .batch = trial.batch},
                                 dispatcher);
  const auto numbers = [](const values::Tensor& w) { return std::vector<double>(w.value().begin(), w.value().end()); };
  const Parallel parallel = cut(2, 1, 2, 1);
  const training::ModelParts parts(
      whole, {parallel.mesh(4), strategies::chunks_of_parts(parallel, firsts_of_pieces(parallel, whole.layers()))});
  std::vector<values::Tensor> all;  // held, so that equal operations would share their result
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(parts.learning(rank).initial_values());
    CHECK(numbers(all.back()) == numbers(parts.of_whole(rank, whole.initial_values())));
  }
  CHECK(all[0].size() == all[1].size());
  CHECK(numbers(all[0]) != numbers(all[1]));
}

TEST_CASE("a graph in a file names the replicas of a part, as other graphs do") {
  const Scratch scratch;
  auto edges = std::make_unique<strategies::EdgeList>();
  edges->path = scratch.write("edges.txt", "0 1\n1 2\n");
  auto gossip = std::make_shared<strategies::Gossip>();
  gossip->graph = base::Slot<strategies::Graph>(strategies::graphs(), std::move(edges));
  MeshTrial trial = transformer_trial(4, false);
  trial.strategy = gossip;
  check_equal(trial, cut(1, 1, 2, 2));
}

TEST_CASE("gossip of compressed differences begins with the copies that uncut replicas have") {
  for (const Parallel& parallel : {cut(1, 1, 1, 2), cut(1, 2, 1, 2)}) {  // top_k looks at the parameters of a rank
    auto gossip = std::make_shared<strategies::Gossip>();
    gossip->compression.choose("top_k");
    MeshTrial trial = transformer_trial(4, false);
    trial.strategy = gossip;
    check_equal(trial, parallel);
  }
}

}  // namespace mesh_strategies_test
