// Sparse parameter servers against dense ones, against closed forms, and against themselves.
#include <cmath>
#include <set>

#include "strategies/sparse_trial.h"
#include "training/partitions/stream.h"

namespace sparse_parameter_server_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::DenseOn;
using training::Sharding;

namespace {

void check_same(const Outcome& a, const Outcome& b, double tolerance = 1e-12) {
  CAPTURE(a.record.error, b.record.error);
  REQUIRE(a.record.error.empty());
  REQUIRE(b.record.error.empty());
  CHECK(a.record.steps == b.record.steps);
  CHECK(relative_distance(a.final_parameters(), b.final_parameters()) < tolerance);
  REQUIRE(a.losses().size() == b.losses().size());
  for (std::size_t i = 0; i < a.losses().size(); ++i) CHECK(a.losses()[i] == Approx(b.losses()[i]).epsilon(tolerance));
}

SparseTrial with_model(SparseTrial trial, std::string_view model) {
  trial.model = model;
  trial.training.learning_rate = model == "sparse_logistic" ? 2.0 : 0.2;
  return trial;
}

}  // namespace

TEST_CASE(
    "sparse bsp equals the dense parameter server and one worker, for every model, sharding and place of dense "
    "parameters") {
  for (const char* model : {"sparse_logistic", "factorization_machine", "wide_and_deep"})
    for (const char* optimizer : {"sgd", "adagrad"}) {
      CAPTURE(model, optimizer);
      SparseTrial dense = with_model(parameter_server(Consistency::bsp), model);
      dense.training.optimizer.choose(optimizer);
      if (dense.training.optimizer.kind() == "adagrad") dense.training.learning_rate = 0.1;
      const Outcome expected = dense.run();
      CHECK(expected.losses().back() < expected.losses().front());
      const auto like_dense = [&](training::Program program, int workers = 4) {
        SparseTrial trial = dense;
        trial.program = std::move(program);
        trial.workers = workers;
        return trial.run();
      };
      check_same(like_dense(single(), 1), expected);
      check_same(like_dense(sparse_servers()), expected);
      check_same(like_dense(sparse_servers({.shards = 3})), expected);
      check_same(like_dense(sparse_servers({.shards = 3, .dealt_by = Sharding::hash})), expected);
      check_same(like_dense(sparse_servers({.shards = 4, .placement = strategies::Placement::colocated})), expected);
      check_same(like_dense(sparse_servers({.consistency = Consistency::ssp, .shards = 2, .staleness_bound = 0})),
                 expected);
      check_same(like_dense(sparse_servers({.shards = 2, .dense = DenseOn::allreduce})), expected);
      check_same(like_dense(sparse_servers({.shards = 2, .dense = DenseOn::allreduce, .hot_keys = 7})), expected);
    }
}

TEST_CASE("on dense data sparse_logistic with servers is logistic regression") {
  data::Dataset set;
  set.rows = 40;
  set.columns = 6;
  set.classes = 2;
  base::Stream stream({.seed = 3, .purpose = base::Purpose::test});
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 6; ++j) set.features.push_back(stream.normal());
    set.targets.push_back(stream.uniform() < 0.5 ? 0.0 : 1.0);
  }
  // By hand: the whole batch, w <- w - lr g.
  const auto model = models::registry().find("logistic_regression")->make();
  std::vector<double> w(6, 0.0), g(6);
  for (int step = 0; step < 12; ++step) {
    model->gradient({.features = 6, .classes = 2},
                    {.features = set.features.data(), .targets = set.targets.data(), .columns = 6, .count = 40}, w,
                    1.0 / 40.0, 0.0, g);
    for (std::size_t j = 0; j < 6; ++j) w[j] -= 2.0 * g[j];
  }
  SparseTrial trial = sparse_servers({.shards = 2});
  data::make_sparse(set);
  trial.data = set;
  trial.rows = trial.batch = 40;
  CHECK(relative_distance(trial.run().final_parameters(), w) < 1e-12);
}

