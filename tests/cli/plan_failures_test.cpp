// Plans of an amount of training on servers that fail: goodput, checkpoints and spares, by formula and by simulation.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <regex>

#include "catch.h"
#include "cli/planning.h"

namespace plan_failures_test {

using namespace simgrad::tests;

namespace {

constexpr double servers = 4.0, mtbf_s = 1000.0, repair_s = 60.0, detection_s = 2.0, restart_s = 3.0, saving_s = 0.5;

double number(const Json& tree, const char* key) { return tree.at(key).get<double>(); }

/// J. T. Daly's interval and mean time, FGCS 22, 2006, for M = mtbf / servers; intervals are whole steps.
struct Daly {
  double interval_s = 0.0, time_s = 0.0;

  Daly(double work_s, double step_s, double enough, double no_spare) {
    const double M = mtbf_s / servers, x = saving_s / (2.0 * M);
    const double best_s = std::sqrt(2.0 * saving_s * M) * (1.0 + std::sqrt(x) / 3.0 + x / 9.0) - saving_s;
    interval_s = std::ceil(best_s / step_s) * step_s;
    const double R = detection_s * (1.0 - no_spare) + restart_s;
    const double whole = std::ceil(work_s / interval_s * (1.0 - 1e-12)) - 1.0;
    const double segments =
        whole * (std::exp((interval_s + saving_s) / M) - 1.0) + std::exp((work_s - whole * interval_s) / M) - 1.0;
    time_s = M * std::exp(R / M) * segments / enough;
  }
};

constexpr double q = repair_s / (mtbf_s + repair_s);

void check_refused(const std::string& text, const std::vector<std::string>& parts) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("plan x.toml", scratch);
  CAPTURE(called.err);
  CHECK(called.exit_code == 2);
  for (const std::string& part : parts) CHECK(contains(called.err, part));
}

}  // namespace

TEST_CASE("A plan with [capacity] takes the time of failures by Daly's formula, and the money with it") {
  const Json without = plan_of(long_one)["winner"];
  const double work_s = number(without, "time_s"), step_s = work_s / 1e8;
  CHECK(without["goodput"].is_null());
  const Json plan = plan_of(long_one + fails);
  const Json& winner = plan["winner"];
  const Daly daly(work_s, step_s, std::pow(1.0 - q, servers), 1.0);
  CHECK(number(winner, "checkpoint_interval_s") == Approx(daly.interval_s).epsilon(1e-9));
  CHECK(number(winner, "time_by_formula_s") == Approx(daly.time_s).epsilon(1e-9));
  CHECK(winner["spares"] == 0);
  // The mean of the simulation of 100 seeds is shown.
  const Json& simulated = winner["time_by_simulation"];
  CHECK(simulated["seeds"] == 100);
  CHECK(std::abs(number(simulated, "mean_s") / daly.time_s - 1.0) < 0.03);
  const double T = number(winner, "time_s");
  CHECK(T == Approx(number(simulated, "mean_s")).epsilon(1e-9));
  CHECK(number(winner, "goodput") == Approx(work_s / T).epsilon(1e-9));
  CHECK(number(winner, "failures_expected") == Approx(T * std::pow(1.0 - q, servers) * servers / mtbf_s).epsilon(1e-9));
  CHECK(number(winner, "cost_usd") == Approx(servers * T * 1e-3).epsilon(1e-9));
  CHECK(number(winner, "energy_j") == Approx(number(without, "energy_j") * T / work_s).epsilon(1e-9));
  CHECK(contains(plan["texts"]["failures"], "by the simulation of 100 seeds"));
  CHECK(plan["texts"]["left_out"] == "The answer leaves out reading the input. [training.input] takes in the reading.");
}

