// `simgrad capacity` against numbers that are worked out by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "catch.h"
#include "cli/scenario.h"

namespace capacity_numbers_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double hour_s = 3600.0, day_s = 86400.0;
constexpr double exact = 1e-9;

/// A call of the program on a scenario, in a directory of its own.
struct Study {
  Scratch scratch;

  Json json(const std::string& text, const std::string& arguments = "") {
    scratch.write("x.toml", text);
    const Called called = program("capacity x.toml --json --out found " + arguments, scratch);
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    return Json::parse(called.out);
  }
  /// A table that the last call wrote, as cells.
  std::vector<std::vector<std::string>> table(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : lines_of(contents(scratch.path() + "/found/" + name + ".csv"))) {
      std::vector<std::string>& cells = rows.emplace_back();
      for (std::size_t from = 0; from <= line.size();) {
        const std::size_t comma = std::min(line.find(',', from), line.size());
        cells.push_back(line.substr(from, comma - from));
        from = comma + 1;
      }
    }
    return rows;
  }
  double cell(const std::string& name, std::size_t row, const std::string& column) const {
    const auto rows = table(name);
    const auto at = std::ranges::find(rows.front(), column);
    REQUIRE(at != rows.front().end());
    return std::stod(rows.at(row).at(static_cast<std::size_t>(at - rows.front().begin())));
  }
};

/// Three jobs on four servers: one of three, one of all, and a small one that comes last.
std::string three_jobs(const std::string& more) {
  return small + "[capacity]\nhosts = 4\n" + more +
         "[[capacity.job]]\nhosts = 3\nwork = \"10h\"\n"
         "[[capacity.job]]\nhosts = 4\narrival = \"1h\"\nwork = \"1h\"\n"
         "[[capacity.job]]\nhosts = 1\narrival = \"2h\"\nwork = \"1h\"\n";
}

/// Server 0 fails at 5000 s.
constexpr const char* one_failure = "host,down_at,up_at\n0,5000,1000000\n";

}  // namespace

TEST_CASE("capacity: waits are those of the queue, with and without backfilling") {
  Study study;
  // The second job starts at 10 h. In order the third one waits for it, and starts at 11 h; else it starts at once.
  const Json in_order = study.json(three_jobs("horizon = \"20h\"\n")).at("fleet").at(0);
  CHECK(in_order.at("wait_mean_s").get<double>() == Approx((0.0 + 9.0 + 9.0) / 3 * hour_s).epsilon(exact));
  CHECK(study.cell("jobs", 3, "start_s") == Approx(11 * hour_s).epsilon(exact));
  CHECK(study.cell("jobs", 3, "end_s") == Approx(12 * hour_s).epsilon(exact));
  const Json before = study.json(three_jobs("horizon = \"20h\"\nbackfill = true\n")).at("fleet").at(0);
  CHECK(before.at("wait_mean_s").get<double>() == Approx(9.0 / 3 * hour_s).epsilon(exact));
  CHECK(before.at("wait_median_s").get<double>() == 0.0);
  CHECK(before.at("wait_p90_s").get<double>() == Approx(0.8 * 9.0 * hour_s).epsilon(exact));  // between 0 and 9 h
}

TEST_CASE("capacity: a job that has not started waits until the end") {
  Study study;
  const Json found = study.json(three_jobs("horizon = \"5h\"\nbackfill = true\n")).at("fleet").at(0);
  CHECK(found.at("wait_mean_s").get<double>() == Approx((0.0 + 4.0 + 0.0) / 3 * hour_s).epsilon(exact));
  CHECK(found.at("ended") == 1);
  CHECK(found.at("jobs") == 3);
}

