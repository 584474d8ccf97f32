// Tensor ranks on unlike devices from the command line: numbers, identities, memory, notes and the table of balance.
#include <bit>
#include <cmath>
#include <cstring>

#include "catch.h"
#include "cli/refusal.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace mixed_tensor_test {

using namespace simgrad::tests;

namespace {

/// A perceptron on four workers, at 1, 3, 1 and 3 GF unless both classes are at 1.
std::string fleet(const std::string& parallel, const std::string& fast = "3GF") {
  std::string hosts;
  for (int pair = 0; pair < 2; ++pair)
    hosts += "[[cluster.hosts]]\nclass = \"old" + std::to_string(pair) + "\"\ncount = 1\nspeed = \"1GF\"\n" +
             "[[cluster.hosts]]\nclass = \"new" + std::to_string(pair) + "\"\ncount = 1\nspeed = \"" + fast + "\"\n";
  return "seed = 2\nsave_model = true\n[cluster]\nworkers = 4\nbandwidth = \"1Gbps\"\nlatency = \"10us\"\n"
         "charge_reductions = false\n" +
         hosts +
         "[data]\nsource = \"house_prices\"\nsamples = 160\nfeatures = 6\n[model]\nkind = \"perceptron\"\n"
         "hidden = [8]\n[training]\nbatch_size = 32\n[stop]\nsteps = 6\n[[strategy]]\nkind = "
         "\"allreduce\"\n[parallel]\n" +
         parallel;
}

struct Ran {
  Json run;
  std::vector<double> w;
  std::string files;  ///< curves and ranks
};
Ran ran(const std::string& text, const std::string& options = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml --quiet --no-why --no-baseline" + options, scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  const Json run = results_in(scratch).at("runs").at(0);
  const std::string bytes = contents(file_of_run(scratch.path() + "/out/x/models", run.at("id"), ".model"));
  const std::size_t begin = bytes.find('\n') + 1;
  std::vector<double> w((bytes.size() - begin - 32) / sizeof(double));
  std::memcpy(w.data(), bytes.data() + begin, w.size() * sizeof(double));
  return {run, w, contents(scratch.path() + "/out/x/curves.csv") + contents(scratch.path() + "/out/x/ranks.csv")};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0.0, all = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]), all += b[i] * b[i];
  return std::sqrt(squares / all);
}

const std::string by_speed = "tensor = 2\ntensor_shares = \"speed\"\n";

}  // namespace

TEST_CASE("tensor shares by speed train what equal ones train, and all ranks compute equally long") {
  const Ran equal = ran(fleet("tensor = 2\n")), unlike = ran(fleet(by_speed));
  CHECK(distance(unlike.w, equal.w) <= 1e-12);
  CHECK(equal.run.at("id") != unlike.run.at("id"));
  // A row and unit: 4 x 6 flops, and 6 behind; 16 rows a replica, of 8 units 2 at 1 GF and 6 at 3 GF; 6 steps.
  for (const Json& rank : unlike.run.at("ranks"))
    CHECK(rank.at("compute_s").get<double>() == Approx(6 * 16 * 2 * 30 / 1e9).epsilon(1e-9));
  CHECK(equal.run.at("ranks").at(0).at("compute_s").get<double>() == Approx(6 * 16 * 4 * 30 / 1e9).epsilon(1e-9));
  CHECK(contains(unlike.run.at("notes").dump(),
                 "tensor shares by speed: 1 x 2 units (old0 + old1); 1 x 6 units (new0 + new1); by nominal speeds the "
                 "passes of a step take 960 ns, and 1.92 µs with equal shares"));
}

TEST_CASE("tensor shares by speed of equal ranks are those without the option, bit for bit") {
  const Ran equal = ran(fleet("tensor = 2\n", "1GF")), by_key = ran(fleet(by_speed, "1GF"));
  CHECK(by_key.w == equal.w);
  CHECK(by_key.run.at("simulated_s") == equal.run.at("simulated_s"));
  CHECK(by_key.run.at("bytes") == equal.run.at("bytes"));
  CHECK(by_key.run.at("ranks") == equal.run.at("ranks"));
  CHECK(contains(by_key.run.at("notes").dump(), "changes nothing: the devices of every group"));
}

TEST_CASE("the passes of a step are told with what is computed again, as ranks compute it") {
  const Ran again = ran(with(fleet(by_speed), "batch_size = 32\n", "batch_size = 32\nrecompute = \"full\"\n"));
  // The first layer's forward pass comes twice: 6 x 6 flops a row and unit in place of 4 x 6.
  for (const Json& rank : again.run.at("ranks"))
    CHECK(rank.at("compute_s").get<double>() == Approx(6 * 16 * 2 * 42 / 1e9).epsilon(1e-9));
  CHECK(contains(again.run.at("notes").dump(), "the passes of a step take 1.34 µs, and 2.69 µs with equal shares"));
}

TEST_CASE("a run with tensor shares by speed does not depend on threads, and crashes change no share") {
  CHECK(ran(fleet(by_speed), " --threads 0").files == ran(fleet(by_speed), " --threads 2").files);
  const Ran crashed =
      ran(fleet(by_speed) + "[cluster.failures]\ncrash = [{ rank = 1, at = \"200us\", repair = \"1ms\" }]\n" +
          "recovery = \"restart\"\ndetection = \"0s\"\nrestart_time = \"1ms\"\n");
  CHECK(crashed.run.at("crashes").get<int>() == 1);
  CHECK(distance(crashed.w, ran(fleet(by_speed)).w) <= 1e-12);
}