TEST_CASE("The spares are those that the objective prefers, and are paid for") {
  const std::string spared = long_one + fails + "spares = [0, 1, 2]\n";
  const double work_s = number(plan_of(long_one)["winner"], "time_s"), step_s = work_s / 1e8;
  const auto time_s = [&](int spares) {
    const double p0 = std::pow(1.0 - q, servers + spares), n = servers + spares;
    const double enough = p0 * (1.0 + (spares > 0 ? n * q / (1.0 - q) : 0.0) +
                                (spares > 1 ? n * (n - 1.0) / 2.0 * q * q / (1.0 - q) / (1.0 - q) : 0.0));
    // Among the others, as many are down as there are spares.
    const double m = n - 1.0, r = q / (1.0 - q);
    const double one = m * r, two = m * (m - 1.0) / 2.0 * r * r;
    const double no_spare = spares == 0 ? 1.0 : spares == 1 ? one / (1.0 + one) : two / (1.0 + one + two);
    return Daly(work_s, step_s, enough, no_spare).time_s;
  };
  int cheapest = 0;
  for (const int spares : {1, 2})
    if ((servers + spares) * time_s(spares) < (servers + cheapest) * time_s(cheapest)) cheapest = spares;
  const Json money = plan_of(spared)["winner"];
  CHECK(money["spares"] == cheapest);
  CHECK(number(money, "time_by_formula_s") == Approx(time_s(cheapest)).epsilon(1e-9));
  const Json time = plan_of(with(spared, "\"cheapest\"", "\"fastest\""))["winner"];
  CHECK(time["spares"] == 2);
  CHECK(number(time, "time_by_formula_s") == Approx(time_s(2)).epsilon(1e-9));
  CHECK(number(time, "cost_usd") == Approx((servers + 2.0) * number(time, "time_s") * 1e-3).epsilon(1e-9));
  const double idle_j = 2.0 * 100.0 * number(time, "time_s");
  const double busy_j = number(plan_of(long_one)["winner"], "energy_j") * number(time, "time_s") / work_s;
  CHECK(number(time, "energy_j") == Approx(busy_j + idle_j).epsilon(1e-9));
}

TEST_CASE("The winner's scenario has the winner's training for simgrad capacity") {
  const Scratch scratch;
  scratch.write("x.toml", with(long_one, "\"cheapest\"", "\"fastest\"") + fails + "spares = [2]\n");
  const Called planned = program("plan x.toml --json", scratch);
  CAPTURE(planned.err);
  REQUIRE(planned.exit_code == 0);
  const Json winner = Json::parse(planned.out)["winner"];
  const Called fleet = program("capacity out/x/winner.toml --json --seeds 1..100", scratch);
  CAPTURE(fleet.err);
  REQUIRE(fleet.exit_code == 0);
  const Json rules = Json::parse(fleet.out)["training"]["rules"];
  CHECK(rules[0]["rule"] == "daly");
  CHECK(rules[0]["spares"] == 2);
  CHECK(number(rules[0], "interval_s") == Approx(number(winner, "checkpoint_interval_s")).epsilon(1e-3));
  CHECK(number(rules[0], "mean_s") == Approx(number(winner["time_by_simulation"], "mean_s")).epsilon(2e-3));
  // The interval is written in four digits, and is the one that the fleet runs, in whole steps.
  std::smatch fixed;
  const std::string written = contents(scratch.path() + "/out/x/winner.toml");
  REQUIRE(std::regex_search(written, fixed, std::regex("fixed = \"([0-9.]+)s\"")));
  CHECK(fixed[1].length() <= 5);
  const auto of_fixed =
      std::ranges::find_if(rules, [](const Json& rule) { return rule["rule"] != "young" && rule["rule"] != "daly"; });
  REQUIRE(of_fixed != rules.end());
  CHECK(number(*of_fixed, "interval_s") == Approx(std::stod(fixed[1])).epsilon(1e-4));
  CHECK(number(*of_fixed, "interval_s") == Approx(number(winner, "checkpoint_interval_s")).epsilon(1e-3));
}

