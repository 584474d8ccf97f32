// The page of a large experiment: all cases in an overview, and the charts of three grid points. The bound is lowered,
// so that its numbers can be compared with the page that a small experiment has.
#include <algorithm>

#include "catch.h"
#include "outputs/report/report.h"
#include "outputs/report/sentences/point_winners.h"
#include "report_sample.h"

namespace report_overview_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

std::optional<record::Timeline> no_timeline(const std::string&) { return std::nullopt; }

/// A run of so many seconds at a bandwidth and a latency; the seeds differ by 0.01 s.
Run timed(const std::string& label, const std::string& bandwidth, int latency, std::uint64_t seed, double seconds) {
  Run run = sample_run(label, 4, {seconds, 0.5, 0.25, 0.0});
  run.id = label + bandwidth + std::to_string(latency);
  run = with_losses(with_seed(std::move(run), seed), {1.0, 0.5, 0.25});
  run.record.simulated_s += 0.01 * static_cast<double>(seed);
  run.record.final_loss = 0.25;
  return at(at(std::move(run), "cluster.bandwidth", bandwidth), "cluster.latency", latency);
}

/// Ring is faster at 1Gbps, and tree at 2Gbps; at latency 3 the two are equal. The times grow with the latency.
Results grid_of_two_strategies() {
  std::vector<Run> runs;
  for (const std::string bandwidth : {"1Gbps", "2Gbps"})
    for (const int latency : {1, 2, 3})
      for (const std::string label : {"ring", "tree"})
        for (const std::uint64_t seed : {1, 2}) {
          const bool ahead = latency == 3 || (label == "ring") == (bandwidth == "1Gbps");
          runs.push_back(timed(label, bandwidth, latency, seed, latency + (ahead ? 0.0 : 4.0)));
        }
  return results_of(std::move(runs));
}

Json page_of(const Results& results, std::size_t most) { return Json::parse(data(results, no_timeline, {}, most)); }

}  // namespace

TEST_CASE("an experiment up to the bound has the page of a small one") {
  const Results results = grid_of_two_strategies();  // 12 cases
  CHECK(page_of(results, 12) == Json::parse(data(results, no_timeline, {})));
  CHECK_FALSE(page_of(results, 12).contains("overview"));
  CHECK(page_of(results, 11).contains("overview"));
}

TEST_CASE("the overview has the numbers of the table of all points") {
  const Json small = page_of(grid_of_two_strategies(), 12), large = page_of(grid_of_two_strategies(), 11);
  const Json& overview = large["overview"];
  const Json& rows = small["points_table"]["rows"];
  CHECK(large["points_table"].is_null());
  CHECK(overview["sentence"] == small["points_table"]["sentence"]);
  CHECK(overview["keys"] == Json::parse(R"([{"name":"bandwidth","values":["1Gbps","2Gbps"]},
                                            {"name":"latency","values":["1","2","3"]}])"));
  CHECK(overview["points"] == Json::parse("[[0,0],[0,1],[0,2],[1,0],[1,1],[1,2]]"));
  REQUIRE(overview["cases"]["point"].size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto number = [&](const char* name) { return overview["cases"][name][i].get<double>(); };
    CHECK(overview["cases"]["strategy"][i] == rows[i]["strategy"]);
    CHECK(overview["cases"]["point"][i] == rows[i]["point"]);
    CHECK(number("time_s") == Approx(rows[i]["time_s"][0].get<double>()).epsilon(1e-5));
    CHECK(number("time_margin_s") == Approx(rows[i]["time_s"][1].get<double>()).epsilon(1e-5));
    CHECK(number("final_loss") == 0.25);
    CHECK(overview["statuses"][overview["cases"]["status"][i].get<std::size_t>()] == rows[i]["status"]);
    const double compute_s = number("compute_share") / number("wait_share") * 0.25;
    CHECK(compute_s + 0.75 + 0.015 == Approx(number("time_s")).epsilon(1e-5));
    CHECK(overview["curves"][i]["loss"] == Json::parse("[1,0.5,0.25]"));
    CHECK(overview["curves"][i]["time_s"] == Json::parse("[0,1,2]"));
  }
  CHECK(overview["cases"]["cost_usd"].is_null());
}

TEST_CASE("the overview names the winners of each grid point, and the headline counts them") {
  const Json large = page_of(grid_of_two_strategies(), 11);
  const Json ring = Json::parse(R"({"lead":"clear","strategies":[0]})");
  const Json tree = Json::parse(R"({"lead":"clear","strategies":[1]})");
  const Json both = Json::parse(R"({"lead":"equal","strategies":[0,1]})");
  CHECK(large["overview"]["winners"] == Json::array({ring, ring, both, tree, tree, both}));
  CHECK(large["overview"]["by"] == "throughput");
  CHECK(large["summary"]["headline"] ==
        "Of 6 grid points, by time per sample: ring is first at 2; tree is first at 2; several are equally fast at 2.");
  CHECK(large["summary"]["winners"].empty());
}

TEST_CASE("a grid point that no strategy finishes has no winner") {
  Results results = grid_of_two_strategies();
  for (Run& run : results.runs)
    if (run.parameters["cluster.latency"] == 2 && run.parameters["cluster.bandwidth"] == "1Gbps")
      run = diverged(std::move(run));
  const Json large = page_of(results, 11);
  CHECK(large["overview"]["winners"][1].is_null());
  CHECK(large["summary"]["headline"].get<std::string>().ends_with("; no strategy can be compared at 1."));
}

TEST_CASE("the charts of a large experiment are those of its three grid points by themselves") {
  const Results results = grid_of_two_strategies();
  const Json large = page_of(results, 11);
  // The first strategy takes 1, 2, 3, 1, 2 and 3 s more than at no latency: the least, the median and the most.
  CHECK(large["overview"]["closer_points"] == Json::parse("[0,4,5]"));
  CHECK(large["overview"]["closer"].get<std::string>().starts_with(
      "The charts below show 3 of 6 grid points: those where the winner's time per sample is the least "
      "(bandwidth=1Gbps, latency=1), the median (bandwidth=2Gbps, latency=2) and the most (bandwidth=2Gbps, "
      "latency=3)."));
  Results few = results;
  few.runs.clear();
  for (const std::size_t point : {0, 4, 5})
    std::ranges::copy_if(results.runs, std::back_inserter(few.runs), [&](const Run& run) {
      return run.parameters["cluster.bandwidth"] == (point == 0 ? "1Gbps" : "2Gbps") &&
             run.parameters["cluster.latency"] == (point == 0   ? 1
                                                   : point == 4 ? 2
                                                                : 3);
    });
  const Json alone = page_of(few, 12);
  for (const char* chart : {"strategies", "points", "curves", "speedup", "time", "pareto", "staleness", "links"}) {
    INFO(chart);
    CHECK(large[chart] == alone[chart]);
  }
}

TEST_CASE("without a winner anywhere the first, the middle and the last grid point have charts") {
  Results results = grid_of_two_strategies();
  for (Run& run : results.runs) run = diverged(std::move(run));
  const Json large = page_of(results, 11);
  CHECK(large["overview"]["closer_points"] == Json::parse("[0,3,5]"));
  CHECK(large["overview"]["closer"].get<std::string>().find("the first (bandwidth=1Gbps, latency=1)") !=
        std::string::npos);
  CHECK(large["summary"]["headline"].get<std::string>().starts_with("Every run diverged."));
}

}  // namespace report_overview_test
