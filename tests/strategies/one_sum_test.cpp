// Gradients of ranks that share sequences or experts: each is summed once, over all ranks that have its parameters, as
// in Megatron-LM's data-parallel groups with context parallelism and its groups of experts.
#include "share.h"
#include "strategies/counted_memory.h"
#include "strategies/fragile.h"
#include "strategies/replicas/local_sgd.h"

namespace one_sum_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::tests::counted;
using strategies::Parallel;

namespace {

using AnyStrategy = std::shared_ptr<const strategies::Strategy>;

Parallel sharing(std::int64_t context, std::int64_t expert, std::int64_t pipeline = 1) {
  Parallel parallel;
  parallel.context = context;
  parallel.expert = expert;
  parallel.pipeline = pipeline;
  return parallel;
}

AnyStrategy in_buckets(double bytes) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->bucket_bytes = bytes;
  return strategy;
}

/// Replicas that never average.
AnyStrategy apart() {
  auto strategy = std::make_shared<strategies::LocalSgd>();
  strategy->local_steps = 1000;
  strategy->algorithm.choose("ring");
  return strategy;
}

/// One step of times alone.
record::Record timed(MeshTrial trial, const Parallel& parallel, int data, AnyStrategy strategy) {
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  trial.parallel = parallel;
  trial.workers = data * static_cast<int>(parallel.ranks_a_replica());
  trial.strategy = std::move(strategy);
  trial.cluster.host_spec.bandwidth_bytes_per_s = 1e6;
  trial.cluster.host_spec.latency_s = 1e-4;
  trial.cluster.charge_reductions = false;
  record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record;
}

/// The parameters of the experts of one rank.
double own_experts(int expert) { return 2 * (4.0 / expert) * (2 * 16 * 24 + 24 + 16); }

}  // namespace

TEST_CASE("buckets, shards and units over data x context train the parameters of uncut replicas to 1e-12") {
  auto clipped = std::make_shared<strategies::Zero>();
  clipped->stage = 2;
  const std::vector<std::pair<AnyStrategy, bool>> strategies{
      {in_buckets(2000.0), true}, {in_buckets(1e9), true}, {zero(1), true},        {zero(2), false},
      {zero(3), false},           {fsdp(2, true), false},  {fsdp(1, false), true}, {clipped, true}};
  Share share;
  for (std::size_t k = 0; k < strategies.size(); ++k)
    for (const auto& [context, expert, pipeline] : {std::array{2, 1, 1}, {4, 1, 2}, {2, 2, 1}, {1, 4, 2}, {2, 2, 2}})
      for (const int data : {1, 2}) {
        if (!share.next()) continue;
        CAPTURE(k, context, expert, pipeline, data);
        MeshTrial cut = expert > 1 ? experts_trial(4, k % 2 == 0) : transformer_trial(4, k % 2 == 0);
        if (strategies[k].second) cut.training.clip_norm = 0.1;
        cut.training.optimizer.choose("momentum");
        cut.steps = 5;
        MeshTrial whole = cut;
        cut.parallel = sharing(context, expert, pipeline);
        cut.parallel.micro_batches = 2;  // so that 48 rows divide
        cut.workers = data * static_cast<int>(cut.parallel.ranks_a_replica());
        cut.strategy = strategies[k].first;
        auto plain = around_a_ring<strategies::Allreduce>();
        plain->micro_batches = cut.parallel.micro_batch_count();
        plain->no_sync = true;
        whole.strategy = plain;
        whole.workers = data;
        const Outcome on_mesh = cut.run(), replicas = whole.run();
        REQUIRE(on_mesh.record.error.empty());
        REQUIRE(on_mesh.evaluated.size() == replicas.evaluated.size());
        CHECK(relative_distance(on_mesh.final_parameters(), replicas.final_parameters()) <= 1e-12);
        CHECK(relative_distance(on_mesh.final_parameters(), on_mesh.evaluated.front()) > 1e-4);
      }
}

