// The clock of a cut model with experts: in runs with numbers, work and messages are those of the tokens that the
// router sends and experts take, unless experts are padded to their capacity.
#include <numeric>

#include "models/transformer_places.h"
#include "strategies/mesh_trial.h"
#include "strategies/sparse_trial.h"

namespace expert_times_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

constexpr double s = 8, h = 16, f = 24, rows = 48, speed = 1e7;

Parallel sharing(std::int64_t expert, std::int64_t tensor = 1, std::int64_t pipeline = 1) {
  Parallel parallel;
  parallel.expert = expert;
  parallel.tensor = tensor;
  parallel.pipeline = pipeline;
  return parallel;
}

/// Blocks of four experts, of which a token chooses `top_k`. A step has all rows, and additions are free.
MeshTrial trial_of(std::int64_t blocks, std::int64_t top_k, double capacity_factor, const Parallel& parallel) {
  MeshTrial trial = experts_trial(blocks, false);
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  model->options.expert_every = 1;
  model->options.top_k = top_k;
  model->options.capacity_factor = capacity_factor;
  trial.model = model;
  trial.rows = static_cast<std::int64_t>(rows);
  trial.data = text_data(trial.rows, 8, 12);
  trial.steps = 1;
  trial.parallel = parallel;
  trial.workers = static_cast<int>(parallel.ranks_a_replica());
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.cluster.charge_reductions = false;
  trial.cluster.host_spec.speed_flops_per_s = speed;
  trial.cluster.host_spec.latency_s = 1e-5;
  return trial;
}

models::Transformer& model_of(MeshTrial& trial) {
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  trial.model = model;
  return *model;
}

/// Routers without preference, so that all tokens choose the experts of the lowest numbers.
void send_all_to_the_first(MeshTrial& trial) {
  const models::TransformerShape shape = model_of(trial).options.shape(trial.problem.vocabulary);
  trial.change = [shape](std::span<double> w) {
    for (const models::BlockPlaces& block : models::TransformerPlaces(shape).blocks)
      std::ranges::fill(w.subspan(static_cast<std::size_t>(block.router.matrix),
                                  static_cast<std::size_t>(block.router.outputs * block.router.inputs)),
                        0.0);
  };
}

record::Record run(const MeshTrial& trial) {
  record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record;
}

record::Record without_numbers(MeshTrial trial) {
  trial.training.numbers = false;
  trial.data = {};
  trial.change = {};
  return run(trial);
}

/// Tokens that the experts take of some rows at the initial values, by block and expert, as the uncut model says.
std::vector<std::vector<double>> taken(const MeshTrial& trial, std::int64_t first = 0, std::int64_t count = 48) {
  std::vector<double> w(static_cast<std::size_t>(trial.model->parameters(trial.problem)));
  ScoredModel(trial.model, trial.change).initial_values(trial.problem, 1, w);
  std::vector<std::vector<double>> all;
  for (const models::ExpertLoad& load : trial.model->expert_loads(trial.problem,
                                                                  {.features = trial.data.features.data(),
                                                                  .targets = trial.data.targets.data(),
                                                                  .columns = trial.data.columns,
                                                                  .first = first,
                                                                  .count = count},
                                                                  w, values::Format::float64))
    all.emplace_back(load.tokens.begin(), load.tokens.end());
  return all;
}

/// Flops forward of all products but the experts', of one sample on one of so many tensor ranks.
double flops_outside_of_experts(double blocks, double tensor) {
  const double attention = 8 * s * h * h + 4 * s * s * h, router = 2 * s * h * 4, head = 2 * s * h * 12;
  return blocks * (attention / tensor + router) + head / tensor;
}
constexpr double flops_of_a_token = 4 * h * f;  ///< at its expert

/// The sum over a rank's share of experts.
double of_rank(const std::vector<double>& by_expert, std::size_t rank, std::size_t ranks) {
  const std::size_t held = by_expert.size() / ranks;
  return std::accumulate(by_expert.begin() + static_cast<std::ptrdiff_t>(rank * held),
                         by_expert.begin() + static_cast<std::ptrdiff_t>((rank + 1) * held), 0.0);
}

}  // namespace

