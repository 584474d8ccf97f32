// hosts_first where workers make other things than gradients of all parameters: those of tasks, those of a sparse
// batch's keys, the sums of Lloyd's algorithm. Numbers are those of hosts of one device; times follow closed forms.
#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "models/k_means.h"
#include "models/multitask_perceptron.h"
#include "strategies/hosts_of_devices.h"
#include "strategies/mapreduce_programs.h"
#include "strategies/programs.h"
#include "strategies/sparse_trial.h"

namespace host_products_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::HostsFirst;
using strategies::Multitask;
using strategies::Strategy;

namespace {

/// A chain around a host, or back, of so many bytes in one piece.
double around_s(double bytes) { return (g - 1) * (device_alpha + bytes / device_B); }

/// A training of a model with data of its own.
struct Small {
  std::shared_ptr<const models::Model> model;
  models::Problem problem;
  std::int64_t rows = 48;
  std::int64_t batch = 48;
  std::string optimizer = "sgd";
  bool numbers = true;
  bool charge = true;
  training::Wire wire = training::Wire::as_precision;
  std::optional<cluster::Crash> crash = {};

  record::Record trained(const training::Program& program, int workers, bool devices) const {
    const Outcome outcome = in_a_child([&] {
      cluster::Options options = ideal_star();
      options.charge_reductions = charge;
      options.workers = workers;
      options.collectives = cluster::Collectives::messages;  // transfers inside a host and between hosts may meet
      if (devices) put_devices(options);
      if (crash) options.failures.crashes = {*crash};
      options.failures.detection_s = 1e-4;
      const training::Traits traits = program.traits(workers);
      cluster::Cluster hosts(options, traits.hosts_needed(workers), traits.many_to_many);
      values::Dispatcher dispatcher({.numbers = numbers, .label = {}});
      training::Learning::Setup learning_setup;
      auto split = std::make_shared<data::Split>();
      split->train = linear_data(rows, problem.features, 7);
      split->train.classes = problem.classes;
      for (std::int64_t i = 0; i < rows; ++i) {
        if (problem.classes > 0) split->train.targets[static_cast<std::size_t>(i)] = static_cast<double>(i % 3);
        split->train.features[static_cast<std::size_t>(i * problem.features + i % 3)] += 2.0;
      }
      learning_setup.data = numbers ? split : nullptr;
      learning_setup.model = model;
      learning_setup.problem = problem;
      learning_setup.rows = rows;
      learning_setup.batch = batch;
      learning_setup.wire = wire;
      const training::Learning learning(std::move(learning_setup), dispatcher);
      training::Training::Setup setup;
      setup.options.learning_rate = 0.2;
      setup.options.optimizer.choose(optimizer);
      setup.options.wire = wire;
      setup.options.checkpoint_every_steps = 2;
      setup.stop.steps = 6;
      setup.evaluate.every_steps = 1;
      training::Training job(hosts, learning, program, setup, workers);
      return run_to_the_end(job, hosts);
    });
    REQUIRE(outcome.record.error.empty());
    return outcome.record;
  }
};

std::shared_ptr<const models::MultitaskPerceptron> network(std::vector<double> hidden) {
  auto model = std::make_shared<models::MultitaskPerceptron>();
  model->hidden = std::move(hidden);
  model->activation = models::Activation::tanh;
  return model;
}

Small three_tasks() { return {.model = network({4.0}), .problem = {.features = 3, .classes = 3}}; }

std::shared_ptr<const Multitask> multitask(const std::function<void(Multitask&)>& change) {
  auto strategy = around_a_ring<Multitask>();
  change(*strategy);
  return strategy;
}

void check_equal_losses(const record::Record& found, const record::Record& expected) {
  REQUIRE(found.curve.size() == expected.curve.size());
  for (std::size_t i = 0; i < found.curve.size(); ++i)
    CHECK(found.curve[i].loss.value() == Approx(expected.curve[i].loss.value()).epsilon(1e-12));
  CHECK(found.curve.back().loss.value() < found.curve.front().loss.value());
  CHECK(found.samples == expected.samples);
}

void check_equal_training(const Small& small_training, const std::shared_ptr<const Strategy>& strategy, int hosts) {
  check_equal_losses(small_training.trained(on_hosts(strategy), hosts * g, true),
                     small_training.trained(strategies::program(strategy), hosts, false));
}

}  // namespace