TEST_CASE("capacity: detection, restart, checkpoints and the lost work are as the section says") {
  Study study;
  study.scratch.write("faults.csv", one_failure);
  const Json found = study.json(small + R"([capacity]
hosts = 2
spares = [1]
horizon = "20000s"
failures = { kind = "trace", path = "faults.csv" }
detection = "60s"
restart = "120s"
checkpoint_time = "10s"
checkpoint_every = "1000s"
[[capacity.job]]
hosts = 2
work = "10000s"
)");
  // Four checkpoints until 4040 s, then 960 s that are lost. 6000 s are left, with five more checkpoints.
  const double end_s = 5000.0 + 60.0 + 120.0 + 6000.0 + 5 * 10.0;
  CHECK(study.cell("jobs", 1, "end_s") == Approx(end_s).epsilon(exact));
  const Json& time = found.at("fleet").at(0).at("host_time");
  const auto part = [&](const char* name) { return time.at(name).get<double>(); };
  CHECK(part("useful_s") == Approx(2 * 10000.0).epsilon(exact));
  CHECK(part("recomputed_s") == Approx(2 * 960.0).epsilon(exact));
  CHECK(part("checkpoints_s") == Approx(2 * 90.0).epsilon(exact));
  CHECK(part("restart_s") == Approx(1 * 60.0 + 2 * 120.0).epsilon(exact));
  CHECK(part("waiting_s") == 0.0);
  CHECK(part("down_s") == Approx(20000.0 - 5000.0).epsilon(exact));
  CHECK(part("idle_s") == Approx(5060.0 + 2 * (20000.0 - end_s)).epsilon(exact));
}

TEST_CASE("capacity: a training that takes longer than its limit has not finished, and counts with the limit") {
  Study study;
  study.scratch.write("faults.csv", "host,down_at,up_at\n0,5000,6000\n2,100,200\n");
  const Json found = study.json(small + R"([capacity]
hosts = 2
spares = [1]
failures = { kind = "trace", path = "faults.csv" }
checkpoint_time = "10s"
[capacity.training]
hosts = 2
work = "20d"
limit = "1d"
)");
  for (const Json& rule : found.at("training").at("rules")) {
    CHECK(rule.at("finished") == 0);
    CHECK(rule.at("median_s") == day_s);
    CHECK(rule.at("p90_s") == day_s);
    CHECK(rule.at("failures") == 1.0);  // of its servers; the spare's is another's
  }
  CHECK(study.cell("training", 1, "failures") == 1.0);
}

TEST_CASE("capacity: the step of a job is undisturbed, whatever disturbs the scenario's training") {
  Study study;
  const std::string job = "[capacity]\nhosts = 4\n[[capacity.job]]\nhosts = 4\nsteps = 5\n";
  const Json steps = study.json(small + job).at("steps");
  for (const std::string& disturbed :
       {with(small, "[data]", "failures = { hosts = { kind = \"exponential\", mtbf = \"1ms\" } }\n[data]"),
        with(small, "[stop]", "checkpoint_every_steps = 1\n[stop]"), with(small, "steps = 10", "time = \"1us\"")}) {
    CAPTURE(disturbed);
    CHECK(study.json(disturbed + job).at("steps") == steps);
  }
}

TEST_CASE("capacity: the terminal's columns are what their names say") {
  Study study;
  study.scratch.write("faults.csv", one_failure);
  study.scratch.write("x.toml", three_jobs("horizon = \"20h\"\nbackfill = true\nfailures = { kind = \"trace\", path = "
                                           "\"faults.csv\" }\n"));
  const Called called = program("capacity x.toml", study.scratch);
  REQUIRE(called.exit_code == 0);
  const std::vector<std::string> lines = lines_of(called.out);
  const auto row_below = [&](const std::string& name) {
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
      if (contains(lines[i], name)) return lines[i + 1];
    return std::string();
  };
  // Server 0 is down for 67000 s of 4 x 72000 s: 23.26 %. Its job, of three servers, loses 5000 s, and waits not at all
  // since the fourth server is free: 5.21 %.
  CHECK(contains(row_below("recomputed"), "23.26        5.21"));
}

TEST_CASE("capacity: the terminal has the mean wait, the median and the 90 % in this order") {
  Study study;
  study.scratch.write("x.toml", three_jobs("horizon = \"20h\"\nbackfill = true\n"));
  const Called called = program("capacity x.toml", study.scratch);
  CHECK(contains(called.out, "3 h 0 min     0 s  7 h 12 min      3 of 3"));
}

TEST_CASE("capacity: spares of a training are judged by its time under Daly's interval") {
  Study study;
  const Json found = study
                         .json(small + R"([capacity]
hosts = 4
spares = [0, 1]
failures = { kind = "exponential", mtbf = "20d" }
repair = { kind = "exponential", mean = "2d" }
checkpoint_time = "4h"
[capacity.training]
hosts = 4
work = "20d"
)",
                               "--seeds 1..10")
                         .at("training");
  const auto goodput = [&](std::size_t rule) {
    return fmt::format("{:.2f} %", 100.0 * found.at("rules").at(rule).at("goodput").get<double>());
  };
  REQUIRE(goodput(0) != goodput(1));  // without spares, by Daly and by Young
  CHECK(contains(found.at("finding_on_spares").get<std::string>(), goodput(0)));
  CHECK(contains(found.at("finding_on_spares").get<std::string>(), goodput(3)));
}