TEST_CASE("all tokens choose one expert: its rank computes them all, and all tokens of others travel to it and back") {
  for (const double factor : {4.0, 0.75})
    for (const auto recompute : {training::Recompute::none, training::Recompute::full}) {
      CAPTURE(factor, recompute);
      MeshTrial trial = trial_of(1, 1, factor, sharing(2));
      trial.training.recompute = recompute;
      send_all_to_the_first(trial);
      const double of_a_sequence = factor > 1.0 ? s : 2;  // ceil(0.75 x 8 / 4)
      REQUIRE(taken(trial).front() == std::vector<double>{rows * of_a_sequence, 0, 0, 0});
      const double again = recompute == training::Recompute::full ? 1 : 0,
                   B = trial.cluster.host_spec.bandwidth_bytes_per_s;
      const double alpha = trial.cluster.host_spec.latency_s;
      const double head = 2 * s * h * 12, block = flops_outside_of_experts(1, 1) - head;
      const double computing_s =
          (rows / 2 * ((3 + again) * block + 3 * head) + (3 + again) * rows * of_a_sequence * flops_of_a_token) / speed;
      const double exchange_s = alpha + 8 * rows / 2 * of_a_sequence * h / B;  // the other rank's tokens
      const double parameters = static_cast<double>(trial.model->parameters(trial.problem)),
                   own = 4 * (2 * h * f + f + h);
      const double sums_s = 2 * (alpha + 8 * (parameters - own) / 2 / B);  // of all but the experts, at once
      const record::Record record = run(trial);
      CHECK(record.simulated_s == Approx(computing_s + (4 + 2 * again) * exchange_s + sums_s).epsilon(1e-9));
      CHECK(record.ranks[0].compute_s == Approx(computing_s).epsilon(1e-9));
      CHECK(record.ranks[1].compute_s == Approx(rows / 2 * ((3 + again) * block + 3 * head) / speed).epsilon(1e-9));
      const double sent = (4 + 2 * again) * 8 * rows / 2 * of_a_sequence * h + 2 * 8 * (parameters - own);
      CHECK(static_cast<double>(record.bytes) == Approx(sent).epsilon(1e-9));
    }
}

TEST_CASE("a rank's experts work as long as the tokens that they take, on every mesh") {
  struct Mesh {
    Parallel parallel;
    std::int64_t micro_batches = 1;
  };
  for (const auto& [shape, micro_batches] : {Mesh{sharing(2)}, Mesh{sharing(4), 2}, Mesh{sharing(1, 2)},
                                             Mesh{sharing(2, 2, 2), 2}, Mesh{sharing(1, 1, 2), 3}}) {
    Parallel parallel = shape;
    parallel.micro_batches = micro_batches;
    CAPTURE(parallel.expert, parallel.tensor, parallel.pipeline);
    MeshTrial trial = trial_of(2, 2, 1.25, parallel);
    const std::vector<std::vector<double>> tokens = taken(trial);
    const double even = rows * s * 2 / 4;
    REQUIRE(std::ranges::max(tokens[0]) > 1.05 * even);
    REQUIRE(std::accumulate(tokens[0].begin(), tokens[0].end(), 0.0) < 4 * even);  // some are dropped
    const record::Record record = run(trial);
    const auto experts = static_cast<std::size_t>(parallel.expert);
    const auto tensor = static_cast<double>(parallel.tensor);
    std::vector<double> expected(experts), measured(experts);
    for (std::size_t e = 0; e < experts; ++e) {
      const double dense = rows / static_cast<double>(experts) * flops_outside_of_experts(2, tensor);
      const double own = of_rank(tokens[0], e, experts) + of_rank(tokens[1], e, experts);
      expected[e] = 3 * (dense + own * flops_of_a_token / tensor) / speed;
    }
    for (const record::RankUse& rank : record.ranks)  // stages share the layers
      measured[static_cast<std::size_t>(rank.mesh.expert.value_or(0))] += rank.compute_s / tensor;
    for (std::size_t e = 0; e < experts; ++e) CHECK(measured[e] == Approx(expected[e]).epsilon(1e-9));
  }
}