TEST_CASE("the devices of a host make the gradients of its tasks together") {
  const std::vector<std::pair<std::string, std::shared_ptr<const Multitask>>> all{
      {"groups", multitask([](Multitask&) {})},
      {"groups of all rows", multitask([](Multitask& options) { options.rows = Multitask::Rows::batch; })},
      {"gang", multitask([](Multitask& options) { options.schedule = Multitask::Schedule::gang; })},
      {"sharing", multitask([](Multitask& options) { options.schedule = Multitask::Schedule::sharing; })}};
  for (const auto& [name, strategy] : all)
    for (const int hosts : {2, 3, 5})
      for (const char* const optimizer : {"sgd", "adam"})
        for (const std::int64_t batch : {48, 30}) {
          CAPTURE(name, hosts, optimizer, batch);
          Small small_training = three_tasks();
          small_training.optimizer = optimizer;
          small_training.batch = batch;
          check_equal_training(small_training, strategy, hosts);
        }
}

TEST_CASE("the parameters of a task go around a host before its turn, and the shared ones once a step") {
  constexpr std::int64_t d = 3, hidden = 400, T = 3, steps = 6;
  const double shared = 8.0 * (d + 1) * hidden, own = 8.0 * (hidden + 1);
  for (const bool in_turns : {true, false}) {
    CAPTURE(in_turns);
    const auto strategy = multitask([&](Multitask& options) {
      options.schedule = in_turns ? Multitask::Schedule::gang : Multitask::Schedule::groups;
    });
    Small workers{.model = network({static_cast<double>(hidden)}), .problem = {.features = d, .classes = T}};
    workers.numbers = workers.charge = false;
    Small devices = workers;
    devices.rows = devices.batch = g * workers.batch;  // each device has as many rows as a worker had
    constexpr int hosts = 3;
    const double without_s = workers.trained(strategies::program(strategy), hosts, false).simulated_s;
    const double with_s = devices.trained(on_hosts(strategy), hosts * g, true).simulated_s;
    const double host_s =
        in_turns ? 2 * (around_s(shared + own) + (T - 1) * around_s(own)) : 2 * around_s(shared + own);
    CHECK(with_s - without_s == Approx(steps * host_s).epsilon(1e-9));
  }
}

TEST_CASE("the devices of a host sum what they assign to centres") {
  auto model = std::make_shared<models::KMeans>();
  model->clusters = 3;
  const Small small_training{.model = model, .problem = {.features = 3, .classes = 0}, .rows = 60, .batch = 60};
  auto strategy = std::make_shared<strategies::MapReduce>();
  strategy->job = strategies::Job::k_means;
  for (const int hosts : {2, 3}) {
    CAPTURE(hosts);
    check_equal_training(small_training, strategy, hosts);
  }
}

namespace {

SparseTrial on_devices(SparseTrial trial, const std::shared_ptr<const Strategy>& strategy) {
  trial.program = on_hosts(strategy);
  trial.workers *= g;
  trial.cluster.workers = trial.workers;
  put_devices(trial.cluster);
  return trial;
}

}  // namespace

