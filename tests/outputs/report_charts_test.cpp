// Speed-up, time, Pareto front, staleness, links and collectives of the report.
#include "catch.h"
#include "outputs/report/charts/collectives.h"
#include "outputs/report/charts/links.h"
#include "outputs/report/charts/pareto.h"
#include "outputs/report/charts/speedup.h"
#include "outputs/report/charts/staleness.h"
#include "outputs/report/charts/time.h"
#include "report_sample.h"

namespace report_charts_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

const std::string workers_key = "cluster.workers";

/// With a speed-up as Amdahl's law has it, or any other.
Run sped(const std::string& label, std::int64_t workers, double speedup) {
  Run run = at(sample_run(label, workers, {1.0, 1.0, 0.0, 0.0}), workers_key, workers);
  run.record.samples = static_cast<std::int64_t>(1e6 * speedup);
  run.speedup_throughput = speedup;
  run.efficiency = speedup / static_cast<double>(workers);
  return run;
}

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

record::CollectiveUse use(double predicted_s, double simulated_s, double skew_s) {
  return {.name = "ring",
          .members = 8,
          .bytes = 800,
          .calls = 25,
          .predicted_s = predicted_s,
          .simulated_s = simulated_s,
          .skew_s = skew_s};
}

}  // namespace

TEST_CASE("speed-ups stand by workers, a strategy and its other parameters a series") {
  const auto at_latency = [](Run run, const char* latency) { return at(std::move(run), "cluster.latency", latency); };
  const Results results = results_of({at_latency(sped("ring", 8, 4.0), "1us"), at_latency(sped("ring", 2, 1.6), "1us"),
                                      at_latency(sped("ring", 2, 1.2), "1ms")});
  const auto chart = speedup(report_model(results));
  REQUIRE(chart);
  REQUIRE(chart->series.size() == 2);
  const auto& fast = chart->series[0].text == "latency=1us" ? chart->series[0] : chart->series[1];
  CHECK(fast.workers == std::vector<double>{2, 8});
  CHECK(fast.speedup == std::vector<double>{1.6, 4.0});
  CHECK(fast.efficiency == std::vector<double>{0.8, 0.5});
  CHECK(fast.low.empty());
  // 1/S - 1/m = s (1 - 1/m): 0.125 = s / 2 and 0.125 = 7 s / 8; least squares: s = (0.0625 + 0.109375) / (0.25 +
  // 0.765625).
  REQUIRE(fast.amdahl);
  CHECK(fast.amdahl->serial == Approx(0.171875 / 1.015625).epsilon(1e-9));
  CHECK(fast.amdahl->workers.front() == 1.0);
  CHECK(fast.amdahl->workers.back() == 8.0);
  CHECK(chart->measure == Measure::throughput);
}

TEST_CASE("the speed-up sentence names the largest, the smallest, and the bound for more workers") {
  // A serial share of 1/15: 1 / (1/15 + 14/15/8) = 5.4545.., within 15 of one worker.
  const double eight = 1.0 / (1.0 / 15.0 + 14.0 / 15.0 / 8.0);
  const double two = 1.0 / (1.0 / 15.0 + 14.0 / 15.0 / 2.0);
  const auto chart = speedup(report_model(
      results_of({sped("ring", 2, two), sped("ring", 8, eight), sped("server", 2, 1.5), sped("server", 8, 1.2)})));
  CHECK(
      chart->sentence ==
      "ring reaches a speed-up of 5.5x with 8 workers (efficiency 68 %): communicating takes 50 % of the time. The "
      "line that ends lowest: server reaches a speed-up of 1.2x with 8 workers (efficiency 15 %): communicating takes "
      "50 % of the time. Amdahl's law fits ring with a serial share of 6.67 %: at most 15x with any number of "
      "workers.");
  CHECK(
      speedup(report_model(results_of({sped("ring", 2, 1.9), sped("ring", 8, 1.1)})))->sentence ==
      "ring reaches a speed-up of 1.9x with 2 workers (efficiency 95 %). More workers make ring slower: 1.1x with 8.");
}

