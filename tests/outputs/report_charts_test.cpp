// Time, Pareto front and staleness of the report.
#include "catch.h"
#include "outputs/report/charts/pareto.h"
#include "outputs/report/charts/staleness.h"
#include "outputs/report/charts/time.h"
#include "report_sample.h"

namespace report_charts_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

Run priced(const std::string& label, double s, std::optional<double> usd, std::optional<double> joules = {}) {
  Run run = sample_run(label, 2, {s, 0.0, 0.0, 0.0});
  run.bill.cost_usd = usd;
  run.bill.energy_j = joules;
  return run;
}

Run stale(const std::string& label, std::int64_t workers, std::map<std::int64_t, std::int64_t> counts) {
  Run run = sample_run(label, workers, {1.0, 0.0, 0.0, 0.0});
  run.record.staleness_counts = std::move(counts);
  run.record.ranks.push_back({.role = "server"});
  return run;
}

}  // namespace

TEST_CASE("the time chart names the largest and the smallest share of computing, and the cause of the smallest") {
  const Results results = results_of(
      {sample_run("ring", 2, {3.0, 1.0, 0.0, 0.0}), over(sample_run("server", 2, {1.0, 3.0, 0.0, 0.0}), "in-2", 0.8)});
  const auto chart = report::time(report_model(results));
  REQUIRE(chart);
  CHECK(chart->rows[1].parts == Parts{1.0, 3.0, 0.0, 0.0});
  CHECK(chart->ranks[0].names == std::vector<std::string>{"rank 0", "rank 1"});
  CHECK(chart->sentence ==
        "ring computes for 75 % of its time, the largest share, and server for 25 %, the smallest: communicating takes "
        "75 % of the time, and the link \"in-2\" is busy 80 % of the time.");
  CHECK(report::time(report_model(results_of({sample_run("ring", 2, {3.0, 1.0, 0.0, 0.0})})))->sentence ==
        "ring computes for 75 % of its time: communicating takes 25 % of the time.");
  CHECK(report::time(report_model(results_of({sample_run("a", 2, {3, 1, 0, 0}), sample_run("b", 2, {3, 1, 0, 0})})))
            ->sentence == "a computes for 75 % of its time, and every other case nearly as much.");
}

TEST_CASE("the time chart divides the four into the parts that occur") {
  using record::TimePart;
  Run run = sample_run("ring", 2, {3.0, 1.0, 1.0, 0.0});
  for (record::RankUse& rank : run.record.ranks) {
    rank.parts[TimePart::compute_gradient] = 3.0;
    rank.parts[TimePart::communicate_storage] = 1.0;
  }
  run.record.ranks[0].parts[TimePart::wait_server] = 1.0;
  run.record.ranks[1].parts[TimePart::wait_turn] = 1.0;
  const auto chart = report::time(report_model(results_of({run})));
  CHECK(chart->detail == std::vector<TimeDetail>{{TimePart::compute_gradient},
                                                 {TimePart::communicate_storage},
                                                 {TimePart::wait_server},
                                                 {TimePart::wait_turn}});
  CHECK(chart->rows[0].detail == std::vector{3.0, 1.0, 0.5, 0.5});  // means over the two workers
  CHECK(chart->ranks[0].detail[1] == std::vector{3.0, 1.0, 0.0, 1.0});
  CHECK(chart->table.columns.size() == 6 + 4);
  CHECK(chart->table.columns[8].name == "waiting for a server's processor");
  CHECK(chart->table.rows[0][8].number == 0.5);
  // A run of a release without parts leaves the chart with the four.
  CHECK(report::time(report_model(results_of({run, sample_run("old", 2, {3.0, 1.0, 0.0, 0.0})})))->detail.empty());
}

TEST_CASE("the time chart divides gradients on devices by their kind, and has the rest of them as gradients") {
  using record::GradientPart;
  using record::TimePart;
  Run run = sample_run("ring", 2, {3.0, 1.0, 0.0, 0.0});
  for (record::RankUse& rank : run.record.ranks) {
    rank.parts[TimePart::compute_gradient] = 3.0;
    rank.parts[TimePart::communicate_transfer] = 1.0;
    rank.gradient[GradientPart::products] = 2.0;
    rank.gradient[GradientPart::attention] = 0.0;
    rank.gradient[GradientPart::elementwise] = 0.75;
  }
  run.record.gradient = run.record.ranks[0].gradient;
  const auto chart = report::time(report_model(results_of({run})));
  CHECK(chart->detail == std::vector<TimeDetail>{{TimePart::compute_gradient, GradientPart::products},
                                                 {TimePart::compute_gradient, GradientPart::elementwise},
                                                 {TimePart::compute_gradient},
                                                 {TimePart::communicate_transfer}});
  CHECK(chart->rows[0].detail == std::vector{2.0, 0.75, 0.25, 1.0});
  CHECK(chart->ranks[0].detail[1] == std::vector{2.0, 0.75, 0.25, 1.0});
  CHECK(chart->table.columns[6].name == "products");
  CHECK(chart->table.rows[0][7].number == 0.75);
}

TEST_CASE("if there are too many ranks the first are shown, and the sentence says so") {
  const auto chart = report::time(report_model(results_of({sample_run("a", 7000, {1, 0, 0, 0})})));
  CHECK(chart->ranks[0].names.size() == most_ranks_in_all);
  CHECK(chart->sentence.ends_with(" The first 6000 of 7000 ranks are shown."));
  CHECK_FALSE(report::time(report_model(results_of({failed(sample_run("a", 2, {}), "x")}))));
}

