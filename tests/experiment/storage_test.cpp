// Scenarios with storages and turns: a disk draws no busy power, and a job's turn is waited for as such.
#include "experiment/jobs_scenario.h"
#include "experiment/refused.h"

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

TEST_CASE("ranks of a mesh that have samples read their part once, where rows are cached") {
  const auto seconds = [](const std::string& topology, const std::string& input) {
    const Plan plan = planned("[cluster]\nworkers = 4\nspeed = \"1GF\"\ncollectives = \"messages\"\n" + topology +
                              "[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = "
                              "\"perceptron\"\nhidden = [8]\n[training]\nnumbers = false\nbatch_size = 400\n" +
                              input + "[parallel]\ntensor = 2\n[stop]\nsteps = 3\n" + ring_allreduce);
    return tests::numbers_of_child([&] { return std::vector{simulated(plan.runs.front()).simulated_s}; })[0];
  };
  // Two tensor ranks that share a host's disk read the rows of their replica once, too.
  for (const char* topology : {"", "topology = { kind = \"gpu_hosts\", devices = 2 }\n"}) {
    const double read_s = seconds(topology, "input = { from = \"local\", bandwidth = \"8Mbps\", cache = true }\n") -
                          seconds(topology, "");
    CHECK(read_s == Approx(2000 * 8.0 * 100 / 1e6).epsilon(1e-9));  // of two replicas
  }
}

TEST_CASE("rows that training.input reads are not read from mapreduce's disk") {
  const auto parts = [](const std::string& input, const std::string& storage) {
    const Plan plan = planned(
        "[cluster]\nworkers = 4\nspeed = \"1GF\"\n[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = "
        "\"least_squares\"\n[training]\nnumbers = false\ninput = { from = \"local\", bandwidth = \"8Mbps\"" +
        input + " }\n[stop]\nsteps = 10\n[[strategy]]\nkind = \"mapreduce\"\nstorage = \"" + storage + "\"\n");
    return tests::numbers_of_child([&] {
      const record::TimeParts rank_parts = simulated(plan.runs.front()).ranks[0].parts;
      return std::vector{rank_parts[TimePart::communicate_input], rank_parts[TimePart::communicate_storage]};
    });
  };
  const double part_s = 1000 * 8.0 * 100 / 1e6;
  const auto each = parts(", prefetch = 0", "memory"), once = parts(", cache = true", "memory");
  const auto disk = parts(", cache = true", "disk");
  CHECK(each[0] == Approx(10 * part_s).epsilon(1e-9));
  CHECK(once[0] == Approx(part_s).epsilon(1e-9));
  CHECK(disk[0] == Approx(part_s).epsilon(1e-9));
  CHECK(each[1] == 0.0);
  CHECK(once[1] == 0.0);
  CHECK(disk[1] == Approx(10 * 800 / 200e6).epsilon(1e-9));  // the sums
}

TEST_CASE("options of reading that mean nothing are refused") {
  const auto input = [](const std::string& options) {
    return "[cluster]\nworkers = 4\n[data]\nsamples = 40\nfeatures = 4\n[model]\nkind = \"least_squares\"\n"
           "[training]\ninput = { " +
           options + " }\n[stop]\nsteps = 2\n" + ring_allreduce;
  };
  check_refused_text(
      "[cluster]\nworkers = 4\n[data]\nsamples = 40\nfeatures = 4\n[model]\nkind = \"least_squares\"\n"
      "[training]\ninput = { from = \"local\", bandwidth = \"8Mbps\", cache = true }\npartition = { kind = "
      "\"stream\", duration = \"1s\" }\n[stop]\nsteps = 2\n" +
          ring_allreduce,
      "cache = true reads a worker's rows once, but with partition = \"stream\" new rows come in");
  check_refused_text(input("cache = true"), "cache says how rows are read, but from = \"memory\" reads none");
  check_refused_text(input("flops_per_sample = 5"), "flops_per_sample says how rows are read, but from = \"memory\"");
  check_refused_text(input("from = \"local\", bandwidth = \"8Mbps\", cache = true, prefetch = 2"),
                     "prefetch says how many batches are read ahead, but with cache = true a worker reads all of its");
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
