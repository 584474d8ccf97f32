// Faulty workers: the gradients that they hand over, in every strategy, and what these cost.
#include <set>

#include "cluster/faulty/faulty.h"
#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace faulty_workers_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

template <class Fault>
void attack(Trial& trial, Fault fault, std::vector<double> workers) {
  fault.workers = std::move(workers);
  trial.cluster.faulty = {cluster::faulty_workers(), std::make_unique<Fault>(std::move(fault))};
}

cluster::ScaledGradients scaled(double times) {
  cluster::ScaledGradients fault;
  fault.times = times;
  return fault;
}

Trial four_workers(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 50, .features = 6};
  trial.layers = 2;
  trial.stop.steps = 12;
  return trial;
}

template <class Strategy>
training::Program with(const std::function<void(Strategy&)>& change) {
  auto strategy = around_a_ring<Strategy>();
  change(*strategy);
  return strategies::program(strategy);
}

}  // namespace

TEST_CASE("the seed draws as many faulty workers as the share says, and names replace it") {
  cluster::SignFlip fault;
  std::set<std::vector<int>> drawn;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(fault.ranks(10, seed).size() == 2);  // 0.2
    CHECK(fault.ranks(10, seed) == fault.ranks(10, seed));
    drawn.insert(fault.ranks(10, seed));
  }
  CHECK(drawn.size() > 10);
  fault.share = 0.0;
  CHECK(fault.ranks(10, 1).empty());
  fault.share = 1.0;
  CHECK(fault.ranks(3, 1) == std::vector<int>{0, 1, 2});
  fault.share.reset();
  fault.workers = {4, 7};
  CHECK(fault.ranks(10, 1) == std::vector<int>{4, 7});
  CHECK(cluster::NoFaultyWorkers().ranks(10, 1).empty());
}

TEST_CASE("every strategy that sums gradients sums those that faulty workers hand over") {
  using strategies::Allreduce;
  using strategies::Zero;
  const std::vector<Named> all{
      {"allreduce", ring_allreduce()},
      {"allreduce in buckets", allreduce("tree", 8.0)},
      {"micro-batches", with<Allreduce>([](Allreduce& a) { a.micro_batches = 3; })},
      {"data_parallel", data_parallel()},
      {"zero 1", with<Zero>([](Zero& z) { z.stage = 1; })},
      {"zero 2", with<Zero>([](Zero& z) { z.stage = 2; })},
      {"zero 3", with<Zero>([](Zero& z) { z.stage = 3; })},
      {"fsdp", with<strategies::Fsdp>([](strategies::Fsdp&) {})},
      {"byteps", byteps(1, 2)},
      {"bsp", parameter_server(Consistency::bsp)},
      {"K-batch-sync", servers({.k_batch = 4})},
      {"mapreduce", mapreduce()},
      {"mapreduce in buckets", with<strategies::MapReduce>([](strategies::MapReduce& m) { m.bucket_bytes = 8.0; })}};
  for (const Named& strategy : all) {
    Trial trial = four_workers(strategy.program);
    attack(trial, scaled(-3.0), {2});
    const data::Dataset set = trial.data().train;
    std::vector<double> w(6);
    for (int step = 0; step < 12; ++step) {
      std::vector<double> g(6);
      std::int64_t first = 0;
      for (int r = 0; r < 4; ++r) {
        const std::int64_t rows = trial.batches().count(r, 4);
        const auto part = gradient_of(trial, set, {first, rows, {}}, w, 1.0 / 50);
        for (std::size_t j = 0; j < 6; ++j) g[j] += (r == 2 ? -3.0 : 1.0) * part[j];
        first += rows;
      }
      for (std::size_t j = 0; j < 6; ++j) w[j] -= trial.training.learning_rate * g[j];
    }
    CAPTURE(strategy.name);
    CHECK(relative_distance(trial.run().final_parameters(), w) < 1e-12);
  }
}

