// `simgrad capacity`: a fleet, its spares, and one long training.
#include <fmt/format.h>

#include "catch.h"
#include "cli/scenario.h"

namespace capacity_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double day_s = 86400.0;

/// A fleet whose servers do not fail; its first line is the last of `small` plus one.
const std::string fleet = R"(
[capacity]
hosts = 4
horizon = "10d"
checkpoint_time = "1h"
checkpoint_every = "6h"
[[capacity.job]]
hosts = 4
work = "2d"
[[capacity.job]]
name = "second"
hosts = 2
work = "1d"
arrival = "12h"
)";

/// One training on servers that fail.
const std::string training = R"(
[capacity]
hosts = 4
spares = [3]
failures = { kind = "exponential", mtbf = "20d" }
repair = { kind = "exponential", mean = "2d" }
restart = "30min"
checkpoint_time = "10min"
[capacity.training]
hosts = 4
work = "20d"
fixed = "1d"
)";

Json capacity_of(const std::string& text, const std::string& arguments = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("capacity x.toml --json " + arguments, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return Json::parse(called.out);
}

std::string refused(const std::string& text, const std::string& arguments = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("capacity x.toml " + arguments, scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.out.empty());
  return called.err;
}

/// The text without the line that begins so.
std::string without(const std::string& text, const std::string& beginning) {
  std::string all;
  for (const std::string& line : lines_of(text))
    if (!line.starts_with(beginning)) all += line + "\n";
  return all;
}

double total_s(const Json& host_time) {
  double sum = 0.0;
  for (const auto& [name, part] : host_time.items()) sum += part.get<double>();
  return sum;
}

}  // namespace

TEST_CASE("capacity: a fleet without failures has the times of its jobs") {
  const Json found = capacity_of(small + fleet);
  const Json& only = found.at("fleet").at(0);
  // 2 d are eight intervals with seven checkpoints of 1 h; 1 d has three. The second job waits for the first.
  const double first_s = 2 * day_s + 7 * 3600.0, second_s = 1 * day_s + 3 * 3600.0;
  const double useful_s = 4 * 2 * day_s + 2 * 1 * day_s;
  CHECK(only.at("wait_mean_s").get<double>() == Approx((0.0 + first_s - 0.5 * day_s) / 2).epsilon(1e-9));
  CHECK(only.at("host_time").at("useful_s").get<double>() == Approx(useful_s).epsilon(1e-9));
  CHECK(only.at("goodput").get<double>() == Approx(useful_s / (4 * 10 * day_s)).epsilon(1e-9));
  CHECK(only.at("utilisation").get<double>() == Approx((4 * first_s + 2 * second_s) / (4 * 10 * day_s)).epsilon(1e-9));
  CHECK(total_s(only.at("host_time")) == Approx(4 * 10 * day_s).epsilon(1e-9));
  CHECK(only.at("ended") == 2);
  CHECK(found.at("mtbf_s").is_null());
}

TEST_CASE("capacity: a job of steps takes the steps of the simulated training") {
  const std::string text = small + "[capacity]\nhosts = 4\n[[capacity.job]]\nhosts = 3\nsteps = 1000\n";
  // 3 workers: a third of 200 rows' flops is not even, so the step is taken from the run itself.
  const Json run = results_of(with(small, "workers = 4", "workers = 3"), "--set training.numbers=false");
  const double step_s = run.at("runs").at(0).at("simulated_s").get<double>() / 10;
  const Json found = capacity_of(text);
  CHECK(found.at("steps").at(0).at("step_s").get<double>() == Approx(step_s).epsilon(1e-9));
  CHECK(found.at("steps").at(0).at("samples").get<double>() == Approx(200.0).epsilon(1e-9));
  const Json& time = found.at("fleet").at(0).at("host_time");
  CHECK(time.at("useful_s").get<double>() == Approx(3 * 1000 * step_s).epsilon(1e-9));
  // 200 samples a step: 1,999 samples are ten steps.
  const Json samples = capacity_of(with(text, "steps = 1000", "samples = 1999"));
  CHECK(samples.at("fleet").at(0).at("host_time").at("useful_s").get<double>() ==
        Approx(3 * 10 * step_s).epsilon(1e-9));
  // A server of two workers has the step of six.
  const Json twice = capacity_of(with(text, "hosts = 4\n", "hosts = 4\nworkers_per_host = 2\n"));
  const Json six = results_of(with(small, "workers = 4", "workers = 6"), "--set training.numbers=false");
  CHECK(twice.at("steps").at(0).at("step_s").get<double>() ==
        Approx(six.at("runs").at(0).at("simulated_s").get<double>() / 10).epsilon(1e-9));
}