TEST_CASE("sparse servers that apply each gradient as it comes say that a step is one worker's") {
  const std::vector<std::string> told{
      "stop.steps = 12: a step is one update by the gradient of one worker, and not of all"};
  for (const DenseOn dense : {DenseOn::servers, DenseOn::allreduce}) {
    SparseTrial stale = sparse_servers({.consistency = Consistency::asp, .dense = dense});
    CHECK(stale.run().record.notes == told);
    SparseTrial fresh = sparse_servers({.dense = dense});
    CHECK(fresh.run().record.notes.empty());
  }
}

TEST_CASE("a step takes its closed form, and the bytes are the keys' and the numbers'") {
  SparseTrial trial = sparse_servers();
  trial.workers = 1;
  trial.batch = trial.rows = 30;  // every step the same rows
  trial.stop.steps = 3;
  const Outcome outcome = trial.run();
  std::set<std::uint32_t> distinct;
  const auto made = trial.split();
  distinct.insert(made->train.sparse.keys.begin(), made->train.sparse.keys.end());
  const auto u = static_cast<double>(distinct.size());
  // The request alone; then every step: answered, computed, pushed with the next request, updated.
  const double t_c = 4.0 * 30 * 5 / speed, update = 2.0 * u / speed;
  const double step = (alpha + 8 * u / B) + t_c + (alpha + (4 + 8 + 4) * u / B) + update;
  // The last push carries no request: no batch follows.
  CHECK(outcome.record.simulated_s == Approx(alpha + 4 * u / B + 3 * step - 4 * u / B).epsilon(1e-9));
  CHECK(outcome.record.bytes == static_cast<std::int64_t>(3 * (4 + 8 + 4 + 8) * u));
  CHECK(outcome.record.messages == 1 + 3 * 2);
}

TEST_CASE("numbers that are rounded weigh less and are rounded") {
  SparseTrial trial = sparse_servers();
  trial.workers = 1;
  trial.batch = trial.rows = 30;
  trial.stop.steps = 3;
  const Outcome whole = trial.run();
  trial.program = sparse_servers({.values = values::Format::float32});
  const Outcome half = trial.run();
  const std::int64_t u = whole.record.bytes / 72;
  CHECK(half.record.bytes == 3 * 16 * u);
  const double distance = relative_distance(half.final_parameters(), whole.final_parameters());
  CHECK(distance > 1e-12);
  CHECK(distance < 1e-6);
  // Rounded and made whole again, on the way to the worker and back.
  const auto n = static_cast<double>(u);
  const double step = 2 * n / speed + (alpha + 4 * n / B) + 4.0 * 30 * 5 / speed + 2 * n / speed +
                      (alpha + (4 + 4 + 4) * n / B) + 2 * n / speed;
  CHECK(half.record.simulated_s == Approx(alpha + 3 * step).epsilon(1e-9));  // no request in the last push
}

TEST_CASE("replicas are all-reduced in the same format as rows are pushed") {
  SparseTrial trial = with_model(sparse_servers({.dense = DenseOn::allreduce}), "wide_and_deep");
  trial.workers = 2;
  const Outcome whole = trial.run();
  trial.program = sparse_servers({.dense = DenseOn::allreduce, .values = values::Format::float32});
  const Outcome half = trial.run();
  trial.program = sparse_servers({.values = values::Format::float32});
  const Outcome on_servers = trial.run();
  trial.program = sparse_servers();
  // A ring of two sends what a push and an answer would, but no server takes part: of each worker once instead of
  // twice.
  const std::int64_t steps = whole.record.steps, dense = (5 * 2 + 1) * 4 + (4 + 1);
  const std::int64_t dense_of_servers = steps * 2 * 2 * dense, dense_of_ring = steps * 2 * dense;
  CHECK(trial.run().record.bytes - whole.record.bytes == 8 * (dense_of_servers - dense_of_ring));
  CHECK(on_servers.record.bytes - half.record.bytes == 4 * (dense_of_servers - dense_of_ring));
  const double distance = relative_distance(half.final_parameters(), whole.final_parameters());
  CHECK(distance > 1e-12);
  CHECK(distance < 1e-5);
}