TEST_CASE("in every strategy a faulty worker changes the numbers, and no time") {
  for (const Named& strategy : parallel_strategies()) {
    Trial trial = four_workers(strategy.program);
    const Outcome honest = trial.run();
    attack(trial, scaled(-0.5), {0});
    const Outcome outcome = trial.run();
    CAPTURE(strategy.name);
    CHECK(outcome.final_parameters() != honest.final_parameters());
    CHECK(outcome.record.simulated_s == Approx(honest.record.simulated_s).epsilon(1e-12));
    CHECK(outcome.record.bytes == honest.record.bytes);
  }
}

TEST_CASE("random gradients have the standard deviation of a mean over the worker's rows, anew in each step") {
  Trial trial{.program = ring_allreduce(), .workers = 2, .rows = 9, .features = 20'000};
  trial.training.learning_rate = 1e-5;
  trial.stop.steps = 2;
  cluster::RandomGradients fault;
  fault.sigma = 0.25;
  attack(trial, fault, {1});
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> noise;
  for (std::size_t step = 0; step < 2; ++step) {
    const std::int64_t rows = trial.batches().count(0, 2);
    const auto own = gradient_of(trial, set, {0, rows, {}}, outcome.evaluated[step], 1.0 / 9);
    noise.emplace_back();
    for (std::size_t j = 0; j < own.size(); ++j)
      noise.back().push_back((outcome.evaluated[step][j] - outcome.evaluated[step + 1][j]) / 1e-5 - own[j]);
  }
  double squares = 0.0, products = 0.0, sum = 0.0;
  for (std::size_t j = 0; j < 20'000; ++j) {
    squares += noise[0][j] * noise[0][j];
    products += noise[0][j] * noise[1][j];
    sum += noise[0][j];
  }
  const double sigma = 0.25 * static_cast<double>(trial.batches().count(1, 2)) / 9;
  CHECK(std::sqrt(squares / 20'000) == Approx(sigma).epsilon(0.03));  // a standard error of 0.5 %
  CHECK(std::abs(sum) / 20'000 < 5 * sigma / std::sqrt(20'000.0));    // five standard errors
  CHECK(std::abs(products) / 20'000 < 5 * sigma * sigma / std::sqrt(20'000.0));
  trial.program = with<strategies::Allreduce>([](strategies::Allreduce& a) { a.micro_batches = 2; });
  CHECK(relative_distance(trial.run().final_parameters(), outcome.final_parameters()) < 1e-12);
}

TEST_CASE("a worker alone hands over nothing, and keeps its own gradient") {
  for (const training::Program& program : {single(), ring_allreduce()}) {
    Trial trial = four_workers(program);
    trial.workers = 1;
    const std::vector<double> honest = trial.run().final_parameters();
    attack(trial, scaled(-3.0), {0});
    CHECK(trial.run().final_parameters() == honest);
  }
}

TEST_CASE("a faulty gradient has the format of others, and is rounded to it") {
  Trial trial = four_workers(parameter_server(Consistency::bsp));
  trial.workers = 1;
  trial.stop.steps = 1;
  trial.training.precision = training::Precision::bfloat16;
  trial.training.learning_rate = 1.0;
  const Outcome honest = trial.run();
  attack(trial, scaled(-1.7), {0});
  const Outcome outcome = trial.run();
  CHECK(outcome.record.bytes == honest.record.bytes);
  CHECK(outcome.record.simulated_s == honest.record.simulated_s);
  // The parameters are the gradient's opposite, whose numbers have 8 binary digits.
  for (std::size_t j = 0; j < 6; ++j) {
    int exponent = 0;
    const double digits = 256 * std::frexp(outcome.final_parameters()[j], &exponent);
    CHECK(digits == std::floor(digits));
    CHECK(outcome.final_parameters()[j] == Approx(-1.7 * honest.final_parameters()[j]).epsilon(1.0 / 128));
  }
}

TEST_CASE("the notes name the faulty ranks") {
  Trial trial = four_workers(ring_allreduce());
  attack(trial, scaled(-3.0), {1, 3});
  const std::vector<std::string> notes = trial.run().record.notes;
  CHECK(std::ranges::count(notes, "2 of 4 workers are faulty (cluster.faulty = \"scale\"): ranks 1, 3") == 1);
}

}  // namespace faulty_workers_test
