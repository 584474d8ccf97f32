// Tables of many ranks and links: quantiles and extremes of each run, all rows on request.
#include "outputs/quantile_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "catch.h"
#include "sample.h"

namespace quantile_rows_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// Runs of so many workers, with two servers and a link each; rank r of a run computes for (37 r) mod workers seconds.
Results runs_of(std::size_t runs, std::int64_t workers) {
  Results results;
  for (std::size_t i = 0; i < runs; ++i) {
    Run run = sample_run(fmt::format("run {}", i), workers, {1.0, 0.5, 0.5, 0.0});
    run.id = fmt::format("{:016x}", i);
    run.record.ranks.clear();
    for (std::int64_t r = 0; r < workers; ++r) {
      record::RankUse& rank = run.record.ranks.emplace_back();
      rank.role = "worker";
      rank.compute_s = static_cast<double>(37 * r % workers);
      rank.bytes_sent = r;
      if (r % 2 == 0) rank.staleness_mean = 1.0;
      rank.host_class = r == 0 ? "slow" : "host";
    }
    for (int server = 0; server < 2; ++server) run.record.ranks.push_back({.role = "server", .compute_s = 5.0});
    run.record.links.clear();
    for (std::int64_t r = 0; r < workers; ++r)
      run.record.links.push_back({.link = fmt::format("nic-{}", r), .bytes = 3 * r, .utilisation = 0.5});
    results.runs.push_back(std::move(run));
  }
  return results;
}

/// The rows of a table as objects.
std::vector<Json> rows_of(const ResultTable& table) {
  std::vector<Json> rows;
  table.each_row([&](const ResultRow& row) {
    REQUIRE(row.size() == table.columns.size());
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].name] = row[i];
    rows.push_back(std::move(object));
  });
  return rows;
}

bool has_quantiles(const ResultTable& table) {
  return std::ranges::find(table.columns, "quantile", &ResultColumn::name) != table.columns.end();
}

}  // namespace

TEST_CASE("ranks.csv and links.csv have every row of one run, of few rows in several runs, and on request") {
  CHECK_FALSE(has_quantiles(ranks_table(runs_of(1, 30'000))));
  CHECK(rows_of(ranks_table(runs_of(1, 30'000))).size() == 30'002);
  Results results = runs_of(20, 1000);  // 20,040 ranks, 20,000 links
  CHECK(has_quantiles(ranks_table(results)));
  CHECK_FALSE(has_quantiles(links_table(results)));
  CHECK(rows_of(links_table(results)).size() == 20'000);
  results.all_ranks = true;
  CHECK_FALSE(has_quantiles(ranks_table(results)));
  CHECK(rows_of(ranks_table(results)).size() == 20'040);
  CHECK_FALSE(has_quantiles(ranks_table(runs_of(19, 1000))));
}

TEST_CASE("a run of many ranks has seven rows of workers, each number a quantile by itself, and its few servers") {
  const Results results = runs_of(21, 1001);
  const std::vector<Json> rows = rows_of(ranks_table(results));
  REQUIRE(rows.size() == 21 * 9);
  const std::vector<double> shares{0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const std::size_t k = i % 9;
    CHECK(row["run"] == results.runs[i / 9].id);
    if (k >= 7) {
      CHECK(row["role"] == "server");
      CHECK(row["rank"] == 1001 + k - 7);
      CHECK(row["compute_s"] == 5.0);
      CHECK(row["quantile"].is_null());
      continue;
    }
    CHECK(row["role"] == "worker");
    CHECK(row["rank"].is_null());
    CHECK(row["quantile"] == shares[k]);
    // 37 and 1001 have no common divisor, so the times are 0, 1, ..., 1000, each once, and so are the bytes.
    const double least = std::max(std::ceil(shares[k] * 1001) - 1, 0.0);
    CHECK(row["compute_s"] == least);
    CHECK(row["bytes_sent"] == static_cast<std::int64_t>(least));
    CHECK(row["staleness_mean"] == 1.0);
    CHECK(row["host_class"].is_null());  // not common to all
  }
}

TEST_CASE("links are summarised by class") {
  Results results = runs_of(21, 1001);
  results.runs[0].record.links[500].link_class = "spine";
  const std::vector<Json> rows = rows_of(links_table(results));
  REQUIRE(rows.size() == 21 * 7 + 1);
  CHECK(rows[0]["link"].is_null());
  CHECK(rows[0]["link_class"] == "link");
  CHECK(rows[0]["bytes"] == 0);
  CHECK(rows[6]["bytes"] == 3000);
  CHECK(rows[6]["utilisation"] == 0.5);
  CHECK(rows[7]["link"] == "nic-500");
  CHECK(rows[7]["link_class"] == "spine");
  CHECK(rows[7]["quantile"].is_null());
  CHECK(rows[8]["run"] == results.runs[1].id);
  CHECK(links_csv(results).starts_with(
      "run,link,bytes,utilisation,link_class,quantile\n0000000000000000,,0,0.5,link,0.0\n"));
}

}  // namespace quantile_rows_test
