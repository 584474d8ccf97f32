// Training on a mesh of ranks: the parameters are those of uncut replicas, and times and bytes those of the formulas.
#include <random>

#include "strategies/equal_layers.h"
#include "strategies/mesh_trial.h"
#include "strategies/replicas/diloco.h"
#include "strategies/sharded/zero.h"

namespace mesh_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

std::shared_ptr<strategies::Allreduce> gradients_added_first(std::int64_t micro_batches) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->micro_batches = micro_batches;
  strategy->no_sync = micro_batches > 1;
  return strategy;
}

/// The training with uncut replicas, which add the gradients of as many micro-batches.
MeshTrial uncut(MeshTrial trial, std::int64_t micro_batches) {
  trial.workers = static_cast<int>(trial.workers / trial.parallel.ranks_a_replica());
  trial.parallel = {};
  if (trial.strategy->traits(1).lockstep() && dynamic_cast<const strategies::Allreduce*>(trial.strategy.get()))
    trial.strategy = gradients_added_first(micro_batches);
  return trial;
}

MeshTrial on(MeshTrial trial, int data, const Parallel& parallel,
             std::shared_ptr<const strategies::Strategy> strategy = around_a_ring<strategies::Allreduce>()) {
  trial.parallel = parallel;
  trial.workers = data * static_cast<int>(parallel.ranks_a_replica());
  trial.strategy = std::move(strategy);
  return trial;
}

Parallel stages(std::int64_t pipeline, std::int64_t micro_batches, std::string_view schedule = "1f1b",
                std::int64_t chunks = 1) {
  Parallel parallel;
  parallel.pipeline = pipeline;
  parallel.micro_batches = micro_batches;
  parallel.chunks = chunks;
  parallel.schedule.choose(schedule);
  return parallel;
}

void check_equal(const MeshTrial& cut, const MeshTrial& whole, bool bitwise) {
  const Outcome on_mesh = cut.run(), plain = whole.run();
  REQUIRE(on_mesh.record.error.empty());
  REQUIRE(plain.record.error.empty());
  REQUIRE(on_mesh.evaluated.size() == plain.evaluated.size());
  if (bitwise) CHECK(on_mesh.evaluated == plain.evaluated);
  CHECK(relative_distance(on_mesh.final_parameters(), plain.final_parameters()) <= 1e-12);
}

}  // namespace

TEST_CASE("every synchronous schedule trains the parameters of uncut replicas, bit for bit") {
  struct Case {
    const char* schedule;
    std::int64_t stages, micro_batches, chunks;
  };
  const std::vector<Case> cases{
      {"naive", 3, 2, 1}, {"gpipe", 3, 4, 1},  {"1f1b", 4, 6, 1}, {"interleaved_1f1b", 2, 4, 2},
      {"zb_h1", 3, 6, 1}, {"zb_h2", 3, 12, 1}, {"1f1b", 2, 1, 1}};
  for (const MeshTrial& trial : {transformer_trial(3, false), perceptron_trial()})
    for (const Case& one : cases)
      for (const int data : {1, 2}) {
        CAPTURE(one.schedule, one.stages, data);
        MeshTrial cut = on(trial, data, stages(one.stages, one.micro_batches, one.schedule, one.chunks));
        cut.training.optimizer.choose("adam");
        check_equal(cut, uncut(cut, one.micro_batches), true);
      }
}

TEST_CASE("a tied embedding, whose gradients two stages add, is trained as in uncut replicas to 1e-12") {
  for (const int data : {1, 2})
    for (const int tensor : {1, 2}) {
      CAPTURE(data, tensor);
      Parallel parallel = stages(3, 4);
      parallel.tensor = tensor;
      const MeshTrial cut = on(transformer_trial(3, true), data, parallel);
      check_equal(cut, uncut(cut, 4), false);
    }
}

