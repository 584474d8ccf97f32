// When a training ends, what stands in its curve, and what it counts.
#include "training/training.h"

#include <cmath>

#include "training/trial.h"

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;
using training::Program;
using training::Server;
using training::State;
using training::Worker;

namespace {

/// Every rank for itself: no word between them.
Program alone() {
  Program program;
  program.work = [](Worker& worker) {
    State state = worker.start();
    while (worker.continues(state)) worker.update(state, worker.gradient(state.w));
  };
  return program;
}

/// The ranks compute, then all send their parameters to the next one.
Program passing_on() {
  Program program;
  program.work = [](Worker& worker) {
    const int P = worker.comm().size();
    State state = worker.start();
    while (worker.continues(state)) {
      worker.update(state, worker.gradient(state.w));
      worker.comm().exchange(state.w, (worker.comm().rank() + 1) % P, (worker.comm().rank() + P - 1) % P);
    }
  };
  return program;
}

/// One worker whose step takes 10 ms: 48 rows, and updates for free.
Trial centiseconds() {
  Trial trial{.program = alone(), .workers = 1, .rows = 48};
  trial.flops_a_row = 1e7 / 48;
  trial.cluster.charge_reductions = false;
  return trial;
}

std::vector<std::int64_t> steps_of(const record::Record& record) {
  std::vector<std::int64_t> all;
  for (const auto& row : record.curve) all.push_back(row.step);
  return all;
}

/// Mean loss of (x . w - y)^2 / 2 over all rows.
double loss_at(const data::Dataset& set, const std::vector<double>& w) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < set.rows; ++i) {
    double s = -set.targets[static_cast<std::size_t>(i)];
    for (std::size_t j = 0; j < w.size(); ++j) s += set.row(i)[j] * w[j];
    sum += s * s / 2.0;
  }
  return sum / static_cast<double>(set.rows);
}

}  // namespace

TEST_CASE("stop.steps ends after so many updates, and the curve has every step from 0 on") {
  Trial trial = centiseconds();
  trial.stop.steps = 5;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::stopped);
  CHECK(record.steps == 5);
  CHECK(record.samples == 5 * 48);
  CHECK(record.epochs == 5.0);
  CHECK(record.simulated_s == Approx(0.05).epsilon(1e-12));
  CHECK(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  for (const auto& row : record.curve) {
    CHECK(row.simulated_s == Approx(0.01 * static_cast<double>(row.step)).epsilon(1e-12));
    CHECK(row.samples == 48 * row.step);
  }
  CHECK(record.final_loss == record.curve.back().loss);
  CHECK(record.metric_name == "r2");
  CHECK(record.network_model == "ideal");
  check_partition_of_time(record);
}

TEST_CASE("stop.samples and stop.epochs end with the step that reaches them") {
  struct Case {
    std::optional<std::int64_t> samples;
    std::optional<double> epochs;
    std::int64_t steps;
  };
  // batches of 20 out of 48 rows
  for (const Case& each : {Case{60, {}, 3}, Case{61, {}, 4}, Case{1, {}, 1}, Case{{}, 1.0, 3}, Case{{}, 2.5, 6},
                           Case{{}, 0.01, 1}, Case{100, 1.0, 3}, Case{20, 10.0, 1}}) {
    Trial trial = centiseconds();
    trial.batch = 20;
    trial.stop.samples = each.samples;
    trial.stop.epochs = each.epochs;
    const record::Record record = trial.run().record;
    CHECK(record.steps == each.steps);
    CHECK(record.samples == 20 * each.steps);
    CHECK(record.epochs == Approx(20.0 * static_cast<double>(each.steps) / 48.0).epsilon(1e-15));
    CHECK(record.status == Status::stopped);
  }
}