TEST_CASE("A plan without failures says in a sentence that it leaves them out") {
  const Scratch scratch;
  scratch.write("x.toml", long_one);
  const Called english = program("plan x.toml --no-confirm", scratch);
  CHECK(contains(english.out, "The answer leaves out failures of hosts, writing checkpoints and reading the input."));
  CHECK(contains(english.out, "[capacity] with failures"));
  const Called chinese = program("plan x.toml --no-confirm --language zh", scratch);
  CHECK(contains(chinese.out, "没有考虑主机故障"));
  const Json to_loss = plan_of(twelve)["texts"];
  CHECK(contains(to_loss["left_out"], "[cluster.failures] takes in failures"));
  CHECK(to_loss["failures"] == "");
}

TEST_CASE("The numbers of a plan are those of before where nothing fails") {
  const Json without = plan_of(long_one)["winner"];
  // Failures of a class that no server has, and a section that is not asked for.
  const Json with_fleet = plan_of(long_one + "[capacity]\nrestart = \"1h\"\nspares = [3]\n")["winner"];
  CHECK(with_fleet == without);
}

TEST_CASE("An amount of training with [cluster.failures] is answered by the same formula") {
  const std::string hosts = R"([cluster.failures]
hosts = { kind = "exponential", mtbf = "1000s" }
repair = { kind = "constant", time = "60s" }
detection = "2s"
restart_time = "3s"
)";
  const std::string stored = with(with(long_one + hosts, "numbers = false\n",
                                       "numbers = false\ncheckpoint_every = \"daly\"\noptimizer = \"adam\"\n"),
                                  "latency = \"50us\"\n", "latency = \"50us\"\nstorage_bandwidth = \"100Bps\"\n");
  const Json winner = plan_of(stored)["winner"];
  // The run of its first steps, for the time of a checkpoint.
  const Json run = results_of(
      with(with(stored, "steps = 1", "steps = 2"), "checkpoint_every = \"daly\"", "checkpoint_every_steps = 1"),
      "--no-baseline --no-why")["runs"][0];
  const double written_s = number(run, "checkpoint_s");
  const Json plain = plan_of(with(long_one, "numbers = false\n", "numbers = false\noptimizer = \"adam\"\n"))["winner"];
  const double work_s = number(plain, "time_s"), step_s = work_s / 1e8, M = mtbf_s / servers;
  const double x = written_s / (2.0 * M);
  const double best_s = std::sqrt(2.0 * written_s * M) * (1.0 + std::sqrt(x) / 3.0 + x / 9.0) - written_s;
  const double interval_s = std::ceil(best_s / step_s) * step_s;
  CHECK(number(winner, "checkpoint_interval_s") == Approx(interval_s).epsilon(1e-6));
  // All wait for the repair, in which the crash is detected; then they restart, and read the checkpoint.
  const double whole = std::ceil(work_s / interval_s * (1.0 - 1e-12)) - 1.0;
  const double segments =
      whole * std::expm1((interval_s + written_s) / M) + std::expm1((work_s - whole * interval_s) / M);
  const double time_s = M * std::exp((restart_s + written_s) / M) * segments / std::pow(1.0 - q, servers);
  CHECK(number(winner, "time_by_formula_s") == Approx(time_s).epsilon(1e-6));
  CHECK(contains(plan_of(stored)["texts"]["failures"], "by the simulation of 100 seeds"));
}

TEST_CASE("Hosts of several devices fail whole, by [cluster.failures] as by [capacity]") {
  const std::string eight =
      with(with(long_one, "workers = 4\n", "workers = 16\ntopology = { kind = \"star\", devices = 8 }\n"),
           "numbers = false\n", "numbers = false\noptimizer = \"adam\"\n");
  const std::string stored = with(eight, "latency = \"50us\"\n", "latency = \"50us\"\nstorage_bandwidth = \"1kBps\"\n");
  const Json by_cluster = plan_of(with(stored, "numbers = false\n", "numbers = false\ncheckpoint_every = \"daly\"\n") +
                                  R"([cluster.failures]
hosts = { kind = "exponential", mtbf = "1000s" }
repair = { kind = "constant", time = "60s" }
detection = "2s"
restart_time = "3s"
)")["winner"];
  const Json by_capacity = plan_of(stored + R"([capacity]
failures = { kind = "exponential", mtbf = "1000s" }
repair = { kind = "constant", time = "60s" }
detection = "2s"
restart = "3s"
)")["winner"];
  // Two hosts: a failure every 500 s while both are up, whichever section has them.
  CHECK(number(by_cluster, "checkpoint_interval_s") ==
        Approx(number(by_capacity, "checkpoint_interval_s")).epsilon(1e-9));
  const double with_servers_s = number(by_cluster, "time_s") * std::pow(1.0 - q, 2.0);
  CHECK(number(by_cluster, "failures_expected") == Approx(with_servers_s / 500.0).epsilon(1e-6));
}