TEST_CASE("a cache with bound 0 is none, and any other saves bytes") {
  for (const Consistency consistency : {Consistency::bsp, Consistency::asp}) {
    SparseTrial trial = sparse_servers({.consistency = consistency, .shards = 2});
    trial.training.learning_rate = 0.5;
    trial.stop.steps = consistency == Consistency::bsp ? 20 : 80;
    const Outcome none = trial.run();
    trial.program = sparse_servers({.consistency = consistency, .shards = 2, .cache_bound = 0});
    const Outcome zero = trial.run();
    CHECK(zero.final_parameters() == none.final_parameters());
    CHECK(zero.record.bytes == none.record.bytes);
    std::int64_t bytes = none.record.bytes;
    for (const std::int64_t bound : {1, 3, 10}) {
      trial.program = sparse_servers({.consistency = consistency, .shards = 2, .cache_bound = bound});
      const Outcome cached = trial.run();
      CHECK(cached.record.error.empty());
      CHECK(cached.record.bytes < bytes);
      CHECK(cached.losses().back() < cached.losses().front());
      CHECK(cached.record.cache_hit_rate.value() > 0.0);
      CHECK(cached.record.cache_hit_rate.value() < 1.0);
      bytes = cached.record.bytes;
    }
  }
}

TEST_CASE("a worker sees its own updates of the keys that it has kept") {
  for (const char* model : {"sparse_logistic", "wide_and_deep"})
    for (const Consistency consistency : {Consistency::bsp, Consistency::asp, Consistency::ssp}) {
      CAPTURE(model, static_cast<int>(consistency));
      SparseTrial trial =
          with_model(sparse_servers({.consistency = consistency, .shards = 3, .cache_bound = 3}), model);
      trial.workers = 1;
      const Outcome cached = trial.run();
      trial.program = single();
      check_same(cached, trial.run());
      CHECK(cached.record.cache_hit_rate.value() > 0.5);
      if (consistency != Consistency::bsp) CHECK(cached.record.staleness_max == 0.0);
    }
}

