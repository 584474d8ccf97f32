// The paired t test, Holm's correction, and the matrix of pairs that is made of them.
#include "outputs/pairs.h"

#include <cmath>

#include "catch.h"
#include "outputs/paired_test.h"
#include "outputs/summary.h"
#include "report_sample.h"

namespace pairs_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

void add(Results& results, const std::string& label, const std::vector<double>& times_s, std::int64_t workers = 2) {
  for (std::size_t k = 0; k < times_s.size(); ++k)
    results.runs.push_back(
        at(with_seed(reached(sample_run(label, workers, {times_s[k], 0.0, 0.0, 0.0}), 0.01, 8.0), k + 1),
           "cluster.workers", workers));
}

std::vector<std::string> lines_of(const Results& results) {
  std::string text;
  write_csv(pairs_table(results), [&](std::string_view piece) { text += piece; });
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::size_t tables_called_pairs(const Results& results) {
  std::size_t found = 0;
  for (const ResultTable& table : result_tables(results)) found += table.name == "pairs" ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("the paired t test has the p-value of Student's example of ten sleepers") {
  // W. S. Gosset's additional hours of sleep, Biometrika 6, 1908. R: t.test(d)$p.value; SciPy 1.10: ttest_1samp.
  const std::vector<double> hours = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  CHECK(paired_t_test(hours) == Approx(0.00283289019738427).epsilon(1e-10));
  // With one degree of freedom T is Cauchy's: P(|T| > 1) = 1/2, here by differences 0 and 2, whose t is 1 / 1.
  CHECK(paired_t_test(std::vector{0.0, 2.0}) == Approx(0.5).epsilon(1e-12));
  CHECK(paired_t_test(std::vector{0.0, -2.0}) == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("a paired t test of equal differences, of one and of none") {
  CHECK(std::isnan(paired_t_test(std::vector{0.25, 0.25, 0.25})));  // which chance cannot have made different
  CHECK(std::isnan(paired_t_test(std::vector{0.0, 0.0})));
  CHECK(std::isnan(paired_t_test(std::vector{1.0})));
  CHECK(std::isnan(paired_t_test(std::vector<double>{})));
  CHECK(std::isnan(paired_t_test(std::vector{1.0, outputs::nan})));
}

TEST_CASE("Holm's method multiplies the k-th smallest of n p-values by n - k, and never lets one fall") {
  // 4 x 0.005, 3 x 0.01, 2 x 0.03, and 1 x 0.04, which may not be below 0.06.
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  const std::vector<double> corrected = holm(std::vector{0.01, 0.04, 0.03, 0.005});
  for (std::size_t k = 0; k < 4; ++k) CHECK(corrected[k] == Approx(expected[k]).epsilon(1e-14));
  CHECK(holm(std::vector{0.6, 0.7}) == std::vector{1.0, 1.0});
  CHECK(holm(std::vector{0.04}) == std::vector{0.04});
  CHECK(holm({}).empty());
  const std::vector<double> with_gap = holm(std::vector{0.02, outputs::nan, 0.01});  // two comparisons
  CHECK(with_gap[0] == Approx(0.02).epsilon(1e-14));
  CHECK(std::isnan(with_gap[1]));
  CHECK(with_gap[2] == Approx(0.02).epsilon(1e-14));
}

TEST_CASE("pairs.csv has a row for each pair of a grid point, corrected over the pairs of that point") {
  Results results = results_of({}, 0.02);
  add(results, "b", {1.5, 2.5, 4.5});
  add(results, "a", {1.0, 2.0, 3.0});
  add(results, "c", {1.0, 3.0, 8.0});
  add(results, "a", {2.0, 2.5}, 4);
  add(results, "b", {1.0, 1.0}, 4);
  const std::vector<std::string> lines = lines_of(results);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "label,other,compared_by,seeds,behind,behind_low,behind_high,p,p_holm,param.cluster.workers");
  // The pairs of a, b and c have differences (0.5, 0.5, 1.5), (0, 1, 5) and (-0.5, 0.5, 3.5).
  const std::vector<std::vector<double>> differences = {{0.5, 0.5, 1.5}, {0.0, 1.0, 5.0}, {-0.5, 0.5, 3.5}};
  const std::vector<std::string> names = {"a,b,", "a,c,", "b,c,"};
  std::vector<double> p_values;
  for (const auto& each : differences) p_values.push_back(paired_t_test(each));
  // t = mean / (s / sqrt(3)); with two degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
  const double t = (2.5 / 3.0) / (std::sqrt(1.0 / 3.0) / std::sqrt(3.0));
  CHECK(p_values[0] == Approx(1.0 - t / std::sqrt(2.0 + t * t)).epsilon(1e-12));
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(lines[k + 1].starts_with(names[k] + "time_to_target_s,3,"));
    const std::string end = "," + compact(p_values[k]) + "," + compact(corrected[k]) + ",2";
    CHECK(lines[k + 1].ends_with(end));
  }
  CHECK(corrected[0] == Approx(3.0 * p_values[0]).epsilon(1e-14));
  // At four workers there is one pair, which nothing corrects; b is the faster one there.
  CHECK(lines[4].starts_with("b,a,time_to_target_s,2,1.25,"));
  const double lone = paired_t_test(std::vector{1.0, 1.5});
  CHECK(lines[4].ends_with("," + compact(lone) + "," + compact(lone) + ",4"));
}

TEST_CASE("there is no table of pairs with one seed, with one strategy, and where a seed missed the target") {
  Results one_seed = results_of({}, 0.02);
  add(one_seed, "a", {1.0});
  add(one_seed, "b", {2.0});
  CHECK(tables_called_pairs(one_seed) == 0);
  Results lone = results_of({}, 0.02);
  add(lone, "a", {1.0, 2.0});
  CHECK(tables_called_pairs(lone) == 0);
  add(lone, "b", {2.0, 2.5});
  CHECK(tables_called_pairs(lone) == 1);
  lone.runs.back().record.time_to_target_s.reset();
  CHECK(tables_called_pairs(lone) == 0);
}

TEST_CASE("differences within rounding are none, and the fortieth strategy is the last one in pairs") {
  Results results = results_of({}, 0.02);
  add(results, "a", {1.0, 2.0, 3.0});
  add(results, "b", {1.0 + 1e-14, 2.0 + 1e-14, 3.0 + 1e-14});
  const Comparison two = comparison(results);
  const PointPairs point = compared_in_pairs(rows_by_point(two).at(0), by_time_to_target);
  REQUIRE(point.pairs.size() == 1);
  CHECK(std::isnan(point.pairs[0].p));
  Results many = results_of({}, 0.02);
  for (int k = 0; k < 42; ++k) add(many, std::to_string(k), {50.0 - k, 60.0 - k});
  const Comparison all = comparison(many);
  const PointPairs of_many = compared_in_pairs(rows_by_point(all).at(0), by_time_to_target);
  REQUIRE(of_many.rows.size() == 40);
  CHECK(of_many.rows.front()->label == "41");
  CHECK(of_many.rows.back()->label == "2");
  CHECK(of_many.pairs.size() == 40 * 39 / 2);
}

}  // namespace pairs_test
