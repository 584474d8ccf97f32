// The summary over the seeds in results.json, summary.csv and the table of all results.
#include "outputs/point_summary.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "catch.h"
#include "outputs/report/charts/points_table.h"
#include "outputs/statistics.h"
#include "report_sample.h"

namespace point_summary_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// Ring with seeds 1, 2, 3 at two sizes; the tree's second seed diverges, its third fails.
Results of_seeds() {
  Results results = results_of({}, 0.02);
  for (const std::int64_t workers : {2, 4})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const double s = static_cast<double>(seed) * 8.0 / static_cast<double>(workers);
      Run run = at(with_seed(reached(sample_run("ring", workers, {s, 0.0, 0.0, 0.0}), 0.01, 8.0), seed),
                   "cluster.workers", workers);
      run.bill.energy_j = 100.0 * s;
      results.runs.push_back(run);
    }
  Run tree = at(reached(sample_run("tree", 2, {3.0, 0.0, 0.0, 0.0}), 0.01, 8.0), "cluster.workers", 2);
  results.runs.push_back(with_seed(tree, 1));
  Run wild = with_seed(tree, 2);
  wild.record.status = record::Status::diverged;
  wild.record.time_to_target_s.reset();
  wild.record.simulated_s = 1e-9;
  wild.record.final_loss = 9e13;
  results.runs.push_back(wild);
  results.runs.push_back(with_seed(failed(tree, "lost"), 3));
  return results;
}

/// The cells of the next line of a table without quotes.
std::vector<std::string> cells_of_next(std::istream& lines) {
  std::string line;
  std::getline(lines, line);
  std::vector<std::string> cells;
  for (std::size_t first = 0, end = 0; end != std::string::npos; first = end + 1) {
    end = line.find(',', first);
    cells.push_back(line.substr(first, end == std::string::npos ? end : end - first));
  }
  return cells;
}

}  // namespace

TEST_CASE("the summary has a row a grid point and label, with means and intervals over sound seeds") {
  const auto rows = point_summaries(of_seeds());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["label"] == "ring");
  CHECK(rows[0]["parameters"]["cluster.workers"] == 2);
  CHECK(rows[0]["seeds"] == 3);
  CHECK(rows[0]["reached"] == 3);
  // 4, 8 and 12 s: mean 8, s = 4.
  const double half = student_t95(2) * 4.0 / std::sqrt(3.0);
  CHECK(rows[0]["time_to_target_s"] == 8.0);
  CHECK(rows[0]["time_to_target_s_low"].get<double>() == Approx(8.0 - half).epsilon(1e-9));
  CHECK(rows[0]["time_to_target_s_high"].get<double>() == Approx(8.0 + half).epsilon(1e-9));
  CHECK(rows[0]["energy_j"] == 800.0);
  CHECK(rows[0]["cost_usd"].is_null());
  const auto& tree = rows[1];
  CHECK(tree["label"] == "tree");
  CHECK((tree["seeds"] == 3 && tree["reached"] == 1 && tree["diverged"] == 1 && tree["failed"] == 1));
  CHECK(tree["simulated_s"] == 3.0);
  CHECK(tree["final_loss"] == 0.01);
  CHECK(tree["final_loss_low"].is_null());
}

TEST_CASE("a speed-up over seeds is the ratio of the mean times, with the interval of the seeds' pairs") {
  // One worker takes 8, 12 and 10 s, the ring 4, 8 and 12 s.
  Results results = of_seeds();
  const double alone[] = {8.0, 12.0, 10.0};
  for (std::size_t k = 0; k < 3; ++k)
    results.runs[k].speedup_time_to_target = alone[k] / *results.runs[k].record.time_to_target_s;
  const Json row = point_summaries(results)[0];
  const double ratio = 10.0 / 8.0;
  CHECK(row["speedup_time_to_target"].get<double>() == Approx(ratio).epsilon(1e-12));
  // Residuals 8 - 4 r, 12 - 8 r, 10 - 12 r: 3, 2 and -5, s^2 = 38 / 2.
  const double half = student_t95(2) * std::sqrt(19.0 / 3.0) / 8.0;
  CHECK(row["speedup_time_to_target_low"].get<double>() == Approx(ratio - half).epsilon(1e-9));
  CHECK(row["speedup_time_to_target_high"].get<double>() == Approx(ratio + half).epsilon(1e-9));
  CHECK(*comparison(results).rows[0].speedup_time_to_target == Approx(ratio).epsilon(1e-12));
  CHECK(*report::points_table(report::report_model(results))->rows[0].speedup == Approx(ratio).epsilon(1e-12));
  // Equal ratios of all seeds have no spread.
  for (std::size_t k = 0; k < 3; ++k) results.runs[k].speedup_time_to_target = 3.0;
  CHECK(point_summaries(results)[0]["speedup_time_to_target_low"].get<double>() == Approx(3.0).epsilon(1e-12));
}

