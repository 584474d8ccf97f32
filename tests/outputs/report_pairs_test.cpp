// The matrix of pairs in the report.
#include <cmath>

#include "catch.h"
#include "outputs/report/charts/pairs.h"
#include "outputs/report/report.h"
#include "outputs/text/language.h"
#include "report_sample.h"

namespace report_pairs_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

void add_strategy(Results& results, const std::string& label, const std::vector<double>& times_s,
                  std::int64_t workers = 2) {
  for (std::size_t k = 0; k < times_s.size(); ++k)
    results.runs.push_back(
        at(with_seed(reached(sample_run(label, workers, {times_s[k], 0.0, 0.0, 0.0}), 0.01, 8.0), k + 1),
           "cluster.workers", workers));
}

std::optional<Pairs> chart_of(const Results& results) { return pairs(report_model(results)); }

/// P(|T| > t) of Student's T with two degrees of freedom, for the mean and the standard deviation of three numbers.
double p_of_three(double mean, double deviation) {
  const double t = mean / (deviation / std::sqrt(3.0));
  return 1.0 - t / std::sqrt(2.0 + t * t);
}

std::optional<record::Timeline> no_timeline(const std::string&) { return {}; }

/// Three strategies of three seeds: b is behind a by 0.9, 1.0 and 1.1 s, and c by 0, 3 and 6 s.
Results three_strategies() {
  Results results = results_of({}, 0.02);
  add_strategy(results, "c", {1.0, 5.0, 9.0});
  add_strategy(results, "a", {1.0, 2.0, 3.0});
  add_strategy(results, "b", {1.9, 3.0, 4.1});
  return results;
}

}  // namespace

TEST_CASE("the matrix of pairs has the strategies by their means, and p-values corrected for all of them") {
  const auto chart = chart_of(three_strategies());
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 1);
  const PairsRow& row = chart->rows[0];
  CHECK(row.strategies == std::vector<std::size_t>{1, 2, 0});
  CHECK(row.means == std::vector{2.0, 3.0, 5.0});
  REQUIRE(row.cells.size() == 3);
  // Differences 0.9, 1, 1.1: mean 1, deviation 0.1. 0, 3, 6: mean 3, deviation 3. -0.9, 2, 4.9: mean 2, deviation 2.9.
  const double ab = p_of_three(1.0, 0.1), ac = p_of_three(3.0, 3.0), bc = p_of_three(2.0, 2.9);
  CHECK(row.cells[0].p_holm == Approx(3.0 * ab).epsilon(1e-9));
  CHECK(row.cells[1].p_holm == Approx(2.0 * ac).epsilon(1e-9));
  CHECK(row.cells[2].p_holm == Approx(std::max(2.0 * ac, bc)).epsilon(1e-9));
  CHECK(3.0 * ab < 0.05);
  CHECK(2.0 * ac > 0.05);
  CHECK(
      chart->sentence ==
      "Pairs of strategies that differ by more than chance: 1 of 3 (corrected p below 0.05, 3 seeds). The fastest, a, "
      "is ahead of 1 of 2 others by more than chance, but not of c.");
  REQUIRE(chart->table.rows.size() == 3);
  CHECK(chart->table.rows[0][0].text == "a");
  CHECK(chart->table.rows[0][1].text == "b");
  CHECK(*chart->table.rows[0][4].number == Approx(1.0).epsilon(1e-9));
  CHECK(*chart->table.rows[0][7].number == Approx(ab).epsilon(1e-9));
  CHECK(chart->table.rows[0][8].number == row.cells[0].p_holm);
}

TEST_CASE("two strategies are compared by name, and by time per sample without a target") {
  Results results = results_of({}, 0.02);
  add_strategy(results, "a", {1.0, 2.0, 3.0});
  add_strategy(results, "b", {1.9, 3.0, 4.1});
  CHECK(chart_of(results)->sentence == "a is faster than b by more than chance (p below 0.05, 3 seeds).");
  CHECK(chart_of(results)->to_target);
  results.runs.back().record.simulated_s = 40.0;
  results.runs.back().record.time_to_target_s = 40.0;
  CHECK(chart_of(results)->sentence == "a and b do not differ by more than chance (p of 0.05 or more, 3 seeds).");
  Results untargeted = results_of({});
  for (const auto& [label, time_s] : {std::pair("a", 1.0), std::pair("b", 2.0)})
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      untargeted.runs.push_back(with_seed(sample_run(label, 2, {time_s, 0.0, 0.0, 0.0}), seed));
  const auto chart = chart_of(untargeted);
  CHECK_FALSE(chart->to_target);
  CHECK(chart->rows[0].means == std::vector{1.0 / 2e6, 2.0 / 2e6});
  CHECK(chart->sentence == "a is faster than b by the same time with every seed, so no test is needed.");
  CHECK(std::isnan(chart->rows[0].cells[0].p_holm));
  CHECK(chart->rows[0].tested == 0);
}