TEST_CASE("capacity: a training is compared on the same failures, and the fixed interval loses here") {
  const Json found = capacity_of(small + training, "--seeds 1..40").at("training");
  const Json& rules = found.at("rules");
  REQUIRE(rules.size() == 3);
  CHECK(found.at("work_s") == 20 * day_s);
  const double mtbf_s = 20 * day_s / 4;
  CHECK(rules.at(1).at("rule") == "young");
  CHECK(rules.at(1).at("interval_s").get<double>() == Approx(std::sqrt(2 * 600.0 * mtbf_s)).epsilon(1e-9));
  CHECK(rules.at(2).at("rule") == "1d");
  for (const Json& rule : rules) {
    CHECK(rule.at("finished") == 40);
    CHECK(rule.at("median_s") <= rule.at("p90_s"));
    CHECK(rule.at("median_s").get<double>() > 20 * day_s);
    for (const Json& seed : rule.at("seeds"))
      CHECK(total_s(seed.at("host_time")) == Approx(7 * seed.at("end_s").get<double>()).epsilon(1e-9));
  }
  CHECK(rules.at(0).at("mean_s").get<double>() < rules.at(2).at("mean_s").get<double>());
  CHECK(found.at("finding_on_spares") == "");  // there is one number of them
  CHECK(contains(found.at("finding").get<std::string>(), "On the same failures Daly's interval saves"));
}

TEST_CASE("capacity: spares pay or not as the numbers say") {
  // All 20 servers are up for two thirds of the time, and the job wants all of them.
  const std::string jobs = small + R"(
[capacity]
hosts = 20
spares = [0, 2, 20]
horizon = "60d"
failures = { kind = "exponential", mtbf = "100d" }
repair = { kind = "exponential", mean = "2d" }
restart = "30min"
checkpoint_time = "10min"
checkpoint_every = "daly"
[[capacity.job]]
hosts = 20
work = "200d"
)";
  const Json found = capacity_of(jobs, "--seeds 1..10");
  const Json& fleets = found.at("fleet");
  CHECK(fleets.at(1).at("goodput").get<double>() > fleets.at(0).at("goodput").get<double>());
  CHECK(fleets.at(1).at("goodput").get<double>() > fleets.at(2).at("goodput").get<double>());
  CHECK(found.at("finding").get<std::string>().starts_with("2 spares pay: a goodput of "));
  // With a price the useful hour decides: all servers' dollars by the useful time.
  const Json priced = capacity_of(jobs + "[prices]\nworker = \"3$/h\"\n", "--seeds 1..10");
  for (const Json& each : priced.at("fleet"))
    CHECK(
        each.at("usd_per_useful_host_h").get<double>() ==
        Approx(3.0 * total_s(each.at("host_time")) / each.at("host_time").at("useful_s").get<double>()).epsilon(1e-9));
  CHECK(contains(priced.at("finding").get<std::string>(), "2 spares pay: $"));
  const Json none = capacity_of(with(jobs, "[0, 2, 20]", "[0, 20]"), "--seeds 1..10");
  CHECK(none.at("finding").get<std::string>().starts_with(
      "More spares do not pay: no larger number of the list is better than "));
  const Json few = capacity_of(with(jobs, "[0, 2, 20]", "[0, 20]"), "--seeds 1..3");
  CHECK(few.at("fleet").at(0).at("goodput").get<double>() > few.at("fleet").at(1).at("goodput").get<double>());
  CHECK(few.at("finding").get<std::string>().starts_with("With these seeds it is not clear whether spares pay off: "));
  const Json one = capacity_of(jobs, "--seeds 3");
  CHECK(contains(one.at("finding").get<std::string>(), "one seed cannot show"));
}

TEST_CASE("capacity: files and tables have the same numbers, whatever the number of jobs") {
  const Scratch scratch;
  scratch.write("x.toml", small + with(fleet, "work = \"1d\"", "steps = 1_000_000_000"));
  const Called called = program("capacity x.toml --seeds 1..3 --out found --jobs 1 --threads 0", scratch);
  INFO(called.err);
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "A fleet of 4 servers for 10 d 0 h, 3 seeds. "));
  CHECK(contains(called.out, "Results: found/capacity.json, fleet.csv, jobs.csv\n"));
  const std::string json = contents(scratch.path() + "/found/capacity.json");
  CHECK(lines_of(contents(scratch.path() + "/found/fleet.csv")).size() == 1 + 3);
  const std::vector<std::string> jobs = lines_of(contents(scratch.path() + "/found/jobs.csv"));
  CHECK(jobs.size() == 1 + 2 * 3);
  CHECK(jobs[0] == "spares,seed,name,hosts,work_s,arrival_s,start_s,end_s,failures");
  CHECK(jobs[1].starts_with("0,1,job 1,4,172800"));
  CHECK(jobs[2].starts_with("0,1,second,2,"));
  const Called again = program("capacity x.toml --seeds 1..3 --json --jobs 2 --threads 2", scratch);
  CHECK(again.out == json);
  CHECK(program("capacity x.toml --quiet", scratch).out.empty());
}

