// The claims of the scenarios about fleets, by `simgrad capacity`, and of a plan with failures, by `simgrad plan`.
#include <nlohmann/json.hpp>

#include "house/results.h"
#include "scratch.h"

namespace capacity_scenarios_test {

using namespace simgrad::tests;
using Json = nlohmann::ordered_json;

namespace {

constexpr double day_s = 86400.0;

Json capacity_of(const std::string& name, const std::string& options) {
  const Called called = call("simgrad capacity 'scenarios/" + name + "' --json " + options, source_dir().string());
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return Json::parse(called.out);
}

double number(const Json& tree, const char* key) { return tree.at(key).get<double>(); }

}  // namespace

TEST_CASE("fleet_and_spares: one spare pays, two cost as much as none, and eight stand idle") {
  const Json found = capacity_of("fleet_and_spares.toml", "--seeds 1..20");
  CHECK(found.at("finding").get<std::string>().starts_with("1 spare pays: "));
  CHECK(number(found, "mtbf_s") == Approx(142 * day_s).epsilon(0.01));
  const auto with = [&](int spares) {
    for (const Json& each : found.at("fleet"))
      if (each.at("spares") == spares) return each;
    throw std::runtime_error("no such number of spares");
  };
  const auto share = [&](int spares, const char* part) {
    const Json each = with(spares);
    double all_s = 0.0;
    for (const auto& [name, time_s] : each.at("host_time").items()) all_s += time_s.get<double>();
    return number(each.at("host_time"), part) / all_s;
  };
  const auto dollars = [&](int spares) { return number(with(spares), "usd_per_useful_host_h"); };
  CHECK(share(0, "waiting_s") == Approx(0.042).epsilon(0.05));
  CHECK(share(1, "waiting_s") < 0.5 * share(0, "waiting_s"));
  CHECK(dollars(1) == Approx(17.50).epsilon(0.001));
  CHECK(dollars(0) == Approx(17.70).epsilon(0.001));
  CHECK(dollars(2) < dollars(0));
  CHECK(dollars(8) > 1.09 * dollars(0));
  CHECK(number(with(0), "wait_mean_s") == Approx(5.4 * day_s).epsilon(0.02));
  CHECK(number(with(1), "wait_mean_s") == Approx(42 * 3600.0).epsilon(0.02));
  CHECK(number(with(2), "wait_mean_s") < 16 * 3600.0);
  CHECK(number(with(8), "wait_mean_s") > 0.95 * number(with(4), "wait_mean_s"));
}

TEST_CASE(
    "days_to_tokens: spares halve the time, and the interval of checkpoints matters for the seeds with many failures") {
  const Json found = capacity_of("days_to_tokens.toml", "--seeds 1..50").at("training");
  const auto under = [&](const char* rule, int spares) {
    for (const Json& each : found.at("rules"))
      if (each.at("rule") == rule && each.at("spares") == spares) return each;
    throw std::runtime_error("no such rule");
  };
  const Json daly = under("daly", 2), young = under("young", 2), fixed = under("12h", 2);
  CHECK(number(found, "work_s") == Approx(13.6 * day_s).epsilon(0.01));
  CHECK(number(daly, "interval_s") == Approx(159 * 60.0).epsilon(0.01));
  CHECK(number(young, "interval_s") == Approx(number(daly, "interval_s")).epsilon(0.01));
  CHECK(number(daly, "median_s") == Approx(14.0 * day_s).epsilon(0.01));
  CHECK(number(daly, "p90_s") == Approx(15.0 * day_s).epsilon(0.01));
  CHECK(number(fixed, "p90_s") == Approx(16.1 * day_s).epsilon(0.01));
  CHECK(number(fixed, "mean_s") - number(daly, "mean_s") == Approx(10.05 * 3600.0).epsilon(0.05));
  CHECK(number(fixed, "median_s") - number(daly, "median_s") < 6 * 3600.0);
  const Json alone = under("daly", 0);
  CHECK(number(alone, "median_s") > 2.0 * number(daly, "median_s"));
  CHECK(number(alone.at("host_time"), "waiting_s") > number(alone.at("host_time"), "useful_s"));
  CHECK(found.at("finding_on_spares").get<std::string>().starts_with("2 spares pay: a goodput of "));
  CHECK(found.at("finding").get<std::string>().find("On the same failures Daly's interval saves") != std::string::npos);
}

TEST_CASE("thirty_days_of_400_servers: 16 spares pay, and fewer than twelve leave the training waiting") {
  const Json found = capacity_of("thirty_days_of_400_servers.toml", "--seeds 1..20");
  CHECK(found.at("finding").get<std::string>().starts_with("16 spares pay: "));
  CHECK(number(found, "mtbf_s") == Approx(234 * day_s).epsilon(0.003));
  CHECK(number(found.at("steps").at(0), "step_s") == Approx(1.7).epsilon(0.02));
  CHECK(number(found, "checkpoint_s") == Approx(0.0041).epsilon(0.03));
  CHECK(number(found, "checkpoint_write_s") == Approx(0.42).epsilon(0.03));
  for (const Json& each : found.at("fleet")) {
    const double goodput = number(each, "goodput");
    if (each.at("spares") == 0) CHECK(goodput == 0.0);
    if (each.at("spares") == 16) {
      CHECK(goodput == Approx(0.947).epsilon(0.001));
      CHECK(number(each, "goodput_low") == Approx(0.944).epsilon(0.001));
      CHECK(number(each, "goodput_high") == Approx(0.949).epsilon(0.001));
    } else {
      CHECK(goodput < 0.94);
    }
  }
}

TEST_CASE("plan_with_failures: 16 servers would meet the deadline if none failed, and with failures 32 do") {
  const auto plan = [](const std::string& options) {
    const Called called = call("simgrad plan scenarios/plan_with_failures.toml --json --no-confirm --out '" +
                                   Scratch().path() + "/out' --seconds 10min " + options,
                               source_dir().string());
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    return Json::parse(called.out);
  };
  const Json without = plan("--set 'capacity={}'").at("winner");
  CHECK(without.at("hosts") == 16);
  CHECK(number(without, "time_s") == Approx(53.72 * day_s).epsilon(1e-3));
  CHECK(number(without, "cost_usd") == Approx(330e3).epsilon(1e-3));
  const Json found = plan("");
  const Json winner = found.at("winner");
  CHECK(winner.at("hosts") == 32);
  CHECK(winner.at("spares") == 2);
  CHECK(number(winner, "goodput") == Approx(0.9545).epsilon(1e-3));
  CHECK(number(winner, "failures_expected") == Approx(10.0).epsilon(0.01));
  CHECK(number(winner, "checkpoint_interval_s") == Approx(126 * 60.0).epsilon(0.01));
  CHECK(number(winner, "time_by_formula_s") == Approx(28.4 * day_s).epsilon(1e-3));
  CHECK(number(winner, "time_s") == Approx(28.44 * day_s).epsilon(1e-3));
  CHECK(number(winner, "cost_usd") == Approx(371.4e3).epsilon(1e-3));
  const Json of_16 = found.at("candidates").at(1);
  CHECK(of_16.at("spares") == 4);
  CHECK(number(of_16.at("expected"), "time_s") == Approx(55.14 * day_s).epsilon(1e-3));
}

}  // namespace capacity_scenarios_test
