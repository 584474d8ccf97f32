// When a training ends, and what it counts.
#include "training/session/training.h"

#include "training/plain_programs.h"

namespace training_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;
using training::Program;
using training::Server;
using training::State;
using training::Worker;

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

TEST_CASE("a run says how many workers have no rows, where a batch has fewer rows than there are workers") {
  const auto notes_of = [](std::int64_t batch) {
    Trial trial = centiseconds();
    trial.workers = 4;
    trial.batch = batch;
    trial.stop.steps = 3;
    return trial.run().record.notes;
  };
  CHECK(notes_of(4).empty());
  CHECK(notes_of(3) ==
        std::vector<std::string>{"a batch of 3 rows for 4 workers leaves 1 of them without rows in every step"});
  CHECK(notes_of(1) ==
        std::vector<std::string>{"a batch of 1 row for 4 workers leaves 3 of them without rows in every step"});
  // Splits of the batch are dealt to whoever is free, and updates of servers wait for no one.
  const training::Batches batches({.rows = 48, .batch = 1});
  CHECK(about_rows({}, batches, 4).starts_with("a batch of 1 row"));
  CHECK(about_rows({.free_workers_take = "splits = 2"}, batches, 4).empty());
  CHECK(about_rows({.pace = training::Traits::Pace::server_updates}, batches, 4).empty());
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

  trial.stop.loss = *whole.curve[0].loss;
  const record::Record untrained = trial.run().record;
  CHECK(untrained.steps == 0);
  CHECK(untrained.notes.back().starts_with("the untrained model meets the target"));
  trial.stop.loss = target;

  trial.evaluate.every_steps = 5;  // evaluations every five steps see it at step 10
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
  trial.cluster.host_spec.bandwidth_bytes_per_s = 40e3;
  const double step_s = 0.0025 + alpha + 0.001;
  struct Case {
    double limit_s;
    std::int64_t messages;
    double communicate_s;
  };
  for (const Case& each : {Case{2 * step_s + 0.002, 8, 2 * 0.00105},                           // computing
                           Case{2 * step_s + 0.0025 + 0.0003, 12, 2 * 0.00105 + 0.0003},       // sending
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

TEST_CASE("a message that has arrived counts, though its receiver has not come for it at the time limit") {
  Trial trial = centiseconds();
  trial.workers = 2;
  trial.program.work = [](Worker& worker) {
    State state = worker.start();
    worker.continues(state);
    if (worker.comm().rank() == 0) {
      worker.comm().send(1, state.w);  // 50 us; then 5 ms a gradient
      worker.gradient(state.w);
    } else {
      cluster::Pending receive = worker.comm().start_receive(0);
      worker.gradient(state.w);
      receive.wait();
    }
  };
  trial.stop.time_s = 0.001;
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.messages == 1);
  CHECK(record.bytes == 40);
  CHECK(record.ranks[0].communicate_s == Approx(alpha + 40 / B).epsilon(1e-9));
}

TEST_CASE("whichever rule comes first ends the run") {
  Trial trial = centiseconds();
  trial.stop.steps = 4;
  trial.stop.time_s = 0.035;
  CHECK(trial.run().record.simulated_s == 0.035);
  trial.stop.time_s = 0.045;
  CHECK(trial.run().record.simulated_s == Approx(0.04).epsilon(1e-12));
}

TEST_CASE("a server's updates are the steps, and its gradients' ages the staleness") {
  // One server applies what two workers push; a worker's parameters are two updates old when its turn comes again.
  Program program;
  program.traits = [](int) {
    return training::Traits{
        .pace = training::Traits::Pace::server_updates, .holder = training::Holder::servers, .servers = 1};
  };
  program.work = [](Worker& worker) {
    cluster::Packet pulled = worker.comm().receive(worker.server());
    for (;;) {
      const values::Tensor g = worker.gradient(pulled.tensor);
      worker.comm().send(worker.server(), {g, pulled.attached});
      pulled = worker.comm().receive(worker.server());
    }
  };
  program.serve = [](Server& server) {
    State state = server.start();
    for (int worker = 0; worker < 2; ++worker) server.comm().send(worker, {state.w, state.step});
    for (int turn = 0; server.continues(state); turn = 1 - turn) {
      const cluster::Packet push = server.comm().receive(turn);
      server.count(turn, state.step - push.note<std::int64_t>());
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
  CHECK(record.staleness_mean.value() == Approx(7.0 / 8.0).epsilon(1e-12));
  CHECK(record.staleness_counts == std::map<std::int64_t, std::int64_t>{{0, 1}, {1, 7}});
  CHECK(record.steps == 8);
  CHECK(record.samples == 8 * 24);  // those applied: what was under way at the end does not count
  CHECK(record.epochs == 4.0);
  CHECK(!record.curve.back().consensus_distance);  // there is one set of parameters
}

}  // namespace training_test