TEST_CASE("under adagrad a cached key's numbers are those of the step at which it was fetched") {
  // One worker, the same rows in every step: with bound b all keys are fetched at steps 0, b + 1, 2 (b + 1), ..., and
  // the gradients between are the first one's again.
  SparseTrial trial = sparse_servers({.consistency = Consistency::asp, .cache_bound = 2});
  trial.training.optimizer.choose("adagrad");
  trial.training.learning_rate = 0.1;
  trial.workers = 1;
  trial.batch = trial.rows = 30;
  trial.stop.steps = 6;
  const Outcome cached = trial.run();
  const auto made = trial.split();
  const data::SparseRows& entries = made->train.sparse;
  const models::Samples rows{.targets = made->train.targets.data(),
                             .columns = 60,
                             .count = 30,
                             .starts = entries.starts.data(),
                             .keys = entries.keys.data(),
                             .values = entries.values.empty() ? nullptr : entries.values.data()};
  std::vector<double> w(60, 0.0), squares(60, 0.0), g(60);
  for (int step = 0; step < 6; ++step) {
    if (step % 3 == 0) trial.plain_model()->gradient(trial.problem_of(made->train), rows, w, 1.0 / 30.0, 0.0, g);
    for (std::size_t i = 0; i < 60; ++i) {
      squares[i] += g[i] * g[i];
      w[i] -= 0.1 * g[i] / (std::sqrt(squares[i]) + 1e-10);
    }
  }
  CHECK(relative_distance(cached.final_parameters(), w) < 1e-6);
  // The request for step 3 rides on step 2's push, so that it is answered after that. Of 7 requests, the last one's is
  // never used under asp, 3 found nothing.
  CHECK(cached.record.cache_hit_rate.value() == Approx(4.0 / 7.0).epsilon(1e-12));
  CHECK(cached.record.staleness_max == 2.0);
  CHECK(cached.record.staleness_mean.value() == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("a staleness is that of the oldest row in use, whether it came with the answer or was kept") {
  // All take the same keys at the same speed: kept for two steps, fetched at every third.
  for (const std::int64_t bound : {0, 2}) {
    SparseTrial trial = sparse_servers({.consistency = Consistency::ssp, .staleness_bound = 0, .cache_bound = bound});
    trial.rows = trial.batch = 4;
    trial.stop.steps = 30;
    CHECK(trial.run().record.staleness_max == static_cast<double>(bound));
    trial.program = sparse_servers({.consistency = Consistency::ssp, .staleness_bound = 1, .cache_bound = bound});
    trial.stop.steps = 90;
    trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 1e-5};
    // Before the slow worker's first update the three others make 1 + 1 each, and then one each before every other. Its
    // row is kept for `bound` more of them; its own updates are in the row.
    CHECK(trial.run().record.staleness_max == static_cast<double>(3 * (1 + 1) + 3 * bound));
  }
}

TEST_CASE("asp with one worker is sequential, whatever the servers") {
  SparseTrial trial = sparse_servers({.consistency = Consistency::asp, .shards = 3, .dealt_by = Sharding::hash});
  trial.workers = 1;
  const Outcome asp = trial.run();
  trial.program = single();
  check_same(asp, trial.run());
  CHECK(asp.record.staleness_max == 0.0);
}

TEST_CASE("of a stream, only keys of rows that have come in are pulled and changed") {
  data::Dataset set;  // row i has key i alone
  set.rows = set.columns = 60;
  set.classes = 2;
  set.in_time = true;
  for (std::uint32_t i = 0; i < 60; ++i) {
    set.sparse.starts.push_back(i);
    set.sparse.keys.push_back(i);
    set.targets.push_back(i % 2);
  }
  set.sparse.starts.push_back(60);
  SparseTrial trial = sparse_servers({.consistency = Consistency::asp, .shards = 2});
  trial.data = set;
  trial.workers = 1;
  trial.batch = 8;
  trial.training.partition.choose("stream");
  auto& stream = dynamic_cast<training::Stream&>(*trial.training.partition.object());
  stream.window = 10;
  // The first window is there at once; the last one never comes in.
  for (const bool at_once : {false, true}) {
    CAPTURE(at_once);
    stream.duration_s = at_once ? 1e-9 : 1e9;
    const std::vector<double> w = trial.run().final_parameters();
    REQUIRE(w.size() == 60);
    for (std::size_t key = 0; key < 60; ++key) {
      if (key >= 10 && (!at_once || key < 40 || key >= 50)) CHECK(w[key] == 0.0);
      if (key >= 40 && key < 50) CHECK((w[key] != 0.0) == at_once);
    }
  }
}

TEST_CASE("the results do not depend on the threads") {
  for (const Consistency consistency : {Consistency::bsp, Consistency::asp, Consistency::ssp})
    for (const DenseOn dense : {DenseOn::servers, DenseOn::allreduce}) {
      SparseTrial trial = with_model(
          sparse_servers({.consistency = consistency, .shards = 2, .cache_bound = 2, .dense = dense}), "wide_and_deep");
      trial.stop.steps = 40;
      const Outcome inline_ = trial.run();
      trial.threads = 3;
      const Outcome pooled = trial.run();
      CHECK(inline_.final_parameters() == pooled.final_parameters());
      CHECK(inline_.losses() == pooled.losses());
      CHECK(inline_.record.simulated_s == pooled.record.simulated_s);
    }
}

TEST_CASE("ssp keeps within its bound, and nobody waits for a straggler under asp") {
  for (const std::int64_t bound : {1, 3}) {
    SparseTrial trial = sparse_servers({.consistency = Consistency::ssp, .shards = 2, .staleness_bound = bound});
    trial.stop.steps = 100;
    trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 1e-5};
    // Each of the three others gives bound + 1 gradients before the slow one's first, and waits.
    CHECK(trial.run().record.staleness_max == static_cast<double>(3 * (bound + 1)));
  }
}