TEST_CASE("stop.loss ends at the first evaluation at or below the target, and says when") {
  Trial trial = centiseconds();
  trial.stop.steps = 60;
  const record::Record whole = trial.run().record;
  const double target = *whole.curve[7].loss;
  trial.stop.loss = target;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::reached);
  CHECK(record.steps == 7);
  CHECK(record.time_to_target_s == whole.curve[7].simulated_s);
  CHECK(record.simulated_s == whole.curve[7].simulated_s);
  CHECK(record.final_loss == target);
  CHECK(record.curve.size() == 8);

  trial.evaluate.every_steps = 5;  // who looks every five steps sees it at step 10
  CHECK(trial.run().record.steps == 10);
  CHECK(!whole.time_to_target_s);
}

TEST_CASE("a target that holds at step 0 is reached at time 0") {
  Trial trial = centiseconds();
  trial.stop.loss = 1e9;
  trial.stop.steps = 10;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::reached);
  CHECK(record.time_to_target_s == 0.0);
  CHECK(record.simulated_s == 0.0);
  CHECK(record.steps == 0);
  CHECK(record.samples == 0);
}

TEST_CASE("a target that is not reached ends as the other rule says") {
  Trial trial = centiseconds();
  trial.stop.loss = 0.0;
  trial.stop.steps = 3;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::stopped);
  CHECK(!record.time_to_target_s);
}

TEST_CASE("every_steps evaluates at its multiples, at step 0 and at the last step") {
  Trial trial = centiseconds();
  trial.stop.steps = 11;
  trial.evaluate.every_steps = 4;
  CHECK(steps_of(trial.run().record) == std::vector<std::int64_t>{0, 4, 8, 11});
  trial.evaluate.every_steps = 100;
  CHECK(steps_of(trial.run().record) == std::vector<std::int64_t>{0, 11});
}

TEST_CASE("every_s evaluates the present state at multiples of its period, and takes no virtual time") {
  Trial trial = centiseconds();
  trial.stop.steps = 5;
  trial.evaluate.every_s = 0.012;
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(0.05).epsilon(1e-12));
  // At 12, 24, 36 and 48 ms the states of steps 1, 2, 3 and 4 are there; and step 0 and the last.
  const std::vector<double> times{0.0, 0.012, 0.024, 0.036, 0.048, 0.05};
  REQUIRE(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(record.curve[i].simulated_s == Approx(times[i]).epsilon(1e-12));
}

TEST_CASE("every_s and every_steps together evaluate at both") {
  Trial trial = centiseconds();
  trial.stop.steps = 4;
  trial.evaluate.every_s = 0.016;
  trial.evaluate.every_steps = 2;
  const record::Record record = trial.run().record;
  CHECK(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(record.curve[1].simulated_s == Approx(0.016).epsilon(1e-12));
  CHECK(record.curve[2].simulated_s == Approx(0.02).epsilon(1e-12));
  CHECK(record.curve[3].simulated_s == Approx(0.032).epsilon(1e-12));
}

TEST_CASE("how often one looks changes nothing but the curve") {
  Trial often = centiseconds();
  often.workers = 4;
  often.program = passing_on();
  often.stop.steps = 12;
  Trial seldom = often;
  seldom.evaluate.every_steps = 12;
  Trial by_time = often;
  by_time.evaluate.every_s = 0.0007;
  const Outcome reference = often.run();
  for (const Trial& trial : {seldom, by_time}) {
    const Outcome outcome = trial.run();
    CHECK(outcome.record.simulated_s == reference.record.simulated_s);
    CHECK(outcome.record.bytes == reference.record.bytes);
    CHECK(outcome.record.samples == reference.record.samples);
    CHECK(outcome.final_parameters() == reference.final_parameters());
    for (std::size_t r = 0; r < 4; ++r) {
      CHECK(outcome.record.ranks[r].compute_s == Approx(reference.record.ranks[r].compute_s).epsilon(1e-12));
      CHECK(outcome.record.ranks[r].wait_s == Approx(reference.record.ranks[r].wait_s).margin(1e-12));
    }
  }
}

TEST_CASE("stop.time ends exactly then, in the middle of whatever goes on") {
  Trial trial = centiseconds();
  trial.stop.time_s = 0.0333;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::stopped);
  CHECK(record.simulated_s == 0.0333);
  CHECK(record.steps == 3);
  CHECK(record.samples == 3 * 48);
  CHECK(record.ranks[0].compute_s == Approx(0.0333).epsilon(1e-12));
  CHECK(steps_of(record) == std::vector<std::int64_t>{0, 1, 2, 3});
  check_partition_of_time(record);
}

