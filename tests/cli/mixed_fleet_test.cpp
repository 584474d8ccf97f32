// Unlike devices in one training: shares of rows by speed and memory, on replicas and on meshes, and their table.
#include <bit>
#include <cstring>
#include <numeric>

#include "catch.h"
#include "cli/refusal.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace mixed_fleet_test {

using namespace simgrad::tests;

namespace {

/// A perceptron on four workers at 1, 1, 3 and 3 GF.
std::string fleet(const std::string& sections, const std::string& strategy = "kind = \"allreduce\"\n") {
  return "seed = 2\nsave_model = true\n[cluster]\nworkers = 4\nbandwidth = \"1Gbps\"\nlatency = \"10us\"\n"
         "charge_reductions = false\n[[cluster.hosts]]\nclass = \"old\"\ncount = 2\nspeed = \"1GF\"\n"
         "[[cluster.hosts]]\nclass = \"new\"\ncount = 2\nspeed = \"3GF\"\n"
         "[data]\nsource = \"house_prices\"\nsamples = 160\nfeatures = 6\n[model]\nkind = \"perceptron\"\n"
         "hidden = [8, 8]\n[stop]\nsteps = 6\n[[strategy]]\n" +
         strategy + sections;
}

const std::string by_speed = "[training]\nbatch_size = 32\npartition = { kind = \"iid\", shares = \"speed\" }\n";

/// The parameters that the run of a strategy has left.
std::vector<double> parameters_of(const Json& run, const Scratch& scratch) {
  const std::string bytes = contents(file_of_run(scratch.path() + "/out/x/models", run.at("id"), ".model"));
  const std::size_t begin = bytes.find('\n') + 1;
  std::vector<double> w((bytes.size() - begin - 32) / sizeof(double));
  std::memcpy(w.data(), bytes.data() + begin, w.size() * sizeof(double));
  return w;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0.0, all = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]), all += b[i] * b[i];
  return std::sqrt(squares / all);
}

struct Ran {
  Json run;
  std::vector<double> w;
};
Ran ran(const std::string& text) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml --quiet --no-why --no-baseline", scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  const Json run = results_in(scratch).at("runs").at(0);
  return {run, parameters_of(run, scratch)};
}

std::vector<double> compute_s(const Json& run) {
  std::vector<double> all;
  for (const Json& rank : run.at("ranks")) all.push_back(rank.at("compute_s").get<double>());
  return all;
}

/// A class of custom devices of 1 TF in float64 that compute at the speed of their peak.
std::string devices(const std::string& name, int count, const std::string& peak, const std::string& memory) {
  return "[[cluster.hosts]]\nclass = \"" + name + "\"\ncount = " + std::to_string(count) +
         "\ndevice = { kind = \"custom\", float64 = \"" + peak + "\", memory_bandwidth = \"1PB/s\"" +
         (memory.empty() ? "" : ", memory = \"" + memory + "\"") + " }\n";
}

/// 4,000,000 parameters of 8 bytes, twice with gradients: 64 MB; a row keeps some 24 kB.
std::string wide(const std::string& classes, const std::string& partition, int batch = 4096) {
  return "[cluster]\nworkers = 2\n" + classes +
         "[data]\nsource = \"house_prices\"\nsamples = 10000\nfeatures = 1000\n[model]\nkind = \"perceptron\"\n"
         "hidden = [2000, 1000]\ntask = \"regression\"\n[training]\nnumbers = false\nbatch_size = " +
         std::to_string(batch) + "\n" + partition + "[stop]\nsteps = 1\n[[strategy]]\nkind = \"allreduce\"\n";
}

const std::string speed_shares = "partition = { kind = \"iid\", shares = \"speed\" }\n";

}  // namespace

TEST_CASE("replicas of a cut model get rows in proportion to their speeds, and train what one device trains") {
  const Ran alone = ran(fleet("[training]\nbatch_size = 32\n", "kind = \"single\"\n"));
  for (const char* mesh :
       {"[parallel]\ntensor = 2\n",
        "[parallel]\npipeline = 2\nmicro_batches = 4\norder = [\"tensor\", \"pipeline\", \"data\"]\n"}) {
    CAPTURE(mesh);
    const Ran shared = ran(fleet(by_speed + mesh));
    // 32 rows by speeds 1 and 3: 8 and 24.
    const std::vector<double> each = compute_s(shared.run);
    const double slow = *std::max_element(each.begin(), each.begin() + 2);
    const double fast = *std::max_element(each.begin() + 2, each.end());
    CHECK(fast == Approx(slow).epsilon(1e-9));
    CHECK(distance(shared.w, alone.w) <= 1e-12);
    const std::vector<double> equal = compute_s(ran(fleet(std::string("[training]\nbatch_size = 32\n") + mesh)).run);
    CHECK(*std::max_element(equal.begin(), equal.begin() + 2) == Approx(2.0 * slow).epsilon(1e-9));  // 16 rows
  }
}