// A ring of n ranks sends 2 (n - 1) times the vector (Patarasuk and Yuan, 2009). Exchanges of keys, values and tokens
// are the same ones in both runs.
TEST_CASE("one sum over data x context, and over data x context x expert but for experts, has the bytes of its rings") {
  for (const auto& [context, expert, data] :
       {std::array{2, 1, 4}, {4, 1, 1}, {4, 1, 2}, {1, 4, 2}, {2, 2, 2}, {4, 2, 1}})
    for (const AnyStrategy& strategy : {in_buckets(1e9), in_buckets(3000.0)}) {
      CAPTURE(context, expert, data);
      const MeshTrial trial = expert > 1 ? experts_trial(4, false) : transformer_trial(4, false);
      const double own = expert > 1 ? own_experts(expert) : 0.0;
      const double all = static_cast<double>(trial.model->parameters(trial.problem));
      const double common = all - own * (expert > 1 ? expert : 0);
      const auto ring = [](int n, double numbers) { return 8.0 * 2 * (n - 1) * numbers; };
      const double once = ring(context * expert * data, common) + expert * ring(context * data, own);
      const double in_replicas = data * (ring(context * expert, common) + expert * ring(context, own));
      const record::Record sums = timed(trial, sharing(context, expert), data, strategy),
                           sums_apart = timed(trial, sharing(context, expert), data, apart());
      CHECK(static_cast<double>(sums.bytes - sums_apart.bytes) ==
            Approx(once - in_replicas).epsilon(1e-12).margin(0.5));
    }
}

TEST_CASE("without buckets the step has one sum behind the passes, and replicas that never average one of their own") {
  for (const auto& [context, data] : {std::pair{2, 4}, {4, 2}, {4, 1}}) {
    CAPTURE(context, data);
    const MeshTrial trial = transformer_trial(4, false);
    const double N = static_cast<double>(trial.model->parameters(trial.problem));
    const auto ring_s = [&](int n) { return 2 * (n - 1) * (1e-4 + 8 * std::ceil(N / n) / 1e6); };
    const record::Record once = timed(trial, sharing(context, 1), data, in_buckets(1e9)),
                         in_replicas = timed(trial, sharing(context, 1), data, apart());
    CHECK(once.simulated_s - in_replicas.simulated_s ==
          Approx(ring_s(context * data) - ring_s(context)).epsilon(1e-9).margin(1e-12));
    CHECK(*once.ranks[0].mesh.data_s == Approx(ring_s(context * data)).epsilon(1e-9));
  }
}

TEST_CASE("buckets of ranks that share sequences are summed beside the backward pass") {
  MeshTrial trial = transformer_trial(4, false);
  trial.cluster.host_spec.speed_flops_per_s = 1e7;
  const double at_once = timed(trial, sharing(4, 1), 2, in_buckets(1e9)).simulated_s;
  const double beside = timed(trial, sharing(4, 1), 2, in_buckets(4000.0)).simulated_s;
  CHECK(beside < 0.9 * at_once);
}

// Megatron-LM's distributed optimizer and torchtitan's FSDP shard over data x context.
TEST_CASE("parameters and optimizer are sharded over as many ranks as data x context has") {
  for (const auto& [context, data] : {std::pair{2, 2}, {4, 1}, {4, 2}}) {
    CAPTURE(context, data);
    MeshTrial trial = transformer_trial(4, false);
    trial.training.optimizer.choose("adam");
    trial.parallel = sharing(context, 1);
    trial.workers = context * data;
    const double N = static_cast<double>(trial.model->parameters(trial.problem)), shard = std::ceil(N / trial.workers);
    const auto part = [&](AnyStrategy strategy, record::MemoryPart which) {
      trial.strategy = std::move(strategy);
      return (*strategies::on_mesh(trial.strategy, trial.parallel)).memory(memory_terms(trial))[which];
    };
    CHECK(part(zero(1), record::MemoryPart::optimizer) == Approx(8 * 2 * N / trial.workers).epsilon(1e-9));
    CHECK(part(fsdp(1, true), record::MemoryPart::optimizer) == Approx(8 * 2 * shard).epsilon(1e-9));
    CHECK(part(fsdp(1, true), record::MemoryPart::parameters) == Approx(8 * shard).epsilon(1e-9));
    for (const AnyStrategy& strategy : {AnyStrategy(zero(1)), AnyStrategy(fsdp(1, true))}) {
      trial.strategy = strategy;
      CHECK(held(trial) == Approx(by_formula(trial)).epsilon(0.002));  // shards of unlike lengths
    }
  }
}