TEST_CASE("at the time limit the last state stands in the curve, at the limit if nobody has looked at it") {
  Trial trial = centiseconds();
  trial.stop.time_s = 0.0333;
  trial.evaluate.every_steps = 2;
  const record::Record record = trial.run().record;
  CHECK(steps_of(record) == std::vector<std::int64_t>{0, 2, 3});
  CHECK(record.curve.back().simulated_s == 0.0333);
}

TEST_CASE("at the time limit the bytes of transfers under way count in full, and their time until then") {
  // 12 rows a rank: 2.5 ms; then a message of 40 bytes at 40 kB/s: 50 us and 1 ms.
  Trial trial = centiseconds();
  trial.workers = 4;
  trial.program = passing_on();
  trial.cluster.machine.bandwidth_bytes_per_s = 40e3;
  const double step_s = 0.0025 + alpha + 0.001;
  struct Case {
    double limit_s;
    std::int64_t messages;
    double communicate_s;
  };
  for (const Case& each : {Case{2 * step_s + 0.002, 8, 2 * 0.00105},             // computing
                           Case{2 * step_s + 0.0025 + 0.0003, 12, 2 * 0.00105 + 0.0003},  // sending
                           Case{2 * step_s + 0.0025 + 0.00002, 12, 2 * 0.00105 + 0.00002}}) {  // the first bits fly
    trial.stop.time_s = each.limit_s;
    const record::Record record = trial.run().record;
    CHECK(record.simulated_s == each.limit_s);
    CHECK(record.messages == each.messages);
    CHECK(record.bytes == 40 * each.messages);
    for (const auto& use : record.ranks) {
      CHECK(use.bytes_sent == 10 * each.messages);
      CHECK(use.bytes_received == 10 * each.messages);
      CHECK(use.communicate_s == Approx(each.communicate_s).epsilon(1e-9));
      CHECK(use.wait_s == Approx(0.0).margin(1e-12));
    }
    check_partition_of_time(record);
  }
}

TEST_CASE("at the time limit a message whose receiver is still on its way neither counts nor is a fault") {
  Trial trial = centiseconds();
  trial.workers = 2;
  trial.program.work = [](Worker& worker) {
    State state = worker.start();
    worker.continues(state);
    if (worker.comm().rank() == 0) worker.comm().send(1, state.w);
    worker.gradient(state.w);  // rank 1 never receives
    worker.gradient(state.w);
  };
  trial.stop.time_s = 0.001;
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.bytes == 0);
  CHECK(record.messages == 0);
  CHECK(record.ranks[0].wait_s == 0.001);
}

TEST_CASE("whichever rule comes first ends the run") {
  Trial trial = centiseconds();
  trial.stop.steps = 4;
  trial.stop.time_s = 0.035;
  CHECK(trial.run().record.simulated_s == 0.035);
  trial.stop.time_s = 0.045;
  CHECK(trial.run().record.simulated_s == Approx(0.04).epsilon(1e-12));
}

TEST_CASE("a loss that is not finite ends the run as diverged, with the step in the notes") {
  Trial trial = centiseconds();
  trial.training.learning_rate = 1e60;
  trial.stop.steps = 100;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::diverged);
  CHECK(record.error.empty());
  CHECK(record.steps < 100);
  REQUIRE(record.notes.size() == 1);
  CHECK(record.notes[0] == "the loss is not finite at step " + std::to_string(record.steps));
  CHECK(!std::isfinite(*record.final_loss));
  CHECK(record.simulated_s == Approx(0.01 * static_cast<double>(record.steps)).epsilon(1e-12));
}

