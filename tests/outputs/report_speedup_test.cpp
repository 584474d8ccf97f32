// Speed-up and efficiency of the report.
#include <algorithm>

#include "catch.h"
#include "outputs/report/charts/points_table.h"
#include "outputs/report/charts/speedup.h"
#include "outputs/report/charts/time.h"
#include "report_sample.h"

namespace report_speedup_test {

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
  CHECK(chart->sentence ==
        "async reaches a speed-up to target of 3.0x with 2 workers (efficiency to target 150 %), "
        "more than ideal.");
  const auto rows = points_table(report_model(results_of({run}, 0.02)))->table;
  const auto efficiency = std::ranges::find(rows.columns, "efficiency to target", &report::Column::name);
  REQUIRE(efficiency != rows.columns.end());
  CHECK(rows.rows[0][static_cast<std::size_t>(efficiency - rows.columns.begin())].number == 1.5);
  CHECK(std::ranges::find(rows.columns, "efficiency", &report::Column::name) == rows.columns.end());
  // "efficiency" alone is by samples per second, on the terminal too.
  const std::string printed = table(results_of({run}, 0.02), {.width = 200});
  CHECK((printed.find("efficiency") != std::string::npos && printed.find(" 95%") != std::string::npos));
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

}  // namespace report_speedup_test