TEST_CASE("rows and tensor shares by speed together leave no rank waiting for another") {
  // Replicas at 1 + 3 and at 2 + 6 GF: a third and two thirds of 30 rows, and a quarter of the units in each.
  std::string text = fleet(by_speed);
  text.replace(text.find("batch_size = 32"), 15, "batch_size = 30\npartition = { kind = \"iid\", shares = \"speed\" }");
  text.replace(text.rfind("speed = \"1GF\""), 13, "speed = \"2GF\"");
  text.replace(text.rfind("speed = \"3GF\""), 13, "speed = \"6GF\"");
  const Ran both = ran(text);
  for (const Json& rank : both.run.at("ranks"))
    CHECK(rank.at("compute_s").get<double>() == Approx(6 * 10 * 2 * 30 / 1e9).epsilon(1e-9));
  CHECK(contains(both.run.at("notes").dump(), "rows by speed: 1 x 10 (old0), 1 x 20 (old1)"));
}

TEST_CASE("memory bounds a tensor share, in the run and in the table of balance") {
  const auto device = [](const std::string& name, const std::string& peak, const std::string& memory) {
    return "[[cluster.hosts]]\nclass = \"" + name + "\"\ncount = 1\ndevice = { kind = \"custom\", float64 = \"" + peak +
           "\", memory_bandwidth = \"1PB/s\", memory = \"" + memory + "\" }\n";
  };
  const auto text = [&](const std::string& memory) {
    return "[cluster]\nworkers = 2\n" + device("old", "1TF", "1GB") + device("new", "3TF", memory) +
           "[data]\nsource = \"house_prices\"\nsamples = 10000\nfeatures = 1000\n[model]\nkind = \"perceptron\"\n"
           "hidden = [4000]\ntask = \"regression\"\n[training]\nnumbers = false\nbatch_size = 16\n[parallel]\n" +
           by_speed + "[stop]\nsteps = 1\n[[strategy]]\nkind = \"allreduce\"\n";
  };
  // By speed the new device would have 3,000 units of 1,002 parameters, of 16 bytes with gradients: 48 MB.
  const Json run = results_of(text("40MB"), "--no-baseline").at("runs").at(0);
  const double bytes = run.at("ranks").at(1).at("memory_bytes").get<double>();
  CHECK(bytes <= 40e6);
  CHECK(bytes > 40e6 - 1002 * 16 - 16 * 8);  // a unit more does not fit
  const Scratch scratch;
  scratch.write("x.toml", text("40MB"));
  const Called called = program("explain balance x.toml", scratch);
  CAPTURE(called.out, called.err);
  CHECK(contains(called.out, "Memory bounds the share of class new: it holds "));
  CHECK(contains(called.out, "where its speed would ask for 75.0 %"));
  scratch.write("x.toml", text("1MB"));
  const Called held = program("run x.toml --no-baseline", scratch);
  CHECK(held.exit_code == 0);  // a share of 1 MB, and the rest on the other device
  std::string none = text("1MB");
  none.replace(none.find("memory = \"1GB\""), 14, "memory = \"9MB\"");
  scratch.write("x.toml", none);
  const Called refused = program("run x.toml", scratch);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "a worker needs "));
}

TEST_CASE("explain balance shows the shares of tensor ranks beside equal ones") {
  const Scratch scratch;
  scratch.write("x.toml", fleet(by_speed));
  const Called called = program("explain balance x.toml", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "shares of tensor ranks in the products of layers"));
  CHECK(contains(called.out, "\nold0 + old1             1  1.00 GFLOP/s  unknown  2 units  960 ns"));
  CHECK(contains(called.out, "\nnew0 + new1             1  3.00 GFLOP/s  unknown  6 units  960 ns"));
  CHECK(contains(called.out,
                 "The longest passes of a step take 960 ns by speed and 1.92 µs with equal shares, which is 2 times as "
                 "long."));
  CHECK(contains(called.out, "The scenario sizes the shares by speed"));
  scratch.write("x.toml", fleet("tensor = 2\n"));
  CHECK(contains(program("explain balance x.toml", scratch).out, "The scenario has equal shares; "));
  scratch.write("x.toml", fleet("tensor = 4\n"));
  const std::string one = program("explain balance x.toml", scratch).out;
  CHECK(contains(one, "All workers are one replica, which has all rows."));
  CHECK_FALSE(contains(one, "training.partition"));
  scratch.write("x.toml", fleet(by_speed, "1GF"));
  CHECK_FALSE(contains(program("explain balance x.toml", scratch).out, "shares of tensor ranks"));
}

TEST_CASE("tensor shares by speed are refused on a platform's hosts, at their place") {
  const std::string text =
      "[cluster]\nworkers = 2\nplatform = \"p.xml\"\n[data]\nsource = \"house_prices\"\nsamples = 20\n[parallel]\n"
      "tensor = 2\ntensor_shares = \"speed\"\n[model]\nkind = \"perceptron\"\n[stop]\nsteps = 1\n[[strategy]]\n"
      "kind = \"allreduce\"\n";
  const Scratch scratch;
  scratch.write("p.xml",
                "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
                "version=\"4.1\">\n<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" "
                "speed=\"1Gf\"/><link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/><route src=\"a\" "
                "dst=\"b\"><link_ctn id=\"l\"/></route></zone>\n</platform>\n");
  scratch.write("x.toml", text);
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "x.toml:9:1: tensor_shares = \"speed\" sizes shares before a run, but the hosts of a"));
}

}  // namespace mixed_tensor_test