TEST_CASE("a case is on the Pareto front if no other is better in one and as good in the other") {
  using Pairs = std::vector<std::pair<double, double>>;
  CHECK(front(Pairs{{1, 5}, {2, 3}, {3, 4}, {4, 1}}) == std::vector<bool>{true, true, false, true});
  CHECK(front(Pairs{{1, 5}, {1, 5}, {1, 6}, {2, 5}}) == std::vector<bool>{true, true, false, false});
  CHECK(front(Pairs{}).empty());
}

TEST_CASE("the Pareto sentence names the fastest, the cheapest, and the exchange between time and cost") {
  const auto sentence = [](const std::vector<Run>& runs) { return pareto(report_model(results_of(runs)))->sentence; };
  CHECK(
      sentence(
          {priced("fast", 1.0, 4.0), priced("middle", 2.0, 3.0), priced("bad", 3.0, 5.0), priced("cheap", 4.0, 1.0)}) ==
      "fast is the fastest: 1.00 s for $4.00. cheap is the cheapest: 4.00 s for $1.00, 75 % less for 4.0x the time. On "
      "the Pareto front of time and cost: 3 of 4 cases.");
  CHECK(sentence({priced("best", 1.0, 1.0), priced("bad", 2.0, 2.0)}) ==
        "best is both the fastest and the cheapest: 1.00 s, $1.00; every other case is worse in both.");
  CHECK(sentence({priced("only", 1.0, 1.0)}) == "only takes 1.00 s and $1.00.");
  CHECK(sentence({priced("fast", 1.0, {}, 4.0), priced("slow", 2.0, {}, 2.0)}) ==
        "fast is the fastest: 1.00 s for 4.00 J. slow is the most frugal: 2.00 s for 2.00 J, 50 % less for 2.0x the "
        "time. On the Pareto front of time and energy: 2 of 2 cases.");
  const auto both = pareto(report_model(results_of({priced("fast", 1.0, 4.0, 1.0), priced("cheap", 2.0, 3.0, 2.0)})));
  CHECK((both->rows[0].front && both->rows[1].front));
  CHECK((both->rows[0].front_energy && !both->rows[1].front_energy));
  CHECK(sentence({priced("only", 1.0, 0.0, 4.0)}) == "only takes 1.00 s and 4.00 J.");  // nothing costs money
  CHECK(sentence({priced("a", 1.0, 1.0), priced("b", 1.0, 1.0)}) ==
        "a is both the fastest and the cheapest: 1.00 s, $1.00; every other case is equal.");
}

TEST_CASE("without prices there is no Pareto chart, and to a target only those that reached it count") {
  CHECK_FALSE(pareto(report_model(results_of({priced("a", 1.0, {})}))));
  Run there = reached(priced("there", 2.0, 2.0), 0.01, 4.0);
  there.bill.cost_to_target_usd = 2.0;
  const auto chart = pareto(report_model(results_of({there, priced("short", 1.0, 1.0)}, 0.02)));
  REQUIRE(chart->rows.size() == 1);
  CHECK(chart->time_is == Measure::time_to_target);
}

TEST_CASE("staleness counts of all seeds are added, and the mean is explained by the other workers") {
  const auto chart = staleness(report_model(
      results_of({with_seed(stale("asp", 8, {{6, 10}, {7, 90}}), 1), with_seed(stale("asp", 8, {{7, 90}, {8, 10}}), 2),
                  stale("ssp", 8, {{0, 1}, {1, 1}}), sample_run("ring", 8, {1, 0, 0, 0})})));
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 2);
  CHECK(chart->rows[0].values == std::vector<std::int64_t>{6, 7, 8});
  CHECK(chart->rows[0].counts == std::vector<std::int64_t>{10, 180, 10});
  CHECK(chart->sentence ==
        "asp applies the oldest gradients: 7.00 updates old on average, 8 at most, because the other 7 workers update "
        "between a pull and its push. ssp applies the freshest: 0.50 updates old on average, 1 at most.");
  Run gossip = stale("gossip", 8, {{7, 5}});
  gossip.record.ranks.pop_back();
  CHECK(staleness(report_model(results_of({gossip})))->sentence ==
        "gossip applies the oldest gradients: 7.00 updates old on average, 7 at most.");
  CHECK(staleness(report_model(results_of({stale("bsp", 4, {{0, 5}})})))->sentence ==
        "No gradient is stale: each is applied before any other update.");
  CHECK_FALSE(staleness(report_model(results_of({sample_run("ring", 8, {1, 0, 0, 0})}))));
}

TEST_CASE("ages of gradients that are alike within 5 % are not called oldest and freshest") {
  const auto sentence = [](std::int64_t of_b) {
    return staleness(report_model(results_of({stale("a", 8, {{0, 50}, {200, 50}}), stale("b", 8, {{of_b, 100}})})))
        ->sentence;
  };
  CHECK(sentence(96) ==
        "The gradients of all 2 cases are alike in age, within 5 %: 96.0 to 100 updates old on average, 200 at most.");
  CHECK(sentence(94).starts_with("a applies the oldest gradients: 100 updates old on average"));
}

TEST_CASE("very many kinds of staleness share bars") {
  std::map<std::int64_t, std::int64_t> counts;
  for (std::int64_t k = 0; k < 1000; ++k) counts[k] = 1;
  const auto chart = staleness(report_model(results_of({stale("asp", 8, counts)})));
  CHECK(chart->rows[0].values.size() == most_bars_a_row);
  CHECK(chart->rows[0].values[1] == 5);
  CHECK(chart->rows[0].counts[1] == 5);
}

}  // namespace report_charts_test