TEST_CASE("shares by speed of replicas are whole micro-batches") {
  // 32 rows in units of 8: by speeds 1 and 3 these are 1 and 3 units; in units of 16 each replica has one.
  const std::string mesh = "[parallel]\norder = [\"tensor\", \"pipeline\", \"data\"]\npipeline = 2\nmicro_batches = ";
  const Json eight = ran(fleet(by_speed + mesh + "8\n")).run;
  CHECK(contains(eight.at("notes").dump(), "rows by speed: 1 x 8 (old), 1 x 24 (new)"));
  const Json sixteen = ran(fleet(by_speed + mesh + "16\n")).run;
  CHECK(contains(sixteen.at("notes").dump(), "rows by speed: 1 x 16 (old), 1 x 16 (new)"));
}

TEST_CASE("a step of data shares by speed takes the batch over the sum of speeds") {
  // 8 GF for 32 rows; allreduces wait for nobody, so that all compute this long. 6 steps.
  const Json run = ran(fleet(by_speed)).run;
  const double flops_a_row = 6.0 * (8 * 8 + 8) + 4.0 * 6 * 8;
  for (const double seconds : compute_s(run)) CHECK(seconds == Approx(6 * 32 * flops_a_row / 8e9).epsilon(1e-9));
}

TEST_CASE("memory bounds the share of a class, and the others take its rows") {
  // By speed 1 to 3 the new device would have 3,072 of 4,096 rows.
  const std::string classes = devices("old", 1, "1TF", "1GB") + devices("new", 1, "3TF", "100MB");
  const Json run = results_of(wide(classes, speed_shares), "--no-baseline").at("runs").at(0);
  const std::string notes = run.at("notes").dump();
  CAPTURE(notes);
  CHECK(contains(notes, "memory bounds the share of class new: "));
  const Json& ranks = run.at("ranks");
  const double new_bytes = ranks.at(1).at("memory_bytes").get<double>();
  CHECK(new_bytes <= 100e6);
  CHECK(new_bytes >= 99.9e6);  // less than a row more
  CHECK(ranks.at(0).at("memory_bytes").get<double>() <= 1e9);
}

TEST_CASE("a class without memory beside others that have some is refused in shares by speed, at its table") {
  const std::string text = wide(devices("old", 1, "1TF", "1GB") + devices("new", 1, "3TF", ""), speed_shares);
  check_refused(text,
                {"x.toml:7:1: class \"new\" has no memory, but shares = \"speed\" assigns rows within the memory"});
  const std::string equal = wide(devices("old", 1, "1TF", "") + devices("new", 1, "3TF", ""), speed_shares);
  CHECK(results_of(equal, "--no-baseline").at("runs").size() == 1);  // nothing is known of any class
}

TEST_CASE("a batch that has no room in the memory of all workers is refused with what each class holds") {
  const std::string text = wide(devices("old", 1, "1TF", "70MB") + devices("new", 1, "3TF", "90MB"), speed_shares);
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml", scratch);
  CAPTURE(called.err);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "a batch of 4096 rows does not fit into the memory of the workers, which hold "));
  CHECK(contains(called.err, "a worker of class \"old\" holds "));
  CHECK(contains(called.err, "a worker of class \"new\" holds "));
}

TEST_CASE("shares by speed and predicted layouts contradict each other") {
  const std::string text = fleet(by_speed + "[parallel]\npipeline = 2\nbalance = \"time\"\n");
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "balance = \"time\" predicts steps with equal shares"));
}

TEST_CASE("explain balance shows the shares of each class beside equal ones") {
  const Scratch scratch;
  scratch.write("x.toml", fleet(by_speed));
  const Called called = program("explain balance x.toml", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  // 624 flops a row: 4 rows at 1 GF are 2.50 us, 12 rows at 3 GF as much, and 8 rows at 1 GF 4.99 us.
  CHECK(contains(called.out, "\nold          2  1.00 GFLOP/s  unknown     4  2.50 µs"));
  CHECK(contains(called.out, "\nnew          2  3.00 GFLOP/s  unknown    12  2.50 µs"));
  CHECK(contains(called.out,
                 "The longest passes of a step take 2.50 µs by speed and 4.99 µs with equal rows, which is 2 "
                 "times as long."));
  CHECK(contains(called.out, "The scenario splits the batch by speed"));

  scratch.write("x.toml", fleet("[training]\nbatch_size = 32\n[parallel]\npipeline = 2\nmicro_batches = 4\n"));
  const Called stages = program("explain balance x.toml", scratch);
  REQUIRE(stages.exit_code == 0);
  CHECK(contains(stages.out, "\n0: old"));
  CHECK(contains(stages.out, "\n1: new"));
  CHECK(contains(stages.out, "The scenario splits the batch equally"));
  // Without a scenario the name is an option's.
  CHECK(contains(program("explain balance", scratch).out, "parallel"));
}

}  // namespace mixed_fleet_test
