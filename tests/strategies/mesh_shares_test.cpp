// Training by ranks that share experts or tokens: the parameters are those of uncut replicas, and bytes and times those
// of the formulas.
#include <numeric>
#include <random>

#include "share.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/zero.h"
#include "strategies/sparse_trial.h"

namespace mesh_shares_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

/// On a mesh, and as replicas that add the gradients of as many micro-batches.
void check_equal(MeshTrial cut, const Parallel& parallel, int data, const char* optimizer = "sgd") {
  cut.parallel = parallel;
  cut.workers = data * static_cast<int>(parallel.ranks_a_replica());
  cut.training.optimizer.choose(optimizer);
  if (!cut.strategy) cut.strategy = around_a_ring<strategies::Allreduce>();
  MeshTrial whole = cut;
  whole.workers = data;
  whole.parallel = {};
  auto plain = around_a_ring<strategies::Allreduce>();
  plain->micro_batches = parallel.micro_batch_count();
  plain->no_sync = plain->micro_batches > 1;
  whole.strategy = plain;
  const Outcome on_mesh = cut.run(), replicas = whole.run();
  REQUIRE(on_mesh.record.error.empty());
  REQUIRE(replicas.record.error.empty());
  REQUIRE(on_mesh.evaluated.size() == replicas.evaluated.size());
  CHECK(relative_distance(on_mesh.final_parameters(), replicas.final_parameters()) <= 1e-12);
  CHECK(relative_distance(on_mesh.final_parameters(), on_mesh.evaluated.front()) > 1e-3);  // something is trained
}

Parallel sharing(std::int64_t expert, std::int64_t context = 1, std::int64_t tensor = 1, std::int64_t pipeline = 1) {
  Parallel parallel;
  parallel.expert = expert;
  parallel.context = context;
  parallel.tensor = tensor;
  parallel.pipeline = pipeline;
  return parallel;
}

}  // namespace

TEST_CASE(
    "expert ranks train the parameters of uncut replicas, with tokens that experts drop, to 1e-12 over 20 steps") {
  Share share;
  for (const bool tied : {false, true})
    for (const std::int64_t expert : {2, 4})
      for (const std::int64_t pipeline : {1, 2})
        for (const int data : {1, 2}) {
          if (!share.next()) continue;
          CAPTURE(tied, expert, pipeline, data);
          Parallel parallel = sharing(expert, 1, 1, pipeline);
          parallel.micro_batches = 2;
          MeshTrial trial = experts_trial(4, tied);
          trial.steps = 20;
          check_equal(trial, parallel, data);
        }
}