TEST_CASE("a row is behind the best of its grid point by the mean of the paired differences") {
  Results results = of_seeds();
  results.runs.resize(3);  // the ring on two workers: 4, 8 and 12 s
  const double times[] = {6.0, 9.0, 15.0};
  for (const std::uint64_t seed : {1, 2, 3})
    results.runs.push_back(with_seed(
        at(reached(sample_run("tree", 2, {times[seed - 1], 0.0, 0.0, 0.0}), 0.01, 8.0), "cluster.workers", 2), seed));
  const auto rows = point_summaries(results);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["compared_by"] == "time_to_target_s");
  CHECK(rows[0]["best"] == "ring");
  CHECK(rows[0]["behind"].is_null());
  CHECK(rows[1]["best"] == "ring");
  // 2, 1 and 3 s: mean 2, s = 1.
  const double half = student_t95(2) / std::sqrt(3.0);
  CHECK(rows[1]["behind"].get<double>() == Approx(2.0).epsilon(1e-12));
  CHECK(rows[1]["behind_low"].get<double>() == Approx(2.0 - half).epsilon(1e-9));
  CHECK(rows[1]["behind_high"].get<double>() == Approx(2.0 + half).epsilon(1e-9));
  // A row that missed the target with a seed has no such number.
  results.runs[5].record.time_to_target_s.reset();
  const Json missed = point_summaries(results)[1];
  CHECK(missed["best"].is_null());
  CHECK(missed["behind"].is_null());
}

TEST_CASE("summary.csv has the summary's rows and columns") {
  std::vector<std::string> columns{
      "param.cluster.workers", "label", "strategy", "workers", "seeds", "reached", "diverged", "failed"};
  for (const char* name : {"simulated_s", "time_to_target_s", "cost_usd", "cost_to_target_usd", "energy_j",
                           "samples_per_s", "speedup_throughput", "speedup_time_to_target", "efficiency", "final_loss"})
    for (const char* end : {"", "_low", "_high"}) columns.push_back(std::string(name) + end);
  for (const char* name : {"compared_by", "best", "behind", "behind_low", "behind_high"}) columns.push_back(name);
  const Results results = of_seeds();
  std::istringstream lines(summary_csv(results));
  CHECK(cells_of_next(lines) == columns);
  // Each cell is what results.json has under the column's name, where the tests above know the numbers; a null is
  // empty.
  const std::vector<Json> rows = point_summaries(results);
  for (const Json& row : rows) {
    const std::vector<std::string> cells = cells_of_next(lines);
    REQUIRE(cells.size() == columns.size());
    CHECK(cells[0] == row["parameters"]["cluster.workers"].dump());
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const Json& field = row.at(columns[i]);
      CAPTURE(row["label"], columns[i]);
      CHECK(cells[i] == (field.is_null() ? "" : field.is_string() ? field.get<std::string>() : field.dump()));
    }
  }
  CHECK(lines.peek() == std::istringstream::traits_type::eof());
  // The tree has one sound seed of three: 3 s, of 8 samples of energy unknown.
  CHECK(rows[1].at("time_to_target_s") == 3.0);
  CHECK(rows[1].at("energy_j").is_null());
}

TEST_CASE("the table of all results has a row a case, with margins, the number of seeds that reached, and the status") {
  const auto chart = report::points_table(report::report_model(of_seeds()));
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 3);
  CHECK(chart->keys == std::vector<std::string>{"workers"});
  CHECK(chart->to_target);
  const auto& ring = chart->rows[0];
  CHECK(ring.values == std::vector<std::string>{"2"});
  CHECK(*ring.time_s.mean == 8.0);
  CHECK(*ring.time_s.margin == Approx(student_t95(2) * 4.0 / std::sqrt(3.0)).epsilon(1e-9));
  // The baseline's 8 s over the mean of 4, 8 and 12 s, as the times say; over two workers.
  CHECK(*ring.speedup == Approx(1.0).epsilon(1e-12));
  CHECK(*ring.efficiency == Approx(0.5).epsilon(1e-12));
  CHECK(ring.status == "reached");
  const auto& tree = chart->rows[1];
  CHECK((tree.reached == 1 && tree.seeds == 3));
  CHECK(tree.status == "1 of 3 failed");
  CHECK_FALSE(tree.energy_j.mean);
  CHECK_FALSE(tree.time_s.margin);
  CHECK(chart->sentence ==
        "3 cases, 2 of which reach the target with every seed. ±: half of the 95 % interval of the mean over the seeds "
        "(Student's t). No change was tried to find the bottleneck, as with --no-why.");
  // Strategy, the grid's key, four numbers with margins, and six more.
  CHECK(chart->table.columns.size() == 16);
  for (const auto& row : chart->table.rows) CHECK(row.size() == chart->table.columns.size());
}

TEST_CASE("the table of all results explains the sign ± where a number has a margin alone") {
  const Run ring = reached(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 0.01, 8.0);
  const Results equal = results_of({with_seed(ring, 1), with_seed(ring, 2)}, 0.02);
  const auto chart = report::points_table(report::report_model(equal));
  REQUIRE(chart);
  CHECK(chart->rows.at(0).seeds == 2);
  CHECK(chart->sentence.find("±") == std::string::npos);
}

}  // namespace point_summary_test