TEST_CASE("capacity: arrivals come at their rate, and the same ones for every number of spares") {
  const std::string text =
      small +
      "[capacity]\nhosts = 4\nspares = [0, 4]\nhorizon = \"1000d\"\n[[capacity.arrivals]]\nevery = "
      "\"1d\"\nhosts = [1, 3]\nwork = \"2h\"\n";
  const Json found = capacity_of(text, "--seeds 1..4");
  const Json& fleets = found.at("fleet");
  const double jobs = fleets.at(0).at("jobs").get<double>();
  CHECK(std::abs(jobs - 4000.0) < 4 * std::sqrt(4000.0));  // Poisson: four standard deviations
  CHECK(fleets.at(1).at("jobs") == fleets.at(0).at("jobs"));
  // 2 h on 2 servers a day on average; the deviation of a job's time is its mean's and that of its servers.
  const double useful_h = fleets.at(0).at("host_time").at("useful_s").get<double>() / 3600.0;
  CHECK(useful_h == Approx(4000 * 4.0).epsilon(0.1));
}

TEST_CASE("capacity: a rate of arrivals is its mean gap") {
  const auto with_key = [](const std::string& key) {
    return small + "[capacity]\nhosts = 4\nhorizon = \"100d\"\n[[capacity.arrivals]]\n" + key + "\nwork = \"1h\"\n";
  };
  const auto fleet_of = [&](const std::string& key) { return capacity_of(with_key(key)).at("fleet"); };
  CHECK(fleet_of("rate = \"6/h\"") == fleet_of("every = \"10min\""));
  CHECK(fleet_of("rate = \"0.5/d\"") == fleet_of("every = \"2d\""));
  CHECK(fleet_of("rate = \"1/d\"") == fleet_of(""));
  for (const char* const rate : {"6", "6/week", "0/h", "-1/h", "x/h", "1e999/h", "/h"})
    CHECK(contains(refused(with_key(fmt::format("rate = \"{}\"", rate))),
                   fmt::format("as in \"6/h\"; found \"{}\"", rate)));
  CHECK(contains(refused(with_key("rate = \"6/h\"\nevery = \"1h\"")), "rate and every say the same"));
}

TEST_CASE("capacity: a server costs what its workers' classes do, and without any useful time there is no price") {
  // Ten servers have to be up at one time, and each is down for four fifths of the time.
  const std::string hopeless = R"(
[capacity]
hosts = 10
spares = [0, 1]
horizon = "30d"
workers_per_host = 3
failures = { kind = "exponential", mtbf = "2d" }
repair = { kind = "exponential", mean = "8d" }
checkpoint_time = "10min"
checkpoint_every = "daly"
[[capacity.job]]
hosts = 10
work = "200d"
)";
  const std::string classes =
      with(small, "latency = \"50us\"\n",
           "latency = \"50us\"\n[[cluster.hosts]]\nclass = \"fast\"\ncount = 1\nprice = \"7$/h\"\n"
           "[[cluster.hosts]]\nclass = \"slow\"\ncount = 2\n");
  const std::string prices = "[prices]\nworker = \"2$/h\"\n[[prices.hosts]]\nclass = \"slow\"\nprice = \"1$/h\"\n";
  const Json found = capacity_of(classes + hopeless + prices, "--seeds 1..3");
  // One of four workers costs 7 $/h, two 1 $/h, and the one in no class 2 $/h; a server has three of them.
  CHECK(found.at("price_usd_per_h").get<double>() == Approx(3.0 * (7.0 + 2 * 1.0 + 2.0) / 4.0).epsilon(1e-12));
  CHECK(found.at("fleet").at(0).at("usd_per_useful_host_h").is_null());
  const auto finding = found.at("finding").get<std::string>();
  CHECK(finding.starts_with(
      "With these seeds it is not clear whether spares pay off: with 1 spare there is a goodput of "));
  CHECK(contains(finding, "0.00 % with no spares"));
  CHECK_FALSE(contains(finding, "inf"));
  CHECK(capacity_of(small + hopeless).at("price_usd_per_h").is_null());
  CHECK(capacity_of(small + hopeless + "[prices]\nhost = \"24$/h\"\n").at("price_usd_per_h") == 24.0);
  CHECK(capacity_of(small + hopeless + "[prices]\ndevice = \"2$/h\"\n").at("price_usd_per_h") == 6.0);
}