TEST_CASE("capacity: checkpoints take the time of the training's own state, by simulation") {
  Study study;
  const std::string long_job = R"(
[capacity]
hosts = 4
horizon = "10d"
checkpoint_every = "6h"
[[capacity.job]]
hosts = 4
work = "2d"
)";
  // least_squares of five features: 40 bytes, which one of four equal replicas writes.
  // The gradients of the others go on while it writes, for some 64 ns.
  const std::string storage = "--set cluster.storage_bandwidth=4Bps ";
  const Json found = study.json(small + long_job, storage);
  CHECK(found.at("checkpoint_s").get<double>() == Approx(10.0).epsilon(1e-7));
  CHECK(found.at("checkpoint_write_s") == 0.0);
  CHECK(found.at("fleet").at(0).at("host_time").at("checkpoints_s").get<double>() ==
        Approx(4 * 7 * 10.0).epsilon(1e-7));
  const Json behind = study.json(small + long_job, storage +
                                                       "--set training.checkpoint_async=true "
                                                       "--set cluster.host_memory_bandwidth=40Bps");
  CHECK(behind.at("checkpoint_s").get<double>() == Approx(1.0).epsilon(1e-7));
  CHECK(behind.at("checkpoint_write_s").get<double>() == Approx(10.0).epsilon(1e-7));
}

TEST_CASE("capacity: a job's checkpoint is that of the training on its own number of hosts") {
  Study study;
  // 6,400 parameters and two moments of each, 51,200 bytes a piece, of which a rank under ZeRO writes the P-th part.
  const std::string text =
      with(with(with(small, "features = 5", "features = 6400"), "kind = \"allreduce\"", "kind = \"zero\"\nstage = 1"),
           "learning_rate", "optimizer = \"adam\"\nlearning_rate") +
      R"(
[capacity]
hosts = 8
horizon = "10d"
checkpoint_every = "6h"
[[capacity.job]]
hosts = 2
work = "2d"
[[capacity.job]]
hosts = 4
work = "2d"
)";
  const Json found = study.json(text, "--set cluster.storage_bandwidth=1kBps --set prices.worker=1$/h");
  const Json& all = found.at("checkpoints");
  REQUIRE(all.size() == 2);
  CHECK(all.at(0).at("hosts") == 2);
  CHECK(all.at(1).at("hosts") == 4);
  const double of_two = all.at(0).at("checkpoint_s").get<double>(),
               of_four = all.at(1).at("checkpoint_s").get<double>();
  CHECK(of_two == Approx(3.0 * 51.2 / 2.0).epsilon(1e-4));
  CHECK(of_four == Approx(3.0 * 51.2 / 4.0).epsilon(1e-4));
  CHECK(found.at("checkpoint_s").get<double>() == of_four);
  // Seven checkpoints each.
  CHECK(found.at("fleet").at(0).at("host_time").at("checkpoints_s").get<double>() ==
        Approx(7.0 * (2.0 * of_two + 4.0 * of_four)).epsilon(1e-9));
  const Called called = program("capacity x.toml --set cluster.storage_bandwidth=1kBps", study.scratch);
  CHECK(contains(called.out, "On 2 servers: A checkpoint takes "));
}

TEST_CASE("capacity: a server has the devices of a host, and another number only where one is given") {
  const std::string hosts =
      with(with(small, "workers = 4\n", "workers = 4\ntopology = { kind = \"gpu_hosts\", devices = 2 }\n"), "[stop]",
           "[prices]\ndevice = \"2$/h\"\n\n[stop]") +
      "[capacity]\nhosts = 4\n[[capacity.job]]\nhosts = 2\nsteps = 10\n";
  const auto found = [&](const std::string& text) { return Study().json(text); };
  const auto given = [&](const char* workers) {
    return with(hosts, "hosts = 4\n[[", std::string("hosts = 4\nworkers_per_host = ") + workers + "\n[[");
  };
  const Json usual = found(hosts), one = found(given("1")), two = found(given("2"));
  CHECK(usual.at("steps") == two.at("steps"));
  CHECK(usual.at("steps") != one.at("steps"));
  CHECK(usual.at("price_usd_per_h") == 2 * 2.0);
  CHECK(one.at("price_usd_per_h") == 2.0);
}