TEST_CASE("random meshes of up to 16 ranks train the parameters of uncut replicas to 1e-12") {
  std::mt19937 random(20261124);
  const auto among = [&](std::vector<std::int64_t> all) { return all[random() % all.size()]; };
  for (int draw = 0; draw < 12; ++draw) {
    Parallel parallel;
    parallel.tensor = among({1, 2, 4});
    parallel.pipeline = among({1, 2, 4});
    const auto data = static_cast<int>(among({1, 2, 3}));
    if (parallel.ranks_a_replica() == 1 || data * parallel.ranks_a_replica() > 16) continue;
    parallel.micro_batches = among({1, 2, 4, 8});
    if (parallel.pipeline > 1) {
      parallel.schedule.choose(random() % 2 == 0 ? "1f1b" : "gpipe");
      std::vector<double> units(static_cast<std::size_t>(parallel.pipeline), 1.0);  // of six, unevenly
      for (std::int64_t left = 6 - parallel.pipeline; left > 0; --left) units[random() % units.size()] += 1.0;
      parallel.stages = units;
    }
    if (random() % 2 == 0) parallel.order = {"data", "pipeline", "tensor"};
    auto strategy = around_a_ring<strategies::Allreduce>();
    if (random() % 2 == 0) strategy->bucket_bytes = 2000.0;
    parallel.scatter_gather = draw % 2 == 0;
    CAPTURE(draw, parallel.tensor, parallel.pipeline, data, parallel.micro_batch_count());
    const MeshTrial cut = on(transformer_trial(4, random() % 2 == 0), data, parallel, strategy);
    check_equal(cut, uncut(cut, parallel.micro_batch_count()), false);
  }
}

TEST_CASE("zero, local_sgd and diloco work among the ranks of a part as among replicas, to 1e-12") {
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = 1;
  auto zero_2 = std::make_shared<strategies::Zero>();
  zero_2->stage = 2;
  auto local = around_a_ring<strategies::LocalSgd>();
  local->local_steps = 2;
  auto diloco = around_a_ring<strategies::DiLoCo>();
  diloco->local_steps = 2;
  const std::vector<std::shared_ptr<const strategies::Strategy>> all{zero, zero_2, local, diloco};
  for (const auto& strategy : all) {
    Parallel parallel = stages(2, 1);
    parallel.tensor = 2;
    MeshTrial cut = on(transformer_trial(2, false), 2, parallel, strategy);
    cut.steps = 4;
    check_equal(cut, uncut(cut, 1), false);
  }
}

TEST_CASE("a mesh trains the same in bfloat16, and with any number of threads") {
  MeshTrial cut = on(transformer_trial(3, false), 2, stages(3, 2));
  cut.training.precision = training::Precision::bfloat16;
  check_equal(cut, uncut(cut, 2), true);
  MeshTrial threads = cut;
  threads.threads = 2;
  const Outcome with = threads.run(), without = cut.run();
  CHECK(with.evaluated == without.evaluated);
  CHECK(with.record.simulated_s == without.record.simulated_s);
}

namespace {

constexpr double hop_s = 0.01;

/// One step of times alone. F, B, W: of a stage, in seconds.
double step_s(const Parallel& parallel, double F, double B, double W, double latency_s = hop_s) {
  auto model = std::make_shared<EqualLayers>();
  model->count = parallel.shape().pieces();
  const auto chunks = static_cast<double>(parallel.chunks);
  model->forward_s = F / chunks;
  model->inputs_s = B / chunks;
  model->weights_s = W / chunks;
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.rows = trial.batch = parallel.micro_batch_count();
  trial.training.numbers = false;
  trial.steps = 1;
  trial.cluster.charge_reductions = false;
  trial.cluster.host_spec.latency_s = latency_s;
  return on(trial, 1, parallel).run().record.simulated_s;
}

}  // namespace