TEST_CASE("Amdahl's law is fitted only where every point is within a tenth of it, and speed-ups do not fall") {
  const auto fits = [](const std::vector<std::pair<std::int64_t, double>>& points) {
    std::vector<Run> runs;
    for (const auto& [workers, speedup] : points) runs.push_back(sped("ring", workers, speedup));
    const auto chart = speedup(report_model(results_of(runs)));
    const bool spoken = chart->sentence.find("Amdahl") != std::string::npos;
    CHECK(spoken == chart->series[0].amdahl.has_value());
    return spoken;
  };
  const auto law = [](double workers) { return 1.0 / (0.05 + 0.95 / workers); };
  CHECK(fits({{2, law(2)}, {8, law(8)}, {32, law(32)}}));
  CHECK(fits({{2, law(2)}, {8, 0.95 * law(8)}, {32, 1.05 * law(32)}}));
  CHECK_FALSE(fits({{2, law(2)}, {8, 0.7 * law(8)}, {32, 1.2 * law(32)}}));
  CHECK_FALSE(fits({{2, law(2)}, {8, law(8)}, {9, 0.99 * law(8)}}));
  CHECK_FALSE(fits({{2, 2.0}, {8, 8.0}}));   // nothing is serial
  CHECK_FALSE(fits({{2, 0.99}, {8, 1.0}}));  // everything is
}

TEST_CASE("the efficiency is the speed-up over the workers, by the chart's measure") {
  // Times per sample of 1 / 1.5 and 1 / 1.7 of the baseline's: 2 / (1 / 1.5 + 1 / 1.7) = 1.59375, over two workers.
  const auto chart =
      speedup(report_model(results_of({with_seed(sped("a", 2, 1.5), 1), with_seed(sped("a", 2, 1.7), 2)})));
  CHECK(chart->series[0].efficiency[0] == Approx(1.59375 / 2).epsilon(1e-12));
}

TEST_CASE("a case that diverged is in no speed-up, and no example of computing") {
  Run wild = diverged(sped("wild", 8, 7.9));
  wild.record.final_loss = 9e13;
  wild.record.ranks[0].communicate_s = 0.0;
  const Results results = results_of({sped("ring", 8, 4.0), wild});
  const ReportModel model = report_model(results);
  CHECK(speedup(model)->series.size() == 1);
  CHECK(speedup(model)->sentence.starts_with("ring reaches"));
  CHECK(report::time(model)->sentence.starts_with("ring computes"));
}

TEST_CASE("a speed-up below one is called slower") {
  CHECK(speedup(report_model(results_of({sped("server", 8, 0.15625)})))->sentence ==
        "server with 8 workers is 6.4x slower than one worker alone: communicating takes 50 % of the time.");
  // In the words of the headline.
  CHECK(speedup(report_model(results_of({sped("server", 8, 0.94)})))
            ->sentence.starts_with("server with 8 workers is 6 % slower than one worker alone: "));
  CHECK(speedup(report_model(results_of({sped("server", 8, 0.998)})))
            ->sentence.starts_with("server with 8 workers is as fast as one worker: "));
  CHECK(speedup(report_model(results_of({sped("server", 8, 1.004)})))
            ->sentence.starts_with("server with 8 workers is as fast as one worker: "));
}

TEST_CASE("speed-ups to the target are shown where every case has one, and more than the ideal is explained") {
  Run run = reached(sample_run("async", 2, {1.0, 0.0, 0.0, 0.0}), 0.01, 3.0);
  run.speedup_throughput = 1.9;
  run.efficiency = 0.95;
  const auto chart = speedup(report_model(results_of({run}, 0.02)));
  CHECK(chart->measure == Measure::time_to_target);
  CHECK(chart->sentence == "async reaches a speed-up of 3.0x with 2 workers (efficiency 150 %), more than ideal.");
  CHECK_FALSE(speedup(report_model(results_of({sample_run("a", 2, {1, 0, 0, 0})}))));
  CHECK_FALSE(speedup(report_model(results_of({}))));
}

TEST_CASE("the bands of a speed-up are over its seeds") {
  const auto chart =
      speedup(report_model(results_of({with_seed(sped("a", 2, 1.5), 1), with_seed(sped("a", 2, 1.7), 2)})));
  REQUIRE(chart->series[0].low.size() == 1);
  CHECK(chart->series[0].speedup[0] == Approx(1.59375).epsilon(1e-12));
  CHECK(chart->series[0].low[0] < 1.0);
}

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

