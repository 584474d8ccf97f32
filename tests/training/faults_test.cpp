// Programs that are wrong end as failed runs that say why.
#include <stdexcept>
#include <string>
#include <vector>

#include "training/plain_programs.h"

namespace faults_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;
using training::State;
using training::Worker;

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

}  // namespace faults_test
