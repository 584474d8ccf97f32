// Strategies that claim to be sequential gradient descent give its parameters; the others give their own recursion's.
#include <algorithm>
#include <cmath>

#include "strategies/programs.h"

namespace equivalence_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t steps = 100;

/// Gradient descent as one writes it in a textbook: the parameters after every step.
std::vector<std::vector<double>> sequential(const Trial& trial, double momentum = 0.0, double decay = 0.0) {
  const data::Dataset set = trial.data().train;
  const training::Batches batches = trial.batches();
  std::vector<double> w(static_cast<std::size_t>(trial.features));
  std::vector<double> v(w.size());
  std::vector<std::vector<double>> all{w};
  for (std::int64_t k = 0; k < *trial.stop.steps; ++k) {
    const double lr = trial.training.learning_rate / (1.0 + decay * static_cast<double>(k));
    const std::vector<double> g =
        gradient_of(trial, set, batches.rows({k, 0, 1}), w, 1.0 / static_cast<double>(batches.batch()));
    for (std::size_t i = 0; i < w.size(); ++i) {
      v[i] = momentum * v[i] + g[i];
      w[i] -= lr * v[i];
    }
    all.push_back(w);
  }
  return all;
}

Trial hundred_steps(training::Program program, int workers) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 50, .features = 6};
  trial.stop.steps = steps;
  return trial;
}

std::vector<Named> sequential_in_disguise() {
  return {{"mapreduce", mapreduce()},
          {"bsp", parameter_server(Consistency::bsp)},
          {"ring allreduce", ring_allreduce()},
          {"recursive doubling", allreduce("recursive_doubling")},
          {"rabenseifner", allreduce("rabenseifner")},
          {"tree", allreduce("tree")},
          {"double binary tree", allreduce("double_binary_tree")},
          {"bcube", allreduce("bcube")},
          {"naive allreduce", allreduce("naive")},
          {"allreduce in buckets", allreduce("ring", 1.0)},
          {"data_parallel", data_parallel()},
          {"complete graph, adapt then combine", gossip("complete", GossipUpdate::adapt_then_combine)},
          {"complete graph, gradient exchange", gossip("complete", GossipUpdate::gradient_exchange)}};
}

void check_sequential(const Trial& trial, double momentum = 0.0, double decay = 0.0) {
  const Outcome outcome = trial.run();
  const auto expected = sequential(trial, momentum, decay);
  REQUIRE(outcome.record.error.empty());
  REQUIRE(outcome.evaluated.size() == expected.size());
  CHECK(outcome.evaluated.front() == expected.front());
  for (std::size_t k = 1; k < expected.size(); ++k)
    REQUIRE(relative_distance(outcome.evaluated[k], expected[k]) < 1e-12);
  for (const auto& row : outcome.record.curve) CHECK(row.consensus_distance.value_or(0.0) == 0.0);  // bitwise equal
}

/// Every replica's parameters of D-PSGD on a ring of three ranks or more, step after step, in the order of its sums.
std::vector<std::vector<std::vector<double>>> dpsgd_on_a_ring(const Trial& trial) {
  const int P = trial.workers;
  const data::Dataset set = trial.data().train;
  const training::Batches batches = trial.batches();
  std::vector<std::vector<double>> w(static_cast<std::size_t>(P),
                                     std::vector<double>(static_cast<std::size_t>(trial.features)));
  std::vector<std::vector<std::vector<double>>> all{w};
  for (std::int64_t k = 0; k < *trial.stop.steps; ++k) {
    const auto old = w;
    for (int i = 0; i < P; ++i) {
      const auto own = static_cast<std::size_t>(i);
      const std::vector<double> g =
          gradient_of(trial, set, batches.rows({k, i, P}), old[own], 1.0 / static_cast<double>(batches.batch()));
      std::vector<int> group{(i + P - 1) % P, i, (i + 1) % P};
      std::sort(group.begin(), group.end());
      for (std::size_t x = 0; x < w[own].size(); ++x) {
        double mixed = 0.0;
        for (const int j : group) mixed += (1.0 / 3.0) * old[static_cast<std::size_t>(j)][x];
        w[own][x] = mixed - trial.training.learning_rate * (P * g[x]);
      }
    }
    all.push_back(w);
  }
  return all;
}

}  // namespace

TEST_CASE("synchronous strategies are gradient descent on the full batch") {
  for (const auto& [name, program] : sequential_in_disguise())
    for (const int P : {1, 2, 3, 8, 13}) {
      CAPTURE(name, P);
      check_sequential(hundred_steps(program, P));
    }
}

TEST_CASE("synchronous strategies are stochastic gradient descent on the step's minibatch") {
  for (const auto& [name, program] : sequential_in_disguise())
    for (const int P : {1, 3, 8}) {
      Trial trial = hundred_steps(program, P);
      trial.batch = 17;
      CAPTURE(name, P);
      check_sequential(trial);
    }
}