TEST_CASE("An amount whose failures no formula has is simulated whole if it is short, and refused if it is long") {
  const std::string elastic = R"([cluster.failures]
hosts = { kind = "exponential", mtbf = "50ms" }
repair = { kind = "constant", time = "1ms" }
detection = "0.1ms"
recovery = "elastic"
)";
  check_refused(long_one + elastic, {"x.toml:", "100000000 steps", "recovery = \"elastic\"", "at most 256 steps"});
  const std::string crash = "[cluster.failures]\ncrash = [{ rank = 1, at = \"1ms\", repair = \"5ms\" }]\n";
  check_refused(long_one + crash, {"crashes at given times"});
  const std::string few = with(long_one, "6_400_000_000", "12_800");  // 200 steps
  const Json winner = plan_of(few + elastic)["winner"];
  CHECK(winner["goodput"].is_null());
  CHECK(winner["projected"] == false);
  CHECK(winner["seeds"].get<int>() >= 3);
  CHECK(number(winner, "time_s") > number(plan_of(few)["winner"], "time_s"));
}

TEST_CASE("Failures that come faster than a restart cost a factor, and repairs may leave hardly any progress") {
  // One server's failure in 250 s, of which two spares keep it from waiting but for the detection and the restart.
  const std::string slow = with(with(with(fails, "\"2s\"", "\"200s\""), "\"3s\"", "\"60s\""), "\"60s\" }", "\"10s\" }");
  const std::string hasty = with(long_one, "6_400_000_000", "640_000_000") + slow + "spares = [2]\n";
  const Json winner = plan_of(hasty, "--no-confirm")["winner"];
  const double M = mtbf_s / servers, R = 260.0, work_s = number(winner, "goodput") * number(winner, "time_s");
  CHECK(number(winner, "time_by_formula_s") / work_s > std::exp(R / M));
  CHECK(number(winner, "time_by_formula_s") / work_s < 1.1 * std::exp(R / M));
  const Scratch scratch;
  scratch.write("x.toml", long_one + with(fails, "\"1000s\"", "\"12s\""));
  const Called lost = program("plan x.toml", scratch);
  CHECK(contains(lost.out, "No candidate comes to the goal"));
  CHECK(contains(lost.out, "1 min 0 s and 0 spare servers"));
}

TEST_CASE("Failures of two sections are refused, and those whose section lacks something") {
  check_refused(long_one + fails + "[cluster.failures]\nhosts = { kind = \"exponential\", mtbf = \"1h\" }\n" +
                    "repair = { kind = \"constant\", time = \"60s\" }\n",
                {"leave one of them out"});
  check_refused(long_one + with(fails, "checkpoint_time = \"0.5s\"\n", ""), {"capacity.checkpoint_time above 0s"});
  check_refused(long_one + with(fails, "repair = { kind = \"constant\", time = \"60s\" }\n", ""),
                {"servers fail and are never repaired"});
  // Without checkpoints a failure loses all of it.
  const Scratch scratch;
  scratch.write("x.toml", long_one +
                              "[cluster.failures]\nhosts = { kind = \"exponential\", mtbf = \"4s\" }\n"
                              "repair = { kind = \"constant\", time = \"1s\" }\nrestart_time = \"0.5s\"\n");
  const Called lost = program("plan x.toml", scratch);
  CHECK(contains(lost.out, "No candidate comes to the goal"));
  CHECK(contains(lost.out, "it writes no checkpoints"));
}