TEST_CASE("capacity: a model that does not fit is named, with the memory that it needs and that there is") {
  const Scratch scratch;
  scratch.write("x.toml", R"([cluster]
workers = 4
speed = "1TF"
bandwidth = "100Gbps"
latency = "5us"
memory = "10MB"
[data]
samples = 800
[model]
kind = "transformer"
layers = 4
hidden = 64
heads = 4
sequence = 32
vocabulary = 100
[training]
batch_size = 16
numbers = false
[stop]
steps = 1
[capacity]
hosts = 4
[[capacity.job]]
hosts = 2
steps = 10
[[strategy]]
kind = "allreduce"
)");
  const Called called = program("capacity x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "the training of transformer with cluster.workers = 2, which the scenario refuses"));
  CHECK(contains(called.err, "a worker needs 13.3 MB = "));
  CHECK(contains(called.err, "but its device has 10.0 MB"));
}

TEST_CASE("capacity: keys of the cluster that are not read are named with their places") {
  const Scratch scratch;
  const auto told = [&](const std::string& job, const std::string& options = "") {
    scratch.write("x.toml", small + "[capacity]\nhosts = 4\n[[capacity.job]]\nhosts = 2\n" + job);
    const Called called = program("capacity x.toml " + options, scratch);
    CHECK(called.exit_code == 0);
    return called.err;
  };
  const std::string steps = told("steps = 100\n");
  CHECK(contains(steps, "x.toml:5:1: cluster.workers is not read: a job has its number of hosts times"));
  CHECK_FALSE(contains(steps, "cluster.bandwidth"));
  const std::string timed = told("work = \"2d\"\n");
  CHECK(contains(timed, "x.toml:7:1: cluster.bandwidth is not read: each job has its size as a time"));
  CHECK(told("steps = 100\n", "--quiet").empty());
  // Two workers are the job's: the scenario by itself is its training.
  CHECK_FALSE(contains(told("steps = 100\n", "--set cluster.workers=2"), "cluster.workers"));
  CHECK(contains(told("steps = 100\n", "--set cluster.workers=3"), "cluster.workers is not read"));
}

TEST_CASE("an interval of goodput lies within nothing and all, however far apart the seeds are") {
  Study study;
  const Json answer = study.json(R"(
[model]
kind = "least_squares"
[stop]
steps = 1
[[strategy]]
kind = "allreduce"
[capacity]
hosts = 3
horizon = "5d"
failures = { kind = "exponential", mtbf = "10h" }
repair = { kind = "exponential", mean = "1d" }
job = [{ hosts = 2, work = "10h" }]
)",
                                 "--seeds 1..2");
  int found = 0;
  const std::function<void(const Json&)> look = [&](const Json& json) {
    if (json.is_object() && json.contains("goodput_low")) {
      ++found;
      const double low = json["goodput_low"], high = json["goodput_high"], goodput = json["goodput"];
      CHECK((0.0 <= low && low <= goodput && goodput <= high && high <= 1.0));
    }
    if (json.is_structured())
      for (const auto& each : json) look(each);
  };
  look(answer);
  CHECK(found > 0);
}

TEST_CASE("capacity: faults of 400 real GPU servers scale to a fleet of 1,000") {
  const char* const data = std::getenv("SIMGRAD_TEST_DATA");
  if (data == nullptr) {
    WARN("skipped: SIMGRAD_TEST_DATA is not set");
    return;
  }
  const std::string file = (std::filesystem::absolute(data) / "gpu_server_faults.csv").string();
  const Json found = Study().json(
      small +
      "[capacity]\nhosts = 1000\nhorizon = \"348.9798d\"\nwarm_up = \"400d\"\nfailures = { kind = \"trace\", path = "
      "\"" +
      file + "\" }\n[[capacity.job]]\nhosts = 10\nwork = \"100d\"\n");
  const Json& time = found.at("fleet").at(0).at("host_time");
  double total_s = 0.0;
  for (const auto& [name, part] : time.items()) total_s += part.get<double>();
  // 4.2 faults a thousand server-days, down for 5.5 days in the mean; a thousand servers are two and a half times the
  // trace.
  CHECK(time.at("down_s").get<double>() / total_s == Approx(4.2e-3 * 5.5).epsilon(0.1));
}

}  // namespace capacity_numbers_test