TEST_CASE("evaluations by time, a limit of samples and a target see what the servers hold") {
  SparseTrial trial = sparse_servers({.consistency = Consistency::asp, .shards = 2});
  trial.evaluate.every_steps.reset();
  trial.evaluate.every_s = 3e-4;
  trial.stop.steps.reset();
  trial.stop.samples = 2000;
  const Outcome by_time = trial.run();
  CHECK(by_time.record.error.empty());
  CHECK(by_time.record.samples >= 2000);
  CHECK(by_time.record.curve.size() > 3);
  CHECK(by_time.losses().back() < by_time.losses().front());
  trial.stop.loss = 0.5 * (by_time.losses().back() + by_time.losses().front());
  CHECK(trial.run().record.status == record::Status::reached);
}

TEST_CASE("a restart from a checkpoint goes on with the very same parameters") {
  for (const DenseOn dense : {DenseOn::servers, DenseOn::allreduce})
    for (const char* optimizer : {"sgd", "adagrad"}) {
      SparseTrial trial =
          with_model(sparse_servers({.shards = 2, .dealt_by = Sharding::hash, .dense = dense}), "wide_and_deep");
      trial.training.optimizer.choose(optimizer);
      trial.training.checkpoint_every_steps = 4;
      trial.cluster.failures.detection_s = 1e-4;
      const Outcome undisturbed = trial.run();
      cluster::Crash crash;
      crash.at_s = 0.6 * undisturbed.record.simulated_s;
      crash.repair_s = 1e-3;
      for (const cluster::Role role : {cluster::Role::worker, cluster::Role::server}) {
        crash.role = role;
        crash.rank = 1;
        trial.cluster.failures.crashes = {crash};
        const Outcome outcome = trial.run();
        CAPTURE(outcome.record.error);
        CHECK(outcome.record.status == record::Status::stopped);
        CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
        CHECK(outcome.final_parameters() == undisturbed.final_parameters());
      }
    }
}

TEST_CASE("sparse servers under every straggler, with every recovery they allow, come to a sensible end") {
  for (const auto& straggler : cluster::stragglers().entries()) {
    if (straggler.about.kind == "trace") continue;  // a file of any of the others
    for (const SparseServers& options :
         {SparseServers{.shards = 2}, SparseServers{.consistency = Consistency::asp, .shards = 2, .cache_bound = 2},
          SparseServers{.consistency = Consistency::ssp, .shards = 2, .staleness_bound = 2},
          SparseServers{.consistency = Consistency::asp, .dense = DenseOn::allreduce, .hot_keys = 5}})
      for (const cluster::Recovery recovery : sparse_strategy(options)->traits(4).recoveries)
        for (const int rank : {0, 3}) {
          SparseTrial trial = sparse_servers(options);
          CAPTURE(straggler.about.kind, name(recovery), rank, static_cast<int>(options.consistency));
          trial.stop.steps = options.consistency == Consistency::bsp ? 20 : 80;
          trial.training.checkpoint_every_steps = 4;
          trial.cluster.stragglers.choose(straggler.about.kind);
          trial.cluster.failures.recovery = recovery;
          trial.cluster.failures.detection_s = 1e-4;
          trial.cluster.watchdog.simulated_s = 1e6;
          cluster::Crash worker, server;
          worker.rank = rank;
          worker.at_s = 1e-3;
          worker.repair_s = server.repair_s = 1e-3;
          server.role = cluster::Role::server;
          server.at_s = 4e-3;
          trial.cluster.failures.crashes = {worker, server};
          const Outcome outcome = trial.run();
          CAPTURE(outcome.record.error);
          CHECK(outcome.record.status == record::Status::stopped);
          CHECK(outcome.record.steps == trial.stop.steps);
          CHECK(*outcome.record.final_loss < *outcome.record.curve.front().loss);
        }
  }
}

}  // namespace sparse_parameter_server_test