TEST_CASE("a pipeline's step takes what the formulas say, to 1e-9") {
  const double F = 1.0, B = 1.1, W = 0.7;
  for (const auto& [p, m] : {std::pair(2, 4), std::pair(4, 8), std::pair(5, 15)}) {
    CAPTURE(p, m);
    const double work = F + B + W;
    CHECK(step_s(stages(p, m, "1f1b"), F, B, W) ==
          Approx((m + p - 1) * work + hop_s * (2.0 * (p - 1) * (m / p + 1) - 2.0)).epsilon(1e-9));
    CHECK(step_s(stages(p, m, "gpipe"), F, B, W) == Approx((m + p - 1) * work + 2.0 * (p - 1) * hop_s).epsilon(1e-9));
    CHECK(step_s(stages(p, m, "naive"), F, B, W) == Approx(m * (p * work + 2.0 * (p - 1) * hop_s)).epsilon(1e-9));
    CHECK(step_s(stages(p, m, "interleaved_1f1b", 3), F, B, W, 0.0) ==
          Approx(m * work + (p - 1) * work / 3).epsilon(1e-9));
  }
}

TEST_CASE("a step with recomputation passes forward once more on every stage but the last") {
  Parallel parallel = stages(3, 6);
  auto model = std::make_shared<EqualLayers>();
  model->count = 3;
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.rows = trial.batch = 6;
  trial.training.numbers = false;
  trial.training.recompute = training::Recompute::full;
  trial.steps = 1;
  trial.cluster.charge_reductions = false;
  const record::Record record = on(trial, 1, parallel).run().record;
  REQUIRE(record.error.empty());
  const auto computed = [&](std::size_t rank) { return record.ranks[rank].compute_s; };
  CHECK(computed(0) == Approx(6 * 4.0).epsilon(1e-9));
  CHECK(computed(1) == Approx(6 * 4.0).epsilon(1e-9));
  CHECK(computed(2) == Approx(6 * 3.0).epsilon(1e-9));
}

TEST_CASE("a mesh sends the bytes of each dimension that the formulas say") {
  // Layers of a transformer: s h = 8 x 16 numbers of 8 bytes are a sample's activations.
  const double activations = 8.0 * 16 * 8;
  Parallel parallel = stages(2, 3);
  parallel.tensor = 2;
  MeshTrial trial = transformer_trial(4, false);
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  const record::Record record = on(trial, 2, parallel).run().record;
  trial.training.recompute = training::Recompute::full;
  const record::Record recomputed = on(trial, 2, parallel).run().record;
  trial.training.recompute = training::Recompute::selective;
  const record::Record selective = on(trial, 2, parallel).run().record;
  REQUIRE(record.error.empty());
  const double rows = 24;                        // of a replica
  const double hops = 2.0 * rows * activations;  // forward and back, of one boundary, of each tensor rank
  const double ring = 2.0 * (2 - 1) / 2.0;       // of a sum of two, a rank
  const double sums = (4.0 * 4 + 2) * rows * activations * ring;  // 4 a block; embedding forward, head backward
  const double head = 3.0 * 8 * 8 * rows * ring;                  // maxima; sums of exponentials and own logits
  const auto parameters = static_cast<double>(trial.model->parameters(trial.problem));
  const double replicated = 8.0 * 16 + 4 * (2 * 16 * 2 + 2 * 16) + 2 * 16;  // positions; norms and biases; last norm
  const double gradients = 8.0 * (parameters + replicated) * ring;          // over the two tensor ranks of both stages
  const double per_replica = 2.0 * (hops + sums + head);
  CHECK(static_cast<double>(record.bytes) == Approx(2.0 * per_replica + 2.0 * gradients).epsilon(1e-9));
  // A block's forward pass a second time has its two sums a second time; what is recomputed of attention has none.
  const double again = 2.0 * 2.0 * (2.0 * 4 * rows * activations * ring);  // replicas, ranks
  CHECK(static_cast<double>(recomputed.bytes - record.bytes) == Approx(again).epsilon(1e-9));
  CHECK(selective.bytes == record.bytes);
}