TEST_CASE("messages have the bytes of the tokens that go to other ranks") {
  MeshTrial trial = trial_of(2, 2, 1.25, sharing(4));
  double tokens = 0.0;  // that leave their ranks
  for (std::size_t source = 0; source < 4; ++source)
    for (const std::vector<double>& block : taken(trial, static_cast<std::int64_t>(12 * source), 12))
      for (std::size_t expert = 0; expert < 4; ++expert) tokens += expert == source ? 0.0 : block[expert];
  const double dense = static_cast<double>(trial.model->parameters(trial.problem)) - 2 * 4 * (2 * h * f + f + h);
  CHECK(static_cast<double>(run(trial).bytes) == Approx(4 * 8 * tokens * h + 2 * 3 * 8 * dense).epsilon(1e-9));
}

TEST_CASE("padded experts compute and send their capacity, with numbers and without, whatever the router does") {
  for (const double factor : {1.0, 1.25}) {
    CAPTURE(factor);
    MeshTrial trial = trial_of(1, 1, factor, sharing(2));
    model_of(trial).options.pad_experts = true;
    const double capacity = std::ceil(factor * s / 4);
    const double computing_s =
        3 * rows / 2 * (flops_outside_of_experts(1, 1) + 4 * capacity * flops_of_a_token) / speed;
    const record::Record timed = without_numbers(trial);
    CHECK(timed.ranks[0].compute_s == Approx(computing_s).epsilon(1e-9));
    CHECK(run(trial).simulated_s == timed.simulated_s);
    CHECK(run(trial).bytes == timed.bytes);
    send_all_to_the_first(trial);
    CHECK(run(trial).simulated_s == timed.simulated_s);
  }
}

TEST_CASE("in a run of times alone messages have the tokens of even shares, or of a skew: the longer one decides") {
  for (const int tensor : {1, 2})
    for (const double skew : {1.0, 2.5}) {
      CAPTURE(tensor, skew);
      MeshTrial trial = trial_of(1, 2, 10.0, sharing(2, tensor));
      model_of(trial).options.expert_skew = skew;
      const double B = trial.cluster.host_spec.bandwidth_bytes_per_s = 1e6;
      const std::vector<double> loads = models::chosen_loads(model_of(trial).options.shape(12));
      const double first = s * 2 * (loads[0] + loads[1]) / 4,
                   all = s * 2;  // tokens of a sample for rank 0, and for both
      const record::Record record = without_numbers(trial);
      MeshTrial without = trial;  // exchanges, since no token has an expert with room
      model_of(without).options.capacity_factor = 1e-9;
      const record::Record none = without_numbers(without);
      CHECK(static_cast<double>(record.bytes - none.bytes) ==
            Approx(8 * h * (4 * tensor * rows / 2 * all + (tensor - 1) * 2 * 2 * rows * all)).epsilon(1e-6));
      const double sent = std::round(rows / 2 * h * first);  // whole numbers
      const double exchange_s = 8 * sent / B;
      const double sums_s = tensor == 1 ? 0.0 : 2 * (8 * 2 * sent) / B;  // of rank 0's experts
      const double experts_s = 3 * rows * first * flops_of_a_token / tensor / speed;
      CHECK(record.simulated_s - none.simulated_s == Approx(4 * exchange_s + sums_s + experts_s).epsilon(1e-6));
    }
}

TEST_CASE("padded or not, by messages or computed, in threads or not: the parameters are the same, and so are times") {
  for (const int tensor : {1, 2}) {
    MeshTrial trial = trial_of(2, 2, 1.25, sharing(2, tensor, 2));
    trial.parallel.micro_batches = 2;
    trial.steps = 3;
    const Outcome one = trial.run();
    REQUIRE(one.record.error.empty());
    MeshTrial in_threads = trial;
    in_threads.threads = 3;
    const Outcome again = in_threads.run();
    CHECK(again.record.simulated_s == one.record.simulated_s);
    CHECK(again.record.bytes == one.record.bytes);
    CHECK(again.evaluated == one.evaluated);
    MeshTrial by_messages = trial;
    by_messages.cluster.collectives = cluster::Collectives::messages;
    CHECK(by_messages.run().record.simulated_s == Approx(one.record.simulated_s).epsilon(1e-9));
    MeshTrial padded = trial;
    model_of(padded).options.pad_experts = true;
    CHECK(padded.run().evaluated == one.evaluated);
    CHECK(padded.run().record.simulated_s > one.record.simulated_s);
  }
}

}  // namespace expert_times_test
