// The memory of ranks in the report.
#include "catch.h"
#include "outputs/report/charts/memory.h"
#include "report_sample.h"

namespace report_memory_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;
using record::MemoryPart;

namespace {

constexpr double GB = 1e9;

/// Two workers, which hold so many bytes of parameters and of activations.
Run holding(const std::string& label, double parameters, std::array<double, 2> activations,
            std::optional<double> limit = {}) {
  Run run = sample_run(label, 2, {1.0, 0.0, 0.0, 0.0});
  for (std::size_t r = 0; r < 2; ++r) {
    record::RankUse& rank = run.record.ranks[r];
    rank.memory.fill(0.0);
    rank.memory[0] = parameters;
    rank.memory[static_cast<std::size_t>(MemoryPart::activations)] = activations[r];
    rank.memory_bytes = parameters + activations[r];
    rank.memory_limit_bytes = limit;
  }
  return run;
}

}  // namespace

TEST_CASE("the memory chart has the fullest rank first, and ranks that hold the same together") {
  const auto chart = memory(report_model(results_of({holding("a", GB, {GB, 3 * GB}), holding("b", GB, {0, 0})})));
  REQUIRE(chart);
  CHECK(chart->parts == std::vector{MemoryPart::parameters, MemoryPart::activations});
  REQUIRE(chart->rows[0].ranks.size() == 2);
  CHECK(chart->rows[0].ranks[0].name == "rank 1");
  CHECK(chart->rows[0].ranks[0].bytes[MemoryPart::activations] == 3 * GB);
  REQUIRE(chart->rows[1].ranks.size() == 1);
  CHECK(chart->rows[1].ranks[0].name == "ranks 0, 1");
  CHECK(chart->sentence ==
        "a holds the most memory: 4.00 GB at the peak of a rank, 75 % of it activations. b holds the least: 1.00 GB.");
  REQUIRE(chart->table.rows.size() == 3);
  CHECK(chart->table.rows[0][3].number == 4 * GB);
  CHECK_FALSE(chart->table.rows[0][4].number);
  CHECK(chart->table.rows[0][6].number == 3 * GB);
}

TEST_CASE("the memory chart's sentence tells whether the cases fit into their devices") {
  const auto told = [](std::vector<Run> runs) { return memory(report_model(results_of(std::move(runs))))->sentence; };
  CHECK(told({holding("a", GB, {GB, GB}, 2 * GB)}) ==
        "a holds 2.00 GB at the peak of a rank, 50 % of it model parameters. The device has 2.00 GB.");
  CHECK(told({holding("a", GB, {GB, GB}, 2 * GB), holding("b", GB, {GB, GB}, 1.5 * GB)}) ==
        "a holds 2.00 GB at the peak of a rank, 50 % of it model parameters, and every other case as much, within 0.5 "
        "%. Cases that hold more than a device has: 1 of 2.");
  CHECK(told({holding("a", GB, {GB, GB}, 4 * GB), holding("b", GB, {0, 0}, 1.5 * GB)}) ==
        "a holds the most memory: 2.00 GB at the peak of a rank, 50 % of it model parameters. b holds the least: 1.00 "
        "GB. Every case fits into its devices.");
}

TEST_CASE("the page gets the bytes of each part and the memory of the device, or none") {
  const auto written = [](std::optional<double> limit) {
    Writer writer;
    write(writer, *memory(report_model(results_of({holding("a", GB, {3 * GB, 3 * GB}, limit)}))));
    return parse_json(writer.take()).at("rows").at(0).at("ranks").at(0);
  };
  CHECK(written(8 * GB).at("bytes") == Json{GB, 3 * GB});
  CHECK(written(8 * GB).at("limit") == 8 * GB);
  CHECK(written({}).at("limit").is_null());
}

TEST_CASE("memory is the mean over the seeds, rank by rank, and a case without it is left out") {
  const auto chart = memory(report_model(
      results_of({with_seed(holding("a", GB, {GB, 2 * GB}), 1), with_seed(holding("a", GB, {3 * GB, 2 * GB}), 2),
                  sample_run("old", 2, {1.0, 0.0, 0.0, 0.0})})));
  REQUIRE(chart->rows.size() == 1);
  CHECK(chart->rows[0].ranks.size() == 1);  // both ranks have 2 GB of activations in the mean
  CHECK(chart->rows[0].ranks[0].bytes[MemoryPart::activations] == 2 * GB);
  CHECK_FALSE(memory(report_model(results_of({sample_run("old", 2, {1.0, 0.0, 0.0, 0.0})}))));
}

TEST_CASE("a rank that outgrows another device makes its case too large, though a larger rank fits") {
  Run run = holding("a", GB, {GB, 3 * GB}, 8 * GB);
  run.record.ranks[0].memory_limit_bytes = 1.5 * GB;
  CHECK(
      memory(report_model(results_of({run})))->sentence ==
      "a holds 4.00 GB at the peak of a rank, 75 % of it activations. Cases that hold more than a device has: 1 of 1.");
}

TEST_CASE("if too many ranks differ the largest are shown, and the sentence says so") {
  Run run = sample_run("a", 2500, {1.0, 0.0, 0.0, 0.0});
  for (std::size_t r = 0; r < 2500; ++r) {
    run.record.ranks[r].memory.fill(0.0);
    run.record.ranks[r].memory[0] = static_cast<double>(r + 1);
    run.record.ranks[r].memory_bytes = static_cast<double>(r + 1);
  }
  const auto chart = memory(report_model(results_of({run})));
  CHECK(chart->rows[0].ranks.size() == most_alike_ranks_in_all);
  CHECK(chart->rows[0].ranks[0].name == "rank 2499");
  CHECK(chart->sentence.ends_with(" The 2000 largest of 2500 different ranks are shown."));
}

}  // namespace report_memory_test