TEST_CASE("synchronous strategies follow the momentum and the schedule of the sequential algorithm") {
  // With momentum, averaging parameters after the update is another algorithm: the memories are not averaged.
  for (const auto& [name, program] : sequential_in_disguise()) {
    CAPTURE(name);
    Trial scheduled = hundred_steps(program, 4);
    scheduled.training.schedule.choose("inverse_time");
    check_sequential(scheduled, 0.0, 0.01);
    if (name == "complete graph, adapt then combine") continue;
    Trial heavy_ball = hundred_steps(program, 4);
    heavy_ball.training.learning_rate = 0.02;
    heavy_ball.training.optimizer.choose("momentum");
    check_sequential(heavy_ball, 0.9);
    heavy_ball.training.schedule.choose("inverse_time");
    heavy_ball.batch = 20;
    check_sequential(heavy_ball, 0.9, 0.01);
  }
}

TEST_CASE("one worker is the sequential algorithm under every strategy, bit for bit") {
  const auto expected = sequential(hundred_steps(single(), 1));
  std::vector<Named> all = sequential_in_disguise();
  all.push_back({"single", single()});
  all.push_back({"asp", parameter_server(Consistency::asp)});
  all.push_back({"asp, mean", parameter_server(Consistency::asp, strategies::Part::mean)});
  all.push_back({"D-PSGD", gossip("ring", GossipUpdate::combine_then_adapt)});
  for (const auto& [name, program] : all) {
    Trial trial = hundred_steps(program, 1);
    if (!program.traits(4).lockstep()) {
      trial.stop = {};
      trial.stop.samples = steps * trial.rows;
    }
    CAPTURE(name);
    const Outcome outcome = trial.run();
    CHECK(outcome.evaluated == expected);
    CHECK(outcome.record.steps == steps);
    CHECK(outcome.record.samples == steps * trial.rows);
  }
}

TEST_CASE("D-PSGD on a ring is w_i <- sum_j W_ij w_j - lr g_i(w_i), every replica at every step") {
  for (const int P : {3, 4, 7})
    for (const std::int64_t batch : {168, 84}) {
      Trial trial = hundred_steps(gossip("ring", GossipUpdate::combine_then_adapt), P);
      trial.rows = 168;
      trial.batch = batch;
      const Outcome outcome = trial.run();
      const auto expected = dpsgd_on_a_ring(trial);
      CAPTURE(P, batch);
      REQUIRE(outcome.record.error.empty());
      // In every step every replica asks for one gradient; in which order they do does not matter.
      REQUIRE(outcome.gradients_at.size() == static_cast<std::size_t>(P * steps));
      for (std::size_t k = 0; k < steps; ++k) {
        std::vector<std::vector<double>> replicas;
        for (std::size_t i = 0; i < static_cast<std::size_t>(P); ++i)
          replicas.push_back(outcome.gradients_at[k * static_cast<std::size_t>(P) + i].w);
        std::vector<std::vector<double>> wanted = expected[k];
        std::sort(replicas.begin(), replicas.end());
        std::sort(wanted.begin(), wanted.end());
        REQUIRE(replicas == wanted);
      }
      std::vector<double> mean(6);
      double squares = 0.0;
      for (const auto& replica : expected.back())
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += replica[i] / P;
      for (const auto& replica : expected.back())
        for (std::size_t i = 0; i < mean.size(); ++i) squares += (replica[i] - mean[i]) * (replica[i] - mean[i]);
      CHECK(relative_distance(outcome.final_parameters(), mean) < 1e-13);
      CHECK(*outcome.record.curve.back().consensus_distance == Approx(std::sqrt(squares / P)).epsilon(1e-11));
      CHECK(*outcome.record.curve.back().consensus_distance > 1e-4);  // the replicas do differ
    }
}

TEST_CASE("gossip preserves the mean: averaging alone moves nothing") {
  // combine_then_adapt moves the mean of the replicas by -lr times the mean of their gradients, whatever the graph.
  for (const auto graph : {"ring", "star", "complete"}) {
    Trial trial = hundred_steps(gossip(graph, GossipUpdate::combine_then_adapt), 5);
    const Outcome outcome = trial.run();
    const data::Dataset set = trial.data().train;
    REQUIRE(outcome.evaluated.size() == static_cast<std::size_t>(steps) + 1);
    // At step 0 all replicas are zero and the first gradients are of the very same parameters: of one value.
    std::vector<double> mean = outcome.evaluated[1];
    std::size_t at = 5;
    for (std::int64_t k = 1; k < steps; ++k) {
      for (int i = 0; i < 5; ++i) {
        const Seen& seen = outcome.gradients_at.at(at++);
        const auto g = gradient_of(trial, set, {seen.first_row, 10, {}}, seen.w, 1.0 / 50.0);
        for (std::size_t x = 0; x < mean.size(); ++x) mean[x] -= trial.training.learning_rate * g[x];
      }
      CAPTURE(std::string(graph), k);
      REQUIRE(relative_distance(outcome.evaluated[static_cast<std::size_t>(k) + 1], mean) < 1e-12);
    }
  }
}

}  // namespace equivalence_test