// Keys, values and tokens go between the same ranks as these sums, on channels of their own: whoever is early is not
// taken for another.
TEST_CASE("sums beside the exchanges of ranks that are not equally fast leave the parameters as they are") {
  Share share;
  for (const AnyStrategy& strategy :
       {in_buckets(2000.0), AnyStrategy(zero(1)), AnyStrategy(zero(2)), AnyStrategy(fsdp(2, true))})
    for (const auto& [context, expert, data] : {std::array{2, 1, 1}, {2, 1, 2}, {4, 1, 1}, {1, 2, 2}, {2, 2, 1}})
      for (const bool messages : {false, true}) {
        if (!share.next()) continue;
        CAPTURE(context, expert, data, messages, strategy->traits(2).gathers_units, strategy->traits(2).state_shards);
        MeshTrial trial = expert > 1 ? experts_trial(2, false) : transformer_trial(2, true);
        if (expert > 1 && context == 1) {  // whose times do not depend on the tokens that they take
          auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
          model->options.pad_experts = true;
          trial.model = model;
        }
        trial.strategy = strategy;
        trial.parallel = sharing(context, expert);
        trial.workers = data * static_cast<int>(trial.parallel.ranks_a_replica());
        trial.cluster.host_spec.speed_flops_per_s = 1e7;
        const Outcome alike = trial.run();
        trial.cluster.relative_speeds = {1.0, 0.5, 0.8, 0.3};
        trial.cluster.relative_speeds.resize(static_cast<std::size_t>(trial.workers), 0.6);
        if (messages) trial.cluster.collectives = cluster::Collectives::messages;
        const Outcome unlike = trial.run();
        REQUIRE(alike.record.error.empty());
        REQUIRE(unlike.record.error.empty());
        CHECK(unlike.final_parameters() == alike.final_parameters());
        // A run of times alone takes as long. Computed, it goes on where collectives meet.
        trial.data = {};
        trial.training.numbers = false;
        if (messages && (expert == 1 || context == 1))
          CHECK(trial.run().record.simulated_s == Approx(unlike.record.simulated_s).epsilon(1e-9));
      }
}

// Under "wait" the rank that is back gets its state from any rank with the same parameters, be it of its own replica.
TEST_CASE("ranks that share sequences go on after a crash with the parameters of an undisturbed run") {
  using cluster::Recovery;
  const std::vector<std::pair<AnyStrategy, Recovery>> cases{{in_buckets(2000.0), Recovery::wait},
                                                            {in_buckets(1e9), Recovery::restart},
                                                            {zero(1), Recovery::restart},
                                                            {fsdp(1, true), Recovery::restart}};
  for (const auto& [strategy, recovery] : cases)
    for (const auto& [context, expert, data] : {std::array{2, 1, 1}, {2, 1, 2}, {2, 2, 1}}) {
      CAPTURE(context, expert, data, strategy->traits(2).gathers_units, recovery);
      MeshTrial trial = expert > 1 ? experts_trial(2, false) : transformer_trial(2, true);
      trial.strategy = strategy;
      trial.parallel = sharing(context, expert);
      trial.workers = data * static_cast<int>(trial.parallel.ranks_a_replica());
      trial.steps = 8;
      trial.training.optimizer.choose("adam");
      trial.training.checkpoint_every_steps = 3;
      trial.cluster.failures.detection_s = detection_s;
      const Outcome undisturbed = trial.run();
      trial.cluster.failures.crashes = {crash(1, 0.7 * undisturbed.record.simulated_s)};
      trial.cluster.failures.recovery = recovery;
      const Outcome outcome = trial.run();
      REQUIRE(outcome.record.error.empty());
      CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
      CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) <= 1e-12);
    }
}

}  // namespace one_sum_test