TEST_CASE("a crash of any host leaves the tasks and the centres that the training would have had") {
  auto centres = std::make_shared<models::KMeans>();
  centres->clusters = 3;
  const Small clusters{.model = centres, .problem = {.features = 3, .classes = 0}, .rows = 60, .batch = 60};
  auto lloyd = std::make_shared<strategies::MapReduce>();
  lloyd->job = strategies::Job::k_means;
  const auto scheduled = [](Multitask::Schedule schedule) {
    return multitask([&](Multitask& options) { options.schedule = schedule; });
  };
  const std::vector<std::pair<Small, std::shared_ptr<const Strategy>>> all{
      {three_tasks(), scheduled(Multitask::Schedule::groups)},
      {three_tasks(), scheduled(Multitask::Schedule::gang)},
      {three_tasks(), scheduled(Multitask::Schedule::sharing)},
      {clusters, lloyd}};
  constexpr int hosts = 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [undisturbed, strategy] = all[i];
    const record::Record plain = undisturbed.trained(on_hosts(strategy), hosts * g, true);
    for (int part = 0; part < 16; ++part) {
      CAPTURE(i, part);
      Small crashing = undisturbed;
      crashing.crash.emplace();
      crashing.crash->rank = part % (hosts * g);
      crashing.crash->at_s = (2.5 + part / 8.0) * plain.simulated_s / 6;
      crashing.crash->repair_s = 1e-3;
      const record::Record record = crashing.trained(on_hosts(strategy), hosts * g, true);
      CHECK(record.status == record::Status::stopped);
      CHECK(record.simulated_s > plain.simulated_s);
      CHECK(record.final_loss.value() == Approx(plain.final_loss.value()).epsilon(1e-12));
    }
  }
}

TEST_CASE("gradients of tasks travel in the format of the wire inside hosts and between them") {
  for (const auto schedule : {Multitask::Schedule::groups, Multitask::Schedule::gang, Multitask::Schedule::sharing})
    for (const auto rows : {Multitask::Rows::share, Multitask::Rows::batch}) {
      if (rows == Multitask::Rows::batch && schedule != Multitask::Schedule::groups) continue;
      CAPTURE(static_cast<int>(schedule), static_cast<int>(rows));
      const auto strategy = multitask([&](Multitask& options) {
        options.schedule = schedule;
        if (schedule == Multitask::Schedule::groups) options.rows = rows;
      });
      Small small_training = three_tasks();
      const std::int64_t in_float64 = small_training.trained(on_hosts(strategy), 3 * g, true).bytes;
      small_training.wire = training::Wire::float32;
      CHECK(2 * small_training.trained(on_hosts(strategy), 3 * g, true).bytes == in_float64);
    }
}

TEST_CASE("a device of a group with all rows of a batch holds what the formula says") {
  for (const auto rows : {Multitask::Rows::share, Multitask::Rows::batch}) {
    const auto strategy = multitask([&](Multitask& options) { options.rows = rows; });
    Small small_training{
        .model = network({200.0}), .problem = {.features = 3, .classes = 3}, .rows = 480, .batch = 480};
    small_training.numbers = false;
    constexpr int hosts = 3;
    const record::Record record = small_training.trained(on_hosts(strategy), hosts * g, true);
    const training::MemoryTerms terms{.layers = small_training.model->layers(small_training.problem),
                                      .bytes = {},
                                      .workers = hosts * g,
                                      .rows = small_training.batch / (hosts * g),
                                      .batch = small_training.batch,
                                      .model = small_training.model.get(),
                                      .problem = &small_training.problem};
    CAPTURE(static_cast<int>(rows));
    CHECK(record.ranks.at(0).memory_bytes.value() == Approx(HostsFirst(strategy, g).memory(terms).sum()).epsilon(0.02));
  }
}

TEST_CASE("the devices of a host make the gradient of all of its keys together") {
  using Cases = std::vector<std::pair<std::string, SparseServers>>;
  for (const auto& [name, options] :
       Cases{{"one server", {}},
             {"servers by hash", {.shards = 3, .dealt_by = training::Sharding::hash}},
             {"hot keys on workers", {.shards = 2, .dense = strategies::DenseOn::allreduce, .hot_keys = 7}},
             {"a cache", {.cache_bound = 3}},
             {"colocated", {.shards = 2, .placement = strategies::Placement::colocated}}})
    for (const char* const model : {"sparse_logistic", "factorization_machine", "wide_and_deep"})
      for (const std::int64_t batch : {40, 200}) {
        CAPTURE(name, model, batch);
        const auto strategy = sparse_strategy(options);
        SparseTrial workers(strategies::program(strategy));
        workers.model = model;
        workers.workers = 2;
        workers.batch = batch;
        workers.training.learning_rate = 0.2;
        const Outcome plain = workers.run(), several = on_devices(workers, strategy).run();
        REQUIRE(plain.record.error.empty());
        REQUIRE(several.record.error.empty());
        CHECK(several.record.samples == plain.record.samples);
        REQUIRE(several.evaluated.size() == plain.evaluated.size());
        for (std::size_t row = 0; row < plain.evaluated.size(); ++row)
          CHECK(relative_distance(several.evaluated[row], plain.evaluated[row]) < 1e-12);
      }
}