TEST_CASE("expert ranks that share the keys of wide_and_deep train its uncut parameters to 1e-12 over 20 steps") {
  auto model = std::make_shared<models::WideAndDeep>();
  model->embedding = 2;
  model->hidden = {4.0, 3.0};
  model->l2 = 0.01;
  data::ClickLog clicks;
  clicks.fields = 4;
  MeshTrial trial{.model = model, .problem = {}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = clicks.load({.task = data::Task::classification, .seed = 1, .samples = trial.rows, .features = 60});
  trial.problem = SparseTrial::problem_of(trial.data);
  trial.steps = 20;
  for (const std::int64_t expert : {2, 3, 4})
    for (const int data : {1, 2}) {
      CAPTURE(expert, data);
      check_equal(trial, sharing(expert), data);
    }
}

TEST_CASE("context ranks train the parameters of uncut replicas to 1e-12 over 20 steps") {
  std::mt19937 random(20261125);
  const auto among = [&](std::vector<std::int64_t> all) { return all[random() % all.size()]; };
  Share share;
  for (int draw = 0; draw < 12; ++draw) {
    Parallel parallel = sharing(1, among({2, 4}), among({1, 1, 2}), among({1, 2, 3}));
    parallel.micro_batches = among({1, 2, 4});
    parallel.sequence_parallel = parallel.tensor > 1 && draw % 2 == 0;
    if (parallel.pipeline > 1) parallel.schedule.choose(draw % 3 == 0 ? "zb_h1" : "1f1b");
    if (parallel.pipeline > 1 && *parallel.micro_batches < parallel.pipeline) parallel.micro_batches = 4;
    if (draw % 2 == 0) parallel.order = {"data", "context", "pipeline", "tensor"};
    const int data = parallel.ranks_a_replica() > 8 ? 1 : static_cast<int>(among({1, 2}));
    if (!share.next()) continue;
    CAPTURE(draw, parallel.context, parallel.tensor, parallel.pipeline, data, parallel.sequence_parallel);
    MeshTrial trial = transformer_trial(4, draw % 2 == 0);
    trial.steps = 20;
    check_equal(trial, parallel, data);
  }
}

TEST_CASE("experts beside all other ranks train the parameters of uncut replicas to 1e-12 over 20 steps") {
  std::mt19937 random(20261126);
  const auto among = [&](std::vector<std::int64_t> all) { return all[random() % all.size()]; };
  Share share;
  int drawn = 0;
  while (drawn < 10) {
    Parallel parallel = sharing(among({1, 2, 4}), among({1, 2, 4}), among({1, 2}), among({1, 2}));
    const bool several = parallel.tensor * parallel.context > 1 && parallel.ranks_a_replica() <= 16;
    if (!several) continue;  // without both there are tests above
    ++drawn;
    parallel.micro_batches = among({1, 2, 4});
    parallel.sequence_parallel = parallel.tensor > 1 && drawn % 2 == 0;
    const int data = parallel.ranks_a_replica() > 8 ? 1 : static_cast<int>(among({1, 2}));
    if (!share.next()) continue;
    CAPTURE(drawn, parallel.expert, parallel.context, parallel.tensor, parallel.pipeline, data,
            parallel.sequence_parallel);
    MeshTrial trial = experts_trial(4, drawn % 3 == 0);
    trial.steps = 20;
    check_equal(trial, parallel, data);
  }
}

TEST_CASE("buckets, shards of the optimizer, clipping and orders of ranks leave expert ranks' numbers as they are") {
  auto buckets = around_a_ring<strategies::Allreduce>();
  buckets->bucket_bytes = 2000.0;
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = 1;
  for (const std::shared_ptr<const strategies::Strategy>& strategy :
       std::vector<std::shared_ptr<const strategies::Strategy>>{buckets, zero}) {
    Parallel parallel = sharing(2, 1, 1, 2);
    parallel.order = {"expert", "data", "pipeline", "tensor"};
    parallel.micro_batches = 4;
    MeshTrial trial = experts_trial(4, true);
    trial.strategy = strategy;
    check_equal(trial, parallel, 2, "momentum");
  }
  MeshTrial clipped = experts_trial(4, true);
  clipped.training.clip_norm = 0.1;
  check_equal(clipped, sharing(4, 1, 1, 2), 1);
}

namespace {

/// One step of times alone, without a time for sums.
record::Record timed(MeshTrial trial, const Parallel& parallel) {
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  trial.parallel = parallel;
  trial.workers = static_cast<int>(parallel.ranks_a_replica());
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.cluster.charge_reductions = false;
  record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record;
}

}  // namespace

TEST_CASE(
    "expert ranks send the tokens that the formula says: two exchanges forward and two backward a layer of experts") {
  for (const int e : {2, 4}) {
    MeshTrial trial = experts_trial(4, false);
    trial.cluster.host_spec.bandwidth_bytes_per_s = 1e6;
    trial.cluster.host_spec.latency_s = 1e-3;
    const record::Record record = timed(trial, sharing(e));
    const double rows = 48.0 / e, layers = 2, numbers = 4.0 * 3 * 16;  // experts x ceil(0.75 x 8 x 2 / 4) x hidden
    const double exchange = 8.0 * rows * numbers;                      // bytes of a rank
    // Each expert of a block has two matrices with biases, which are a rank's own; the router is in `dense`.
    const double experts = layers * 4 * (2 * 16 * 24 + 24 + 16);
    const double dense = 8.0 * (static_cast<double>(trial.model->parameters(trial.problem)) - experts);
    CHECK(static_cast<double>(record.bytes) ==
          Approx(4 * layers * exchange * (e - 1) + 2 * dense * (e - 1)).epsilon(1e-9));
    const double alpha = trial.cluster.host_spec.latency_s;
    const double exchanges_s = 4 * layers * (e - 1) * (alpha + exchange / e / 1e6);
    const double sum_s = 2 * (e - 1) * (alpha + dense / e / 1e6);  // one, of all that the ranks have in common
    CHECK(record.ranks[0].communicate_s + record.ranks[0].wait_s == Approx(exchanges_s + sum_s).epsilon(1e-9));
    CHECK(*record.ranks[0].mesh.expert_s == Approx(exchanges_s).epsilon(1e-9));
    CHECK(*record.ranks[0].mesh.data_s == Approx(sum_s).epsilon(1e-9));
    CHECK(*record.ranks[0].mesh.expert == 0);
    CHECK_FALSE(record.ranks[0].mesh.context);
  }
}

TEST_CASE("the record has the choices of experts that found no room, and how uneven they are") {
  MeshTrial trial = experts_trial(4, false);
  trial.parallel = sharing(2);
  trial.workers = 2;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  const models::Samples rows{.features = trial.data.features.data(),
                             .targets = trial.data.targets.data(),
                             .columns = trial.data.columns,
                             .first = 0,
                             .count = trial.rows};
  REQUIRE(outcome.evaluated.size() == outcome.record.curve.size());
  for (std::size_t k = 0; k < outcome.evaluated.size(); ++k) {
    double choices = 0.0, dropped = 0.0, imbalance = 0.0;
    const double of_a_layer = 96.0 * 8 * 2;  // rows x tokens x top_k
    for (const models::ExpertLoad& load :
         trial.model->expert_loads(trial.problem, rows, outcome.evaluated[k], values::Format::float64)) {
      choices += of_a_layer;
      dropped += of_a_layer - static_cast<double>(std::accumulate(load.tokens.begin(), load.tokens.end(), 0LL));
      imbalance = std::max(imbalance, static_cast<double>(std::ranges::max(load.chosen)) / (of_a_layer / 4));
    }
    CHECK(*outcome.record.curve[k].dropped_share == Approx(dropped / choices).epsilon(1e-12));
    CHECK(*outcome.record.curve[k].expert_imbalance == Approx(imbalance).epsilon(1e-12));
  }
  CHECK(outcome.record.dropped_share == outcome.record.curve.back().dropped_share);
  CHECK(outcome.record.expert_imbalance == outcome.record.curve.back().expert_imbalance);
  CHECK(*outcome.record.dropped_share >= 0.25);  // a capacity factor of 0.75
  MeshTrial dense = transformer_trial(2, false);
  dense.strategy = trial.strategy;
  CHECK_FALSE(dense.run().record.dropped_share);
}

TEST_CASE("expert ranks wait for the one whose experts are chosen most") {
  const auto step = [](double skew) {
    MeshTrial trial = experts_trial(4, false);
    auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
    model->options.capacity_factor = 10.0;
    model->options.expert_skew = skew;
    trial.model = model;
    trial.cluster.host_spec.speed_flops_per_s = 1e6;
    return timed(trial, sharing(4));
  };
  const record::Record even = step(1.0), uneven = step(2.0);
  const double experts_s = 2 * 48.0 / 4 * 3 * (2.0 * 8 * 2 * 2 * 16 * 24) / 1e6;  // of a rank, two blocks, even shares
  CHECK(uneven.ranks[0].compute_s - even.ranks[0].compute_s == Approx(experts_s).epsilon(1e-9));
  // Two blocks, four exchanges of three rounds: in each the busiest rank has as many tokens more, of 12 rows of 4.
  const double messages_s = 2 * 4 * 3 * (8.0 * 12 * 4 * 16) / ideal_star().host_spec.bandwidth_bytes_per_s;
  CHECK(uneven.simulated_s - even.simulated_s == Approx(experts_s + messages_s).epsilon(1e-9));
  for (std::size_t rank = 1; rank < 4; ++rank)
    CHECK(*uneven.ranks[rank].mesh.expert_s > *even.ranks[rank].mesh.expert_s);
}

namespace {

/// Flops forward of the layers of one expert rank: embedding, two of attention, router, two of experts, head.
std::vector<double> forward_flops(const MeshTrial& trial, int rank) {
  const models::Chunk chunk{.end_unit = 3, .expert = 2, .expert_rank = rank};
  std::vector<double> flops;
  for (const models::Layer& layer : trial.model->cut()->layers(trial.problem, chunk))
    flops.push_back(layer.forward_flops);
  REQUIRE(flops.size() == 7);
  return flops;
}

}  // namespace

// Rank 1 is slow, and rank 0's experts are chosen most: the one is late at the exchange before the experts, the other
// one at the exchange behind them, and neither makes up for it.
TEST_CASE("experts compute when their tokens have come, forward, backward, and forward again") {
  MeshTrial trial = experts_trial(1, false);
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  model->options.expert_every = 1;
  model->options.expert_skew = 2.5;
  trial.model = model;
  trial.cluster.host_spec.speed_flops_per_s = 1e7;
  trial.cluster.relative_speeds = {1.0, 0.8};
  const double alpha = trial.cluster.host_spec.latency_s = 1e-5, B = trial.cluster.host_spec.bandwidth_bytes_per_s;
  const std::vector<double> busy = forward_flops(trial, 0), slow = forward_flops(trial, 1);
  const double experts = busy[4] + busy[5], attention = slow[1] + slow[2], router = slow[3], head = slow[6];
  REQUIRE(experts > (slow[4] + slow[5]) / 0.8);
  const double tokens =
      experts / (2 * 4 * 16 * 24);  // of a sample, that go to rank 0: it computes those of two samples
  const double exchange_s = alpha + 8 * 24 * tokens * 16 / B;
  const double all = static_cast<double>(trial.model->parameters(trial.problem)), own = 4 * (2 * 16 * 24 + 24 + 16);
  const double sums_s = 2 * (alpha + 8 * (all - own) / 2 / B);  // of embedding, attention, router and head
  for (const training::Recompute recompute : {training::Recompute::none, training::Recompute::full}) {
    CAPTURE(recompute);
    trial.training.recompute = recompute;
    const int again = recompute == training::Recompute::full ? 1 : 0;
    const double slow_s = ((3 + again) * (attention + router) + 3 * head) / 0.8e7;
    const double busy_s = (3 + again) * experts / 1e7;
    CHECK(timed(trial, sharing(2)).simulated_s ==
          Approx(24 * (slow_s + busy_s) + (4 + 2 * again) * exchange_s + sums_s).epsilon(1e-9));
  }
}

TEST_CASE("context ranks send keys and values as ring attention does, and attention's own work hides them") {
  for (const int c : {2, 4})
    for (const double bandwidth : {1e5, 1e6, 1e7, 1e9}) {
      CAPTURE(c, bandwidth);
      MeshTrial trial = transformer_trial(4, false);
      trial.cluster.host_spec.bandwidth_bytes_per_s = bandwidth;
      trial.cluster.host_spec.latency_s = 1e-6;
      trial.cluster.host_spec.speed_flops_per_s = 1e8;
      const record::Record record = timed(trial, sharing(1, c));
      const double rows = 48, layers = 4, s = 8, h = 16;
      const double keys_and_values = 8.0 * rows * (s / c) * 2 * h;  // bytes of a rank's tokens
      const auto N = 8.0 * static_cast<double>(trial.model->parameters(trial.problem));
      CHECK(static_cast<double>(record.bytes) ==
            Approx(3 * layers * keys_and_values * c * (c - 1) + 2 * N * (c - 1)).epsilon(1e-9));
      // Attention's own flops forward: 4 s h a token; twice that backward, half of it beside each of two rounds.
      const double attention = rows * (s / c) * 4 * s * h / 1e8;
      const double round = (c - 1) * (1e-6 + keys_and_values / bandwidth);
      const double exposed = std::max(0.0, round - attention * (c - 1) / c);
      const double sum_s = 2 * (c - 1) * (1e-6 + N / c / bandwidth);
      CHECK(*record.ranks[0].mesh.context_s == Approx(3 * layers * exposed).margin(1e-12).epsilon(1e-9));
      CHECK(*record.ranks[0].mesh.data_s == Approx(sum_s).epsilon(1e-9));
      CHECK(record.simulated_s - record.ranks[0].compute_s == Approx(3 * layers * exposed + sum_s).epsilon(1e-9));
    }
}

}  // namespace mesh_shares_test
