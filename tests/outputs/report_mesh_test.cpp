// Stages of a cut model in the report.
#include "catch.h"
#include "outputs/report/charts/memory.h"
#include "outputs/report/charts/mesh.h"
#include "report_sample.h"

namespace report_mesh_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;
using record::TimePart;

namespace {

/// Two stages of one rank in four steps of 2.5 seconds: 6 s of passes, and bubbles of so many seconds.
Run in_stages(const std::string& label, std::array<double, 2> bubble_s, std::optional<double> tensor_s = {}) {
  Run run = sample_run(label, 2, {7.0, 0.0, 3.0, 0.0});
  run.record.simulated_s = 10.0;
  run.record.steps = 4;
  for (std::size_t r = 0; r < 2; ++r) {
    record::RankUse& rank = run.record.ranks[r];
    rank.parts[TimePart::compute_gradient] = 6.0;
    rank.parts[TimePart::compute_update] = 0.5;
    rank.mesh = {.tensor = 0,
                 .data = 0,
                 .pipeline = static_cast<std::int64_t>(r),
                 .bubble_s = bubble_s[r],
                 .hop_s = 0.25,
                 .tensor_s = tensor_s};
    rank.memory.fill(0.0);
    rank.memory[0] = 1e9;
    rank.memory_bytes = 1e9;
  }
  run.record.bubble_s = 0.5 * (bubble_s[0] + bubble_s[1]);
  run.record.bubble_share = *run.record.bubble_s / 10.0;
  run.record.dimensions = {{"pipeline", "nic", 2, 800, 0.1, 0.2}};
  return run;
}

std::string told(std::vector<Run> runs) { return mesh(report_model(results_of(std::move(runs))))->sentence; }

}  // namespace

TEST_CASE("the causes of a stage's step add up to it, and the rest is not any of the others") {
  const auto chart = mesh(report_model(results_of({in_stages("a", {1.0, 2.0}, 0.5)})));
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 1);
  REQUIRE(chart->rows[0].stages.size() == 2);
  const std::vector<double> second{1.5, 0.125, 0.0625, 0.5, 0.125, 0.1875};  // a quarter of 6, 0.5, 0.25, 2, 0.5, 0.75
  CHECK(chart->rows[0].stages[1].stage == 1);
  REQUIRE(chart->causes.size() == second.size());  // no context or expert ranks
  for (std::size_t k = 0; k < second.size(); ++k)
    CHECK(chart->rows[0].stages[1].step_s[k] == Approx(second[k]).epsilon(1e-12));
  CHECK(chart->causes[3] == MeshCause::bubble);
  CHECK(chart->rows[0].stages[0].step_s[3] == 0.25);
  CHECK(chart->rows[0].stages[0].memory_bytes == 1e9);
  REQUIRE(chart->rows[0].links.size() == 1);
  CHECK(chart->rows[0].links[0].bytes == 200);  // of a step
  REQUIRE(chart->table.rows.size() == 2);
  CHECK(chart->table.rows[1][6].number == 0.5);
}

TEST_CASE("collectives of context and expert ranks are causes of their own where there are any") {
  Run run = in_stages("a", {1.0, 2.0}, 0.5);
  run.record.ranks[1].mesh.context_s = 0.125;
  run.record.ranks[1].mesh.expert_s = 0.25;
  const auto chart = mesh(report_model(results_of({run})));
  REQUIRE(chart);
  REQUIRE(chart->causes.size() == mesh_causes);
  const std::vector<double>& step_s = chart->rows[0].stages[1].step_s;
  CHECK(step_s[static_cast<std::size_t>(MeshCause::context)] == 0.03125);
  CHECK(step_s[static_cast<std::size_t>(MeshCause::expert)] == 0.0625);
  CHECK(step_s[static_cast<std::size_t>(MeshCause::rest)] == Approx(0.09375).epsilon(1e-12));
}

TEST_CASE("the sentence tells the largest bubble and the smallest") {
  CHECK(told({in_stages("a", {1.0, 2.0})}) == "a waits for other stages, which is the bubble, for 15 % of its time.");
  CHECK(told({in_stages("a", {1.0, 2.0}), in_stages("b", {2.0, 3.0}, 0.5)}) ==
        "b waits for other stages, which is the bubble, for 25 % of its time, and is in collectives of tensor ranks "
        "for 5 %; a waits the least, for 15 %.");
}

TEST_CASE("a model that is not cut has no stages in the report") {
  CHECK_FALSE(mesh(report_model(results_of({sample_run("a", 2, {7.0, 0.0, 3.0, 0.0})}))));
}

TEST_CASE("ranks of different stages are apart in the memory chart, under the names of their stages") {
  const auto chart = memory(report_model(results_of({in_stages("a", {1.0, 2.0})})));
  REQUIRE(chart);
  REQUIRE(chart->rows[0].ranks.size() == 2);
  CHECK(chart->rows[0].ranks[0].name == "stage 0: rank 0");
  CHECK(chart->rows[0].ranks[1].name == "stage 1: rank 1");
}

}  // namespace report_mesh_test