TEST_CASE("a crash of any host leaves the keys that the training would have had") {
  const auto strategy = sparse_strategy({.shards = 2, .dense = strategies::DenseOn::allreduce, .hot_keys = 5});
  SparseTrial workers(strategies::program(strategy));
  workers.workers = 2;
  workers.training.checkpoint_every_steps = 3;
  workers.cluster.failures.detection_s = 1e-4;
  SparseTrial trial = on_devices(workers, strategy);
  const Outcome plain = trial.run();
  for (int part = 0; part < 16; ++part) {
    CAPTURE(part);
    cluster::Crash crash;
    crash.rank = part % (2 * g);
    crash.at_s = (5.0 + part / 8.0) * plain.record.simulated_s / 12;
    crash.repair_s = 1e-3;
    trial.cluster.failures.crashes = {crash};
    const Outcome outcome = trial.run();
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.simulated_s > plain.record.simulated_s);
    CHECK(relative_distance(outcome.evaluated.back(), plain.evaluated.back()) < 1e-12);
  }
}

TEST_CASE("a server that waits for nobody takes the keys of whole hosts, the same ones on any number of threads") {
  for (const Consistency consistency : {Consistency::asp, Consistency::ssp}) {
    const auto strategy = sparse_strategy({.consistency = consistency, .shards = 2});
    SparseTrial trial(strategies::program(strategy));
    trial.workers = 2;
    trial.stop.steps = 60;
    trial.training.desynchronise = 0.05;
    trial = on_devices(trial, strategy);
    const Outcome outcome = trial.run();
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.final_loss < outcome.record.curve.front().loss.value());
    CHECK(outcome.record.samples % (trial.batch / 2) == 0);
    trial.threads = 4;
    CHECK(trial.run().evaluated == outcome.evaluated);
  }
}

TEST_CASE("keys go around a host, then their numbers, and gradients come back") {
  const auto strategy = sparse_strategy({});
  for (const char* const model : {"sparse_logistic", "factorization_machine"}) {
    CAPTURE(model);
    SparseTrial one(strategies::program(strategy));
    one.model = model;
    one.workers = 1;
    one.batch = one.rows;  // all of them, in every step
    one.cluster.charge_reductions = false;
    const std::shared_ptr<const data::Split> data = one.split();
    const auto& keys = data->train.sparse.keys;
    const auto u =
        static_cast<double>(std::set<std::uint32_t>(keys.begin(), keys.begin() + data->train.sparse.entries()).size());
    const auto plain = one.plain_model();
    const auto& sparse = dynamic_cast<const models::SparseModel&>(*plain);
    const models::Problem problem = SparseTrial::problem_of(data->train);
    const double numbers =
        u * static_cast<double>(sparse.width()) + static_cast<double>(sparse.dense_parameters(problem));
    const double flops = sparse.sparse_flops(problem, one.rows, data->train.sparse.entries());
    // A device passes the keys on before it takes the numbers, which are behind them.
    const double keys_s = 2 * (device_alpha + 4.0 * u / device_B), host_s = keys_s + 2 * around_s(8.0 * numbers);
    const double saved_s = (1.0 - 1.0 / g) * flops / one.cluster.host_spec.speed_flops_per_s;
    const double difference_s = on_devices(one, strategy).run().record.simulated_s - one.run().record.simulated_s;
    CHECK(difference_s == Approx(static_cast<double>(*one.stop.steps) * (host_s - saved_s)).epsilon(1e-9));
  }
}

}  // namespace host_products_test