TEST_CASE("a difference that is the same with every seed counts as ahead, and equal strategies are not ahead") {
  Results results = results_of({}, 0.02);
  add_strategy(results, "a", {1.0, 2.0, 3.0});
  add_strategy(results, "twin", {1.0, 2.0, 3.0});
  add_strategy(results, "later", {2.0, 3.0, 4.0});
  add_strategy(results, "lost", {2.0, 3.0, 4.0});
  results.runs.back().record.time_to_target_s.reset();
  CHECK(chart_of(results)->sentence ==
        "Pairs whose difference is the same with every seed, so that no test is needed: 3. The fastest, a, is "
        "ahead of 1 of 2 others by more than chance, but not of twin. 1 more strategy is not compared: it missed the "
        "target with some seed.");
}

TEST_CASE("equal strategies take the same time, and one that is faster over the seeds in common is named first") {
  Results results = results_of({}, 0.02);
  add_strategy(results, "a", {1.0, 2.0});
  add_strategy(results, "twin", {1.0, 2.0});
  CHECK(chart_of(results)->sentence == "a and twin take the same time with every seed, so no test is needed.");
  Results other = results_of({}, 0.02);
  add_strategy(other, "a", {2.0, 3.0, 4.0, 1.0});
  add_strategy(other, "b", {1.0, 2.0, 2.9, 90.0});
  other.runs.back() = with_seed(other.runs.back(), 5);  // the fourth seed of b is another one
  CHECK(chart_of(other)->sentence == "b is faster than a by more than chance (p below 0.05, 3 seeds).");
}

TEST_CASE("strategies without two seeds in common are neither ahead nor behind") {
  Results results = results_of({}, 0.02);
  add_strategy(results, "a", {1.0, 2.0, 3.0});
  add_strategy(results, "b", {1.9, 3.0, 4.1});
  add_strategy(results, "one seed", {5.0});
  CHECK(chart_of(results)->sentence ==
        "a is faster than b by more than chance (p below 0.05, 3 seeds). a has fewer than two seeds in common with one "
        "seed.");
  add_strategy(results, "c", {1.0, 5.0, 9.0});
  CHECK(
      chart_of(results)->sentence ==
      "Pairs of strategies that differ by more than chance: 1 of 3 (corrected p below 0.05, 3 seeds). The fastest, a, "
      "is ahead of 1 of 2 others by more than chance, but not of c. a has fewer than two seeds in common with one "
      "seed.");
}

TEST_CASE("each grid point has a matrix and a sentence of its own, and the chart's is on all of them") {
  Results results = three_strategies();
  add_strategy(results, "a", {1.0, 2.0, 3.0}, 4);
  add_strategy(results, "b", {1.9, 3.0, 4.1}, 4);
  add_strategy(results, "a", {1.0}, 8);
  add_strategy(results, "b", {2.0}, 8);
  const auto chart = chart_of(results);
  REQUIRE(chart->rows.size() == 2);
  CHECK(chart->rows[1].fastest.point == 1);
  CHECK(chart->rows[1].sentence == "a is faster than b by more than chance (p below 0.05, 3 seeds).");
  CHECK(chart->sentence ==
        "Over 2 grid points, pairs of strategies that differ by more than chance: 2 of 4 (p below 0.05, corrected at "
        "each "
        "grid point). Grid points at which the fastest is ahead of all others by more than chance: 1 of 2.");
  CHECK(chart->table.rows.size() == 4);
  CHECK(chart->table.rows[3][2].text == "4 workers");
}

TEST_CASE("the matrix has eight strategies at most, and the sentence says which are not compared at all") {
  Results results = results_of({}, 0.02);
  for (int k = 0; k < 42; ++k) {
    // The strategies' times are far apart, and their differences vary a little.
    const double time_s = 100.0 * (k + 1);
    add_strategy(results, std::to_string(k), {time_s, time_s + 0.01 * k * k, time_s + 0.02 * k});
  }
  const auto chart = chart_of(results);
  CHECK(chart->rows[0].strategies.size() == 8);
  CHECK(chart->rows[0].cells.size() == 28);
  CHECK(chart->rows[0].left_out == 32);
  CHECK(chart->table.rows.size() == 780);
  CHECK(chart->sentence.ends_with(" Only the 40 fastest of 42 strategies are compared."));
}

TEST_CASE("there is no matrix with one seed, with one strategy and of jobs, and Chinese has its own sentence") {
  Results one_seed = results_of({}, 0.02);
  add_strategy(one_seed, "a", {1.0});
  add_strategy(one_seed, "b", {2.0});
  CHECK_FALSE(chart_of(one_seed));
  CHECK(data(one_seed, no_timeline, {}).find("\"pairs\"") == std::string::npos);
  Results lone = results_of({}, 0.02);
  add_strategy(lone, "a", {1.0, 2.0});
  CHECK_FALSE(chart_of(lone));
  Results jobs = three_strategies();
  CHECK(data(jobs, no_timeline, {}).find("\"pairs\"") != std::string::npos);
  jobs.scenario["job"] = Json::array({{{"label", "a"}}, {{"label", "b"}}});
  CHECK_FALSE(chart_of(jobs));
  speak(Language::chinese);
  const std::string chinese = chart_of(three_strategies())->sentence;
  speak(Language::english);
  CHECK(
      chinese ==
      "差异不只是偶然的策略对：3 对中的 1 对（校正后的 p 小于 0.05，3 个种子）。最快的 a 领先于其他 2 种策略中的 1 种，"
      "不只是偶然，但对以下策略不是：c。");
}

}  // namespace report_pairs_test