TEST_CASE(
    "a block that is recomputed takes the time of its forward pass, sums among tensor and context ranks included") {
  for (const bool sequence_parallel : {false, true})
    for (const std::int64_t context : {1, 2}) {
      CAPTURE(sequence_parallel, context);
      MeshTrial trial = transformer_trial(3, false);
      trial.strategy = around_a_ring<strategies::Allreduce>();
      trial.training.numbers = false;
      trial.data = {};
      trial.steps = 1;
      trial.cluster.charge_reductions = false;
      trial.parallel.tensor = 2;
      trial.parallel.context = context;
      trial.parallel.sequence_parallel = sequence_parallel;
      trial.parallel.micro_batches = 1;
      trial.workers = static_cast<int>(2 * context);
      const auto run = [&](training::Recompute recompute, std::int64_t blocks) {
        MeshTrial variant = trial;
        variant.model = transformer_trial(blocks, false).model;
        variant.training.recompute = recompute;
        const record::Record record = variant.run().record;
        REQUIRE(record.error.empty());
        return record;
      };
      // Three blocks take one and a half times as long as two.
      const record::Record without = run(training::Recompute::none, 3), with = run(training::Recompute::full, 3);
      const double again_s = with.simulated_s - without.simulated_s;
      const double one_less =
          run(training::Recompute::full, 2).simulated_s - run(training::Recompute::none, 2).simulated_s;
      CHECK(again_s == Approx(1.5 * one_less).epsilon(1e-9));
      const auto exchanged_s = [](const record::RankUse& rank) {
        return rank.mesh.tensor_s.value_or(0.0) + rank.mesh.context_s.value_or(0.0);
      };
      const double computed_s = with.ranks[0].compute_s - without.ranks[0].compute_s;
      CHECK(computed_s > 0.0);
      CHECK(exchanged_s(with.ranks[0]) - exchanged_s(without.ranks[0]) == Approx(again_s - computed_s).epsilon(1e-9));
      CHECK(again_s > computed_s);
    }
}

TEST_CASE("of a pair of layers that tensor ranks share, each is recomputed but the head") {
  const auto again_s = [](std::int64_t tensor, std::vector<double> hidden) {
    const auto computed_s = [&](training::Recompute recompute) {
      MeshTrial trial = perceptron_trial();
      auto model = std::make_shared<models::Perceptron>();
      model->hidden = hidden;
      trial.model = model;
      trial.strategy = around_a_ring<strategies::Allreduce>();
      trial.data = {};
      trial.training.numbers = false;
      trial.training.recompute = recompute;
      trial.cluster.charge_reductions = false;
      trial.parallel.tensor = tensor;
      trial.parallel.micro_batches = 2;
      trial.workers = static_cast<int>(tensor);
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      return record.ranks[0].compute_s;
    };
    return computed_s(training::Recompute::full) - computed_s(training::Recompute::none);
  };
  for (const std::vector<double>& hidden :
       {std::vector<double>{8}, {8, 16, 8}}) {  // pairs, of which the last has the head
    CAPTURE(hidden);
    CHECK(again_s(1, hidden) > 0.0);
    CHECK(again_s(2, hidden) == Approx(again_s(1, hidden) / 2.0).epsilon(1e-9));
  }
}

TEST_CASE("clipping by the norm of the whole gradient counts every parameter once") {
  for (const auto& [tensor, pipeline, tied] :
       {std::tuple(2, 2, true), std::tuple(4, 1, false), std::tuple(1, 3, true)}) {
    CAPTURE(tensor, pipeline, tied);
    Parallel parallel = pipeline > 1 ? stages(pipeline, 2) : Parallel();
    parallel.tensor = tensor;
    parallel.micro_batches = 2;
    MeshTrial cut = on(transformer_trial(3, tied), 2, parallel);
    cut.training.clip_norm = 0.05;  // below the norm of every step
    check_equal(cut, uncut(cut, 2), false);
    MeshTrial loose = cut;
    loose.training.clip_norm.reset();
    CHECK(relative_distance(cut.run().final_parameters(), loose.run().final_parameters()) > 1e-6);
  }
}

