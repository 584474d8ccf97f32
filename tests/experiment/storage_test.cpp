// Scenarios with storages and turns: a disk draws no busy power, and a job's turn is waited for as such.
#include "experiment/jobs_scenario.h"

namespace storage_test {

using namespace simgrad;
using namespace simgrad::experiment;
using record::TimePart;

namespace {

record::Record simulated(const RunPlan& run) {
  record::Record record = simulate(run, nullptr, 0, nullptr);
  if (record.status == record::Status::failed) throw std::runtime_error(record.error);
  return record;
}

}  // namespace

TEST_CASE("a host is not busy while its disk is") {
  const Plan plan = planned(
      "[cluster]\nworkers = 4\nspeed = \"1GF\"\n[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = "
      "\"least_squares\"\n[training]\nnumbers = false\n[stop]\nsteps = 10\n"
      "[[strategy]]\nkind = \"mapreduce\"\nstorage = { kind = \"disk\", bandwidth = \"8Mbps\" }\n");
  const auto seconds = tests::numbers_of_child([&] {
    const record::Record record = simulated(plan.runs.front());
    return std::vector{record.hosts[0].busy_s, record.ranks[0].compute_s,
                       record.ranks[0].parts[TimePart::communicate_storage]};
  });
  const double gradient_s = 1000 * 4.0 * 100 / 1e9;
  const double disk_s = (1000 * 8.0 * 100 + 800) / 1e6;
  CHECK(seconds[0] == Approx(10 * gradient_s).epsilon(1e-9));
  CHECK(seconds[1] == Approx(10 * gradient_s).epsilon(1e-9));
  CHECK(seconds[2] == Approx(10 * disk_s).epsilon(1e-9));
}

TEST_CASE("a shared storage gives each reader its share, whatever else happens meanwhile") {
  // Seven rows of 47 B at 0.1 B/s. The traffic looks up at 3600 s, in the middle of a byte of the second step.
  const Plan plan = planned(
      "[cluster]\nworkers = 7\nbackground = [{ rate = \"1kbps\" }]\n[data]\nsamples = 70\nfeatures = 4\n[model]\nkind "
      "= "
      "\"least_squares\"\n[training]\nnumbers = false\nbatch_size_per_worker = 1\ninput = { from = \"shared\", "
      "bandwidth = \"0.8bps\", bytes_per_sample = \"47B\", prefetch = 0 }\n[stop]\nsteps = 2\n" +
      ring_allreduce);
  const auto seconds = tests::numbers_of_child([&] {
    const record::Record record = simulated(plan.runs.front());
    return std::vector{record.ranks[0].parts[TimePart::communicate_input]};
  });
  CHECK(seconds[0] == Approx(2 * 7 * 47 / 0.1).epsilon(1e-9));
}

TEST_CASE("a job that takes turns with another waits for its turn, and for nothing else") {
  const std::string jobs = job("a", "strategy = \"allreduce\"\nworkers = 4\nhosts = [0, 1, 2, 3]") +
                           job("b", "strategy = \"allreduce\"\nworkers = 4\nhosts = [0, 1, 2, 3]");
  const Plan plan = planned(text_of("sharing = \"gang\"\nquantum = 1", jobs));
  for (const RunPlan& run : plan.runs) {
    const auto seconds = tests::numbers_of_child([&] {
      const record::Record record = simulated(run);
      const record::RankUse& rank = record.ranks.front();
      return std::vector{rank.wait_s, rank.parts[TimePart::wait_turn], rank.compute_s + rank.communicate_s};
    });
    const double step_s = seconds[2] / K;
    CHECK(seconds[1] == Approx(seconds[0]).epsilon(1e-9));
    CHECK(seconds[1] >= (K - 1) * step_s * (1 - 1e-9));  // the other's steps between one's own
    CHECK(seconds[1] <= K * step_s * (1 + 1e-9));
  }
}

}  // namespace storage_test