TEST_CASE("A candidate on spot is not dropped for the price on demand, and is not paid while it is away") {
  const std::string spot = with(with(with(long_one, "worker = \"3.6$/h\"", "worker = \"0.40$/h\"\nspot = \"0.13$/h\""),
                                     "latency = \"50us\"\n", "latency = \"50us\"\nstorage_bandwidth = \"1MBps\"\n"),
                                "numbers = false\n", "numbers = false\ncheckpoint_every_steps = 1000\n") +
                           R"([[strategy]]
kind = "parameter_server"
[cluster.failures]
spot = { interruption = "4h", replacement = "2min" }
[plan.space]
"cluster.failures.market" = ["on_demand", "spot"]
"training.checkpoint_every_steps" = [0, 1000000]
)";
  const Json winner = plan_of(spot, "--no-confirm")["winner"];
  CHECK(winner["parameters"]["cluster.failures.market"] == "spot");
  const double paid = servers * number(winner, "time_s") * 0.13 / 3600.0;
  CHECK(number(winner, "cost_usd") == Approx(paid * 4.0 * 60.0 / (4.0 * 60.0 + 2.0)).epsilon(2e-3));
}

TEST_CASE("A training that is short against a repair is not slowed as in the long run") {
  const std::string many = with(long_one, "6_400_000_000", "64_000") + with(with(fails, "1000s", "1d"), "60s", "14d");
  const Json winner = plan_of(many, "--no-confirm")["winner"];
  CHECK(number(winner, "goodput") == Approx(1.0).epsilon(1e-9));
  CHECK(winner["time_by_simulation"]["seeds"] == 100);
}

TEST_CASE("Of several numbers of spares the best is chosen by the times that are shown") {
  const std::string failing = with(
      with(with(with(fails, "exponential", "weibull"), "\"1000s\"", "\"20000s\", shape = 0.5"), "\"60s\"", "\"600s\""),
      "repair =", "spares = [0, 1, 2]\nrepair =");
  for (const char* deadline : {"2.95h", "3.3h"}) {
    CAPTURE(deadline);
    const std::string text =
        with(long_one, "\"cheapest\"", std::string("\"cheapest\"\ndeadline = \"") + deadline + '"');
    const auto winner = [&](const std::string& spares) {
      const Scratch scratch;
      scratch.write("x.toml", text + with(failing, "[0, 1, 2]", spares));
      const Called called = program("plan x.toml --json --no-confirm", scratch);
      return called.exit_code == 0 ? Json::parse(called.out)["winner"] : Json();  // none that meets the deadline
    };
    Json best;
    for (const char* spares : {"[0]", "[1]", "[2]"})
      if (const Json one = winner(spares);
          !one.is_null() && (best.is_null() || number(one, "cost_usd") < number(best, "cost_usd")))
        best = one;
    REQUIRE(!best.is_null());
    const Json of_all = winner("[0, 1, 2]");
    REQUIRE(!of_all.is_null());
    CHECK(of_all["spares"] == best["spares"]);
    CHECK(number(of_all, "time_s") == number(best, "time_s"));
  }
}

TEST_CASE("No multiple of Daly's interval is clearly better where checkpoints are written behind the work") {
  const std::string behind = long_one + with(with(fails, "1000s", "40000s"), "\"0.5s\"",
                                             "\"0.1s\"\ncheckpoint_write = \"120s\"\nspares = [1]");
  const Json winner = plan_of(behind, "--no-confirm")["winner"];
  const double interval_s = number(winner, "checkpoint_interval_s");
  CHECK(interval_s == Approx(120.0).epsilon(1e-3));
  for (const double factor : {0.4, 0.7, 1.5, 2.0, 4.0}) {
    const std::string every = "checkpoint_every = \"" + std::to_string(factor * interval_s) + "s\"\n";
    const Json other = plan_of(behind + every, "--no-confirm")["winner"];
    CHECK(number(other, "time_by_formula_s") > 0.995 * number(winner, "time_by_formula_s"));
  }
}