TEST_CASE("evaluations are the mean loss over the training set, or over the test set") {
  for (const auto on : {training::EvaluationSet::train, training::EvaluationSet::test}) {
    Trial trial = centiseconds();
    trial.test_rows = 31;
    trial.stop.steps = 6;
    trial.evaluate.on = on;
    const Outcome outcome = trial.run();
    const data::Split split = trial.data();
    const data::Dataset& set = on == training::EvaluationSet::train ? split.train : split.test;
    REQUIRE(outcome.evaluated.size() == 7);
    for (std::size_t k = 0; k < 7; ++k) {
      const double loss = loss_at(set, outcome.evaluated[k]);
      CHECK(*outcome.record.curve[k].loss == Approx(loss).epsilon(1e-13));
      double mean = 0.0;
      for (const double y : set.targets) mean += y / static_cast<double>(set.rows);
      double deviation = 0.0;
      for (const double y : set.targets) deviation += (y - mean) * (y - mean) / static_cast<double>(set.rows);
      CHECK(*outcome.record.curve[k].metric == Approx(1.0 - 2.0 * loss / deviation).epsilon(1e-12));  // r2
    }
  }
}

TEST_CASE("an evaluation of more rows than a piece holds is the mean over all of them") {
  Trial trial = centiseconds();
  trial.rows = 5000;
  trial.stop.steps = 1;
  trial.evaluate.every_steps = 1;
  const record::Record record = trial.run().record;
  CHECK(*record.curve[0].loss == Approx(loss_at(trial.data().train, std::vector<double>(5))).epsilon(1e-12));
}

TEST_CASE("the loss of replicas that differ is that of their mean, with their distance beside it") {
  // Each rank goes its own way with its own rows: w_r = lr g_r after one step from zero.
  Trial trial = centiseconds();
  trial.workers = 3;
  trial.stop.steps = 1;
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> replicas;
  std::vector<double> mean(5);
  for (int r = 0; r < 3; ++r) {
    auto w = gradient_of(trial, set, trial.batches().rows(0, r, 3), std::vector<double>(5), 1.0 / 48.0);
    for (std::size_t i = 0; i < 5; ++i) mean[i] += (w[i] *= -trial.training.learning_rate) / 3.0;
    replicas.push_back(w);
  }
  double squares = 0.0;
  for (const auto& w : replicas)
    for (std::size_t i = 0; i < 5; ++i) squares += (w[i] - mean[i]) * (w[i] - mean[i]);
  CHECK(relative_distance(outcome.final_parameters(), mean) < 1e-14);
  CHECK(*outcome.record.final_loss == Approx(loss_at(set, mean)).epsilon(1e-13));
  CHECK(*outcome.record.curve[0].consensus_distance == 0.0);
  CHECK(*outcome.record.curve[1].consensus_distance == Approx(std::sqrt(squares / 3.0)).epsilon(1e-12));
}

TEST_CASE("a step is observed when the last rank has come to it") {
  Trial trial = centiseconds();
  trial.workers = 3;
  trial.rows = 48;
  trial.cluster.relative_speeds = {1.0, 0.5, 1.0};
  trial.stop.steps = 4;
  const record::Record record = trial.run().record;
  const double gradient_s = 0.01 / 3.0;
  for (const auto& row : record.curve)
    CHECK(row.simulated_s == Approx(2.0 * gradient_s * static_cast<double>(row.step)).epsilon(1e-12));
  CHECK(record.ranks[1].wait_s == Approx(0.0).margin(1e-12));
  // A rank that has finished before the training ends is waiting.
  CHECK(record.ranks[0].wait_s == Approx(4 * gradient_s).epsilon(1e-9));
  CHECK(record.ranks[0].compute_s == Approx(4 * gradient_s).epsilon(1e-9));
  check_partition_of_time(record);
}

TEST_CASE("a timing-only run has no losses, no metric and no consensus, and takes the same time") {
  Trial trial = centiseconds();
  trial.workers = 4;
  trial.program = passing_on();
  trial.stop.steps = 5;
  const record::Record real = trial.run().record;
  trial.training.numbers = false;
  const record::Record timing = trial.run().record;
  CHECK(timing.simulated_s == real.simulated_s);
  CHECK(timing.bytes == real.bytes);
  CHECK(timing.curve.size() == real.curve.size());
  CHECK(!timing.final_loss);
  CHECK(timing.metric_name.empty());
  for (const auto& row : timing.curve) CHECK((!row.loss && !row.metric && !row.consensus_distance));
}