TEST_CASE("charts of times and of collectives tell which cases their sentences are about") {
  const auto with = [](const char* label, std::int64_t workers, double talk_s) {
    return at(sample_run(label, workers, {1.0, talk_s, 0.0, 0.0}), workers_key, workers);
  };
  Run late = with("ring", 8, 2.0), early = with("ring", 2, 0.5);
  late.record.collectives.push_back(use(2.0, 2.0, 0.3));
  early.record.collectives.push_back(use(2.0, 2.0, 0.1));
  const Results results = results_of({with("tree", 2, 0.1), early, with("tree", 8, 1.0), late});
  const ReportModel model = report_model(results);
  const auto times = report::time(model);
  CHECK(times->sentence.starts_with("tree with 2 workers computes"));
  CHECK(model.strategies[times->about->strategy].label == "ring");
  CHECK(model.points[times->about->point].workers == 8);
  REQUIRE(times->other);
  CHECK(model.strategies[times->other->strategy].label == "tree");
  CHECK(model.points[times->other->point].workers == 2);
  const auto calls = collectives(model);
  CHECK(calls->sentence.find("longest in ring with 8 workers") != std::string::npos);
  CHECK(model.points[calls->about->point].workers == 8);
  const Results alike =
      results_of({sample_run("a", 2, {1.0, 1.0, 0.0, 0.0}), sample_run("b", 2, {1.0, 3.0, 0.0, 0.0})});
  CHECK_FALSE(report::time(report_model(alike))->other);
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
  CHECK(chart->detail == std::vector{TimePart::compute_gradient, TimePart::communicate_storage, TimePart::wait_server,
                                     TimePart::wait_turn});
  CHECK(chart->rows[0].detail == std::vector{3.0, 1.0, 0.5, 0.5});  // means over the two workers
  CHECK(chart->ranks[0].detail[1] == std::vector{3.0, 1.0, 0.0, 1.0});
  CHECK(chart->table.columns.size() == 6 + 4);
  CHECK(chart->table.columns[8].name == "waiting for a server's processor");
  CHECK(chart->table.rows[0][8].number == 0.5);
  // A run of a release without parts leaves the chart with the four.
  CHECK(report::time(report_model(results_of({run, sample_run("old", 2, {3.0, 1.0, 0.0, 0.0})})))->detail.empty());
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

TEST_CASE("links have the ends of their cables, and the sentence names the busiest link and how uneven the load is") {
  Run run = over(over(over(sample_run("server", 2, {1.0, 3.0, 0.0, 0.0}), "in-2", 0.9, 4'000'000), "in-0", 0.18),
                 "in-1", 0.18);
  run.record.wires = {{"in-2", "switch", "host-2"}};
  const auto chart =
      links(report_model(results_of({run, over(sample_run("ring", 2, {1.0, 0.5, 0.0, 0.0}), "in-0", 0.25)})));
  REQUIRE(chart);
  CHECK(chart->rows[0].links[0].from == "switch");
  CHECK(chart->rows[0].links[0].to == "host-2");
  CHECK_FALSE(chart->rows[0].links[1].from);
  // The mean of its three is 0.42.
  CHECK(chart->sentence ==
        "The busiest link is \"in-2\" of server: busy 90 % of the time, 4.00 MB carried, 2.1x as busy as the mean of "
        "its 3 "
        "links. In ring no link is busy for more than 25 % of the time.");
  CHECK(
      links(report_model(results_of({over(over(sample_run("ring", 2, {2.0, 1.0, 0.0, 0.0}), "a", 0.5), "b", 0.5)})))
          ->sentence ==
      "The busiest link is \"a\" of ring: busy 50 % of the time, 1.00 MB carried, as busy as the mean of its 2 links.");
  CHECK_FALSE(links(report_model(results_of({sample_run("ring", 2, {1, 0, 0, 0})}))));
}

TEST_CASE("the mean over the links is of all links, also of those that are not shown") {
  Run run = sample_run("ring", 2, {1.0, 1.0, 0.0, 0.0});
  for (int k = 0; k < 9000; ++k)
    run.record.links.push_back(
        {.link = "l" + std::to_string(k), .bytes = k == 0 ? 10 : k % 2, .utilisation = k == 0 ? 0.9 : 0.1});
  const auto chart = links(report_model(results_of({run})));
  CHECK(chart->rows[0].links.size() == most_links_in_all);
  // (0.9 + 8999 x 0.1) / 9000 = 0.10009
  CHECK(chart->sentence.find("9.0x as busy as the mean of its 9000 links") != std::string::npos);
}

TEST_CASE("links of hosts are named by their ranks, and those of a contradicting platform by their own names") {
  const auto with_traffic = [](std::int64_t bytes) {
    Run run = over(over(sample_run("server", 2, {1.0, 3.0, 0.0, 0.0}), "nic-2_UP", 0.9), "nic-0_DOWN", 0.1);
    run.record.ranks.push_back({.role = "server"});
    for (std::size_t k = 0; k < 3; ++k) {
      run.record.ranks[k].host = static_cast<std::int64_t>(k);
      run.record.ranks[k].bytes_sent = bytes;
    }
    run.record.wires = {{"nic-2_UP", "host-2", "switch-0"}, {"nic-0_DOWN", "switch-0", "host-0"}};
    return links(report_model(results_of({run})));
  };
  const auto chart = with_traffic(1'000'000);
  CHECK(chart->rows[0].links[0].text == "server 0, sending");
  CHECK(chart->rows[0].links[1].text == "rank 0, receiving");
  CHECK(chart->rows[0].hosts == std::map<std::string, std::string>{{"host-0", "rank 0"}, {"host-2", "server 0"}});
  CHECK(chart->sentence.starts_with("The busiest link is \"nic-2_UP\" (server 0, sending) of server: busy 90 %"));
  CHECK(chart->about->strategy == 0);
  // Links that carried bytes belong to no rank that sent or received any: the names mean other hosts.
  CHECK(with_traffic(0)->rows[0].links[0].text == "nic-2_UP");
  CHECK(with_traffic(0)->rows[0].hosts.empty());
}

TEST_CASE("the heat map has common edges, and a bin is spread over its intervals by time") {
  record::Record record;
  record.link_bins = {{"a", 0.0, 1.0, 10.0, 0.5}, {"a", 1.0, 2.0, 20.0, 1.0}, {"b", 0.0, 2.0, 4.0, 0.25}};
  const auto map = heat(record, 10, 10);
  REQUIRE(map);
  CHECK(map->edges_s == std::vector<double>{0.0, 1.0, 2.0});
  CHECK(map->values == std::vector<std::vector<double>>{{0.5, 1.0}, {0.25, 0.25}});
  const auto small = heat(record, 1, 1);
  CHECK(small->names == std::vector<std::string>{"a"});
  CHECK(small->values == std::vector<std::vector<double>>{{0.75}});
  CHECK_FALSE(heat(record::Record(), 10, 10));
}

TEST_CASE("edges that differ by rounding are one: no column is thin, and none is fuller than full") {
  record::Record record;
  const int bins = 30;
  for (int k = 0; k < bins; ++k) {
    const double wide = 0.1;
    record.link_bins.push_back({"a", k * wide, (k + 1) * wide, 1.0, 1.0});
    record.link_bins.push_back({"b", 3.0 * k / bins, 3.0 * (k + 1) / bins, 1.0, 0.5});  // the same, otherwise rounded
  }
  const auto map = heat(record, 10, 100);
  REQUIRE(map->edges_s.size() == bins + 1);
  for (const double full : map->values[0]) CHECK(full == Approx(1.0).epsilon(1e-9));
  for (const double half : map->values[1]) CHECK(half == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("a collective's gap is explained by a known cause and by skew, in numbers") {
  const auto because = [](Causes causes) { return explained(use(1.0, 1.5, 0.0), causes); };
  Causes all = {
      .network_model = "tcp", .jitter = true, .uneven = true, .traffic = true, .shared = true, .stragglers = true};
  CHECK(because({}) == "500 ms more (50 %)");
  CHECK(because(all) ==
        "500 ms more (50 %), because of the network model \"tcp\": the prediction is for the ideal one");
  all.network_model.clear();
  CHECK(because(all) == "500 ms more (50 %), because latencies vary from message to message");
  all.jitter = false;
  CHECK(because(all) == "500 ms more (50 %), because other traffic takes part of the bandwidth");
  all.traffic = false;
  CHECK(because(all) == "500 ms more (50 %), because members have different speeds");
  all.uneven = false;
  CHECK(because(all) == "500 ms more (50 %), because messages share links");
  all.shared = false;
  CHECK(because(all) == "500 ms more (50 %)");
  CHECK(explained(use(1.0, 1.001, 0.0), all) == "as predicted");
  CHECK(explained(use(1.0, 0.75, 0.0), {}) ==
        "250 ms less (25 %): part of the work was done before the last member arrived");
  CHECK(explained(use(1.0, 1.0, 0.25), all) ==
        "as predicted; members first wait 250 ms on average for the last one, a straggler");
  CHECK_FALSE(explained(use(1.0, 1.0, 0.25), {}).ends_with("straggler"));
  CHECK(explained(use(0.0, 1.0, 0.0), {}) == "no prediction");
}

TEST_CASE("the causes are the scenario's and the record's") {
  const auto of = [](const Json& cluster, const Run& run, const Json& parameters = Json::object()) {
    Results results = results_of({run});
    results.runs[0].parameters = parameters;
    results.scenario["cluster"] = cluster;
    return causes(report_model(results).cases.at(0));
  };
  Run run = over(sample_run("a", 4, {1.0, 1.0, 0.0, 0.0}), "nic-0_UP", 0.5);
  run.record.links[0].link_class = "nic";
  run.record.hosts.resize(4);
  run.record.network_model = "ideal";
  const Causes none = of({{"stragglers", "none"}, {"jitter", "none"}, {"relative_speeds", {1, 1.0}}}, run);
  CHECK(none.network_model.empty());
  CHECK_FALSE((none.jitter || none.uneven || none.traffic || none.shared || none.stragglers));
  // Latencies that vary make nobody a straggler.
  const Causes jitter = of({{"jitter", "none"}}, run, {{"cluster.jitter.kind", "log_normal"}});
  CHECK((jitter.jitter && !jitter.stragglers && !jitter.uneven));
  CHECK(of({{"stragglers", {{"kind", "bimodal"}}}}, run).stragglers);
  CHECK(of({{"relative_speeds", {1, 0.5}}}, run).uneven);
  run.record.network_model = "tcp";
  run.record.links[0].link_class = "rack";
  CHECK(of(Json::object(), run).network_model == "tcp");
  CHECK(of(Json::object(), run).shared);
}

TEST_CASE("the collectives' sentence names the largest gap, or says that there is none") {
  const auto with = [](const std::string& label, record::CollectiveUse each) {
    Run run = sample_run(label, 8, {1, 0, 0, 0});
    run.record.hosts.resize(8);
    run.record.collectives = {std::move(each)};
    return run;
  };
  const auto sentence = [](const std::vector<Run>& runs) {
    return collectives(report_model(results_of(runs)))->sentence;
  };
  CHECK(sentence({with("a", use(1.0, 1.0, 1e-12))}) ==
        "ring of a (8 members, 800 B) takes as long as the model predicts: 1.00 s.");
  CHECK(sentence({with("a", use(1.0, 1.0, 0.0)), with("b", use(2.0, 2.0, 0.5))}) ==
        "Both take as long as the model predicts, within 0.5 %. Members wait longest in b: 500 ms on average for the "
        "last "
        "one.");
  CHECK(sentence({with("a", use(1.0, 1.0, 0.0)), with("b", use(2.0, 3.0, 0.0))}) ==
        "ring of b (8 members, 800 B) takes 3.00 s instead of the predicted 2.00 s: 1.00 s more (50 %). As predicted: "
        "1 of 2 collectives.");
  CHECK_FALSE(collectives(report_model(results_of({sample_run("a", 8, {1, 0, 0, 0})}))));
}

}  // namespace report_charts_test