namespace {

/// The gradient of the perceptron's mean loss over a step's batch, at w.
std::vector<double> gradient_at(const MeshTrial& trial, std::int64_t step, const std::vector<double>& w) {
  const training::Batches batches({.rows = trial.rows, .batch = trial.batch, .seed = 1});
  const training::RowSet rows = batches.rows({.step = step, .part = 0, .parts = 1});
  models::Samples samples{.features = trial.data.features.data(),
                          .targets = trial.data.targets.data(),
                          .columns = trial.data.columns,
                          .first = rows.first,
                          .count = rows.count,
                          .indices = rows.indices.empty() ? nullptr : rows.indices.data()};
  std::vector<double> g(w.size());
  trial.model->gradient(trial.problem, samples, w, 1.0 / static_cast<double>(trial.batch), 1.0, g);
  return g;
}

}  // namespace

TEST_CASE("pipedream's stages see the weights of their own last updates: stage i of p is p - i - 1 updates behind") {
  MeshTrial trial = on(perceptron_trial(), 1, stages(3, 1, "pipedream"));
  trial.parallel.micro_batches.reset();
  trial.parallel.stages = {2, 2, 1};
  trial.steps = 7;
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  // By hand: the versions that stage i has seen in step k, put together, and its part of the gradient there.
  const std::vector<models::Layer> layers = trial.model->layers(trial.problem);
  const std::vector<std::int64_t> firsts{0, layers[2].first, layers[4].first, layers[4].first + layers[4].count};
  std::vector<std::vector<double>> w(1, outcome.evaluated.front());
  for (std::int64_t step = 0; step < trial.steps; ++step) {
    std::vector<double> seen = w.back(), next = w.back();
    const auto copy_stage = [&](std::size_t i, const std::vector<double>& from, std::vector<double>& to) {
      for (auto j = static_cast<std::size_t>(firsts[i]); j < static_cast<std::size_t>(firsts[i + 1]); ++j)
        to[j] = from[j];
    };
    for (std::size_t i = 0; i < 3; ++i)
      copy_stage(i, w[static_cast<std::size_t>(std::max<std::int64_t>(0, step - (2 - static_cast<std::int64_t>(i))))],
                 seen);
    const std::vector<double> g = gradient_at(trial, step, seen);
    for (std::size_t j = 0; j < next.size(); ++j) next[j] -= 0.1 * g[j];
    w.push_back(next);
  }
  REQUIRE(outcome.evaluated.size() == w.size());
  for (std::size_t k = 0; k < w.size(); ++k) CHECK(relative_distance(outcome.evaluated[k], w[k]) <= 1e-13);
  CHECK(outcome.record.staleness_max == 2.0);
}

TEST_CASE("pipedream_2bw sees the weights of one update before, on all stages") {
  MeshTrial trial = on(perceptron_trial(), 2, stages(3, 4, "pipedream_2bw"));
  trial.steps = 6;
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  std::vector<std::vector<double>> w(1, outcome.evaluated.front());
  for (std::int64_t step = 0; step < trial.steps; ++step) {
    const std::vector<double> g =
        gradient_at(trial, step, w[static_cast<std::size_t>(std::max<std::int64_t>(0, step - 1))]);
    std::vector<double> next = w.back();
    for (std::size_t j = 0; j < next.size(); ++j) next[j] -= 0.1 * g[j];
    w.push_back(next);
  }
  REQUIRE(outcome.evaluated.size() == w.size());
  for (std::size_t k = 0; k < w.size(); ++k) CHECK(relative_distance(outcome.evaluated[k], w[k]) <= 1e-13);
}

TEST_CASE("an asynchronous pipeline has no bubble between updates") {
  const auto steps_s = [](std::int64_t steps) {
    auto model = std::make_shared<EqualLayers>();
    model->count = 4;
    MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
    trial.rows = trial.batch = 1;
    trial.training.numbers = false;
    trial.steps = steps;
    trial.cluster.charge_reductions = false;
    trial.cluster.host_spec.latency_s = 1e-6;
    Parallel parallel = stages(4, 1, "pipedream");
    parallel.micro_batches.reset();
    return on(trial, 1, parallel).run().record.simulated_s;
  };
  CHECK(steps_s(20) - steps_s(10) == Approx(10 * 3.0).epsilon(1e-5));  // F + B + W an update
}

}  // namespace mesh_test