TEST_CASE("capacity: the answer is there in Chinese") {
  const Scratch scratch;
  scratch.write("x.toml", small + with(training, "[3]", "[0, 3]") + "[[capacity.job]]\nhosts = 4\nwork = \"3d\"\n");
  const Called called = program("capacity x.toml --seeds 1..3 --language zh", scratch);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "每台服务器平均每 20 d 0 h 发生一次故障。"));
  for (const std::string& line : lines_of(called.out))
    for (const char* const english : {"spare", "server", "seed", "median", "goodput", "useful", "interval"})
      CHECK_FALSE(contains(line, english));
}

TEST_CASE("capacity: what is wrong with a fleet is told with its place") {
  const auto place = [](int line, int column) {
    return "x.toml:" + std::to_string(line) + ":" + std::to_string(column);
  };
  const int top = static_cast<int>(lines_of(small).size()) + 2;  // the line of [capacity]
  CHECK(contains(refused(small), "there is no fleet; expected [capacity] with hosts"));
  CHECK(refused(small + "\n[capacity]\nhosts = 4\n") ==
        place(top + 1, 1) +
            ": a fleet without work; expected [[capacity.job]], [[capacity.arrivals]], or "
            "[capacity.training] with hosts\n");
  CHECK(contains(refused(small + "\n[capacity]\nhorizon = \"1d\"\n[[capacity.job]]\nwork = \"1h\"\n"),
                 ": a fleet needs a number of servers: give capacity.hosts"));
  CHECK(refused(small + with(fleet, "hosts = 2", "hosts = 5")) ==
        place(top + 10, 1) + ": a job of 5 hosts never starts on a fleet of 4; expected at most capacity.hosts\n");
  CHECK(contains(refused(small + with(fleet, "hosts = 4\n", "hosts = 4\nspares = [0, -1]\n")), place(top + 2, 14)));
  CHECK(
      contains(refused(small + with(fleet, "hosts = 4\n", "hosts = 4\nspares = [0.5]\n")), "whole numbers from 0 on"));
  CHECK(contains(refused(small + with(fleet, "hosts = 4\n", "hosts = 4\nspares = [1, 0, 1]\n")), "is there twice"));
  CHECK(
      contains(refused(small + with(fleet, "work = \"1d\"\n", "")), "a job needs a size; expected one of work, steps"));
  CHECK(contains(refused(small + with(fleet, "work = \"1d\"", "work = \"1d\"\nsteps = 3")), "its size is given twice"));
  CHECK(
      contains(refused(small + fleet + "[[capacity.arrivals]]\nevery = \"0s\"\nwork = \"1h\"\n"), ":9: every must be"));
  CHECK(contains(refused(small + with(fleet, "\"6h\"", "\"daly\"")), "follow from failures; give capacity.failures"));
  CHECK(contains(refused(small + without(training, "repair")), "servers fail and are never repaired"));
  CHECK(contains(refused(small + without(training, "checkpoint_time")), "the time of a checkpoint; give"));
  CHECK(contains(refused(small + with(training, "hosts = 4\nwork", "work")), "a training needs servers"));
  CHECK(contains(refused(small + with(fleet, "work = \"1d\"", "tokens = 1e9")),
                 "samples of the scenario's model are no"));
  CHECK(contains(refused(small + with(fleet, "work = \"1d\"", "step = \"1s\"")), "a job needs a size"));
}

TEST_CASE("capacity: a fault that no choice of a run mends is named before the choice, as validate names it") {
  const std::string in_tokens =
      "[[strategy]]\nkind = \"gossip\"\n[capacity]\nhosts = 4\n[[capacity.job]]\nhosts = 2\ntokens = 1000\n";
  const Scratch scratch;
  scratch.write("x.toml", small + in_tokens);
  const Called asked = program("capacity x.toml", scratch), validated = program("validate x.toml", scratch);
  CHECK(asked.exit_code == 2);
  CHECK(validated.exit_code == 2);
  CHECK(contains(asked.err, "a job's size is in tokens"));
  CHECK(asked.err == validated.err);
}