TEST_CASE("a message that nobody received fails a synchronous run") {
  Trial trial = centiseconds();
  trial.workers = 2;
  trial.program.work = [](Worker& worker) {
    State state = worker.start();
    std::vector<cluster::Pending> forgotten;
    while (worker.continues(state)) {
      if (worker.comm().rank() == 0) forgotten.push_back(worker.comm().start_send(1, state.w));
      worker.update(state, worker.gradient(state.w));
    }
  };
  trial.stop.steps = 2;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::failed);
  CHECK(record.error == "rank 0 has sent 40 bytes to rank 1, which nobody received");
}

TEST_CASE("a deadlock fails the run and says who waits for whom, time limit or not") {
  Trial trial = centiseconds();
  trial.workers = 2;
  trial.program.work = [](Worker& worker) {
    State state = worker.start();
    worker.continues(state);
    worker.gradient(state.w);
    worker.comm().receive(1 - worker.comm().rank());
  };
  trial.stop.steps = 2;
  const std::string who = "rank 0 (step 0) waits to receive from rank 1; rank 1 (step 0) waits to receive from rank 0";
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::failed);
  CHECK(record.error == "deadlock at 0.005 s of simulated time: " + who);
  trial.stop.time_s = 2.0;
  const record::Record limited = trial.run().record;
  CHECK(limited.status == Status::failed);
  CHECK(limited.error == "deadlock before 2 s of simulated time: " + who);
  trial.evaluate.every_s = 1.0;
  CHECK(trial.run().record.error == "deadlock before 1 s of simulated time: " + who);
}

TEST_CASE("an exception in a strategy fails the run with rank, step and time") {
  Trial trial = centiseconds();
  trial.workers = 2;
  trial.program.work = [](Worker& worker) {
    State state = worker.start();
    while (worker.continues(state)) {
      worker.update(state, worker.gradient(state.w));
      if (state.step == 3 && worker.comm().rank() == 1) throw std::runtime_error("out of cheese");
    }
  };
  trial.stop.steps = 10;
  const record::Record record = trial.run().record;
  CHECK(record.status == Status::failed);
  CHECK(record.error == "rank 1 (step 3, at 0.015 s): out of cheese");
}

TEST_CASE("a server's updates are the steps, and its gradients' ages the staleness") {
  // One server applies what two workers push; a worker's parameters are two updates old when its turn comes again.
  Program program;
  program.servers = 1;
  program.synchronous = false;
  program.work = [](Worker& worker) {
    cluster::Packet pulled = worker.comm().receive(worker.server());
    for (;;) {
      const values::Tensor g = worker.gradient(pulled.tensor);
      worker.comm().send(worker.server(), {g, pulled.version});
      pulled = worker.comm().receive(worker.server());
    }
  };
  program.serve = [](Server& server) {
    State state = server.start();
    for (int worker = 0; worker < 2; ++worker) server.comm().send(worker, {state.w, state.step});
    for (int turn = 0; server.continues(state); turn = 1 - turn) {
      const cluster::Packet push = server.comm().receive(turn);
      server.record_staleness(state.step - push.version);
      server.update(state, push.tensor);
      server.comm().send(turn, {state.w, state.step});
    }
  };
  Trial trial{.program = program, .workers = 2};
  trial.stop.samples = 8 * 24;  // half of the rows a gradient
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.ranks.back().role == "server");
  CHECK(record.ranks.front().role == "worker");
  // Ages: 0 and 1 at first, 1 from then on.
  CHECK(record.staleness_max.value() == 1.0);
  CHECK(record.staleness_mean.value() ==
        Approx(static_cast<double>(record.steps - 1) / static_cast<double>(record.steps)).epsilon(1e-12));
  CHECK(record.samples >= 8 * 24);
  CHECK(record.epochs == Approx(static_cast<double>(record.samples) / 48.0).epsilon(1e-15));
  CHECK(!record.curve.back().consensus_distance);  // there is one set of parameters
  check_partition_of_time(record);
}