TEST_CASE("The simulation among failures ends with the time of the plan") {
  const Scratch scratch;
  scratch.write("x.toml", with(long_one, "6_400_000_000", "640_000_000_000_000") + with(fails, "1000s", "10000s") +
                              "spares = [2]\n");
  const auto begun = std::chrono::steady_clock::now();
  const Called called = program("plan x.toml --json --no-confirm --seconds 3", scratch);
  REQUIRE(called.exit_code == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(30));
  CHECK(contains(called.out, "This is by the formula alone."));
}

TEST_CASE("A winner with more spares than servers is a scenario for simgrad capacity") {
  const Scratch scratch;
  scratch.write("x.toml", with(with(long_one, "workers = 4", "workers = 1"), "\"cheapest\"", "\"fastest\"") +
                              with(fails, "\"60s\"", "\"200s\"") + "spares = [2]\n");
  const Called planned = program("plan x.toml --json --no-confirm", scratch);
  REQUIRE(planned.exit_code == 0);
  const Called fleet = program("capacity out/x/winner.toml --json --seeds 1..100", scratch);
  CAPTURE(fleet.err);
  REQUIRE(fleet.exit_code == 0);
  const Json rule = Json::parse(fleet.out)["training"]["rules"][0];
  CHECK(rule["spares"] == 2);
  const Json simulated = Json::parse(planned.out)["winner"]["time_by_simulation"];
  CHECK(number(rule, "mean_s") == Approx(number(simulated, "mean_s")).epsilon(2e-3));
}

TEST_CASE("Checkpoints are written as [capacity] says, else as the training does, whichever section has the failures") {
  const std::string every = with(long_one, "numbers = false\n", "numbers = false\ncheckpoint_every = \"30min\"\n");
  const auto interval_s = [](const std::string& text) {
    return number(plan_of(text, "--no-confirm")["winner"], "checkpoint_interval_s");
  };
  CHECK(interval_s(every + fails) == Approx(1800.0).epsilon(1e-3));
  CHECK(interval_s(every + fails + "checkpoint_every = \"10min\"\n") == Approx(600.0).epsilon(1e-3));
  const std::string hosts =
      "[cluster.failures]\nhosts = { kind = \"exponential\", mtbf = \"10000s\" }\n"
      "repair = { kind = \"constant\", time = \"60s\" }\n";
  CHECK(interval_s(every + hosts + "[capacity]\ncheckpoint_every = \"10min\"\n") == Approx(600.0).epsilon(1e-3));
  const Json costly = plan_of(every + hosts + "[capacity]\ncheckpoint_time = \"20s\"\n", "--no-confirm")["winner"];
  const Json free = plan_of(every + hosts, "--no-confirm")["winner"];
  CHECK(number(costly, "time_by_formula_s") > 1.01 * number(free, "time_by_formula_s"));
}

TEST_CASE("The section of a plan has no jobs, which simgrad capacity asks for") {
  const Scratch scratch;
  scratch.write("x.toml", long_one + fails + "hosts = 4\n");
  const Called fleet = program("capacity x.toml", scratch);
  CHECK(fleet.exit_code == 2);
  CHECK(contains(fleet.err, "has no jobs"));
  CHECK(program("validate x.toml", scratch).exit_code == 0);
}

TEST_CASE("The table of candidates has goodput, failures, interval and spares") {
  const Scratch scratch;
  scratch.write("x.toml", long_one + fails);
  REQUIRE(program("plan x.toml --no-confirm --quiet", scratch).exit_code == 0);
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/out/x/candidates.csv"));
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], ",goodput,failures_expected,checkpoint_interval_s,spares,reason"));
  CHECK(std::ranges::count(lines[0], ',') == std::ranges::count(lines[1], ','));
}

}  // namespace plan_failures_test