TEST_CASE("capacity: a scenario of several runs is told to choose one, and a step that cannot be says why") {
  CHECK(contains(refused(small + fleet + "[grid]\n\"stop.steps\" = [1, 2]\n"), "the scenario has 2 runs"));
  CHECK(contains(refused(small + fleet + "[[strategy]]\nkind = \"gossip\"\n"), "the scenario has 2 runs"));
  const std::string torus = with(small, "workers = 4", "workers = 4\ntopology = { kind = \"torus\", shape = [2, 2] }");
  const std::string larger =
      with(with(fleet, "work = \"1d\"", "steps = 5"), "hosts = 4\n", "hosts = 4\nworkers_per_host = 3\n");
  CHECK(contains(refused(torus + larger),
                 "the step of a job of 2 hosts is that of the training of least_squares with cluster.workers = 6, "
                 "which the scenario "
                 "refuses ("));
}

TEST_CASE("capacity: what would never end is refused, and a fleet without work in its time says so") {
  const std::string many = "\n[capacity]\nhosts = 4\nspares = [0, 1]\nhorizon = \"1000000d\"\n[[capacity.arrivals]]\n";
  const std::string place = "x.toml:" + std::to_string(lines_of(small).size() + 2) + ":";
  const std::string arrivals = refused(small + many + "every = \"1s\"\nwork = \"1h\"\n");
  CHECK(arrivals.starts_with(place));
  CHECK(contains(arrivals, ": more than 1,000,000 jobs arrive; shorten capacity.horizon"));
  const std::string fragile = with(with(training, "\"20d\"", "\"1s\""), "\"2d\"", "\"1s\"");
  CHECK(contains(refused(small + fragile), ": servers fail more than 1,000,000 times; shorten"));
  CHECK(contains(refused(small + with(fragile, "hosts = 4\n", "hosts = 4\nwarm_up = \"1000d\"\n")),
                 ": servers fail more than 1,000,000 times before the beginning; shorten capacity.warm_up"));
  const Json idle = capacity_of(small + with(many, "1000000d", "1d") + "every = \"1000d\"\nwork = \"1h\"\n");
  CHECK(idle.at("finding") == "No server does any useful work.");
  CHECK(idle.at("fleet").at(0).at("wait_mean_s").is_null());
}

TEST_CASE("capacity: a trace of another format is refused, and one of faults is read") {
  const Scratch scratch;
  scratch.write("faults.csv",
                "# Faults of 1 of 2 servers, 20 days.\nserver,start_day,end_day,level,class\n0,1,3,x,y\n");
  scratch.write("other.csv", "node,from,to\n0,1,3\n");
  const std::string text =
      small + with(fleet, "hosts = 4\n", "hosts = 4\nfailures = { kind = \"trace\", path = \"faults.csv\" }\n");
  scratch.write("x.toml", text);
  const Called called = program("capacity x.toml --json", scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  // Two of four servers fail once in 20 days; 2 x (20 - 1) days between two failures of one server.
  CHECK(Json::parse(called.out).at("mtbf_s").get<double>() == Approx((2 * 20 - 2) * day_s).epsilon(1e-9));
  scratch.write("x.toml", with(text, "faults.csv", "other.csv"));
  for (const char* command : {"capacity", "validate"}) {
    const Called wrong = program(std::string(command) + " x.toml", scratch);
    CHECK(wrong.exit_code == 2);
    CHECK(wrong.err.starts_with("other.csv:1:1: expected the header \"host,down_at,up_at\", or \"server,start_day,"));
  }
}

TEST_CASE("capacity: the section changes no run, and the resolved scenario keeps it") {
  const Scratch scratch;
  scratch.write("x.toml", small + training);
  const Called called = program("validate x.toml --resolved", scratch);
  REQUIRE(called.exit_code == 0);
  scratch.write("y.toml", called.out);
  CHECK(program("validate y.toml --resolved", scratch).out == called.out);
  CHECK(program("capacity x.toml --json", scratch).out ==
        with(program("capacity y.toml --json", scratch).out, "\"scenario\": \"y\"", "\"scenario\": \"x\""));
  CHECK(each(results_of(small), "id") == each(results_of(small + training), "id"));
}

TEST_CASE("capacity: a time of writing alone, and more spares than hosts, are refused") {
  const std::string job = small + R"(
[capacity]
hosts = 4
horizon = "10d"
checkpoint_every = "6h"
[[capacity.job]]
hosts = 4
work = "2d"
)";
  CHECK(contains(refused(job, "--set capacity.checkpoint_write=3h"),
                 "checkpoint_write is the time behind capacity.checkpoint_time; give both, or neither"));
  CHECK(contains(refused(job, "--set capacity.spares=[5]"), "5 spares for 4 hosts; expected at most as many"));
}

}  // namespace capacity_test
