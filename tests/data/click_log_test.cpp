// The log of clicks: its shape, its hot keys, its drift; and how sparse rows are split.
#include "data/click_log.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/errors.h"
#include "catch.h"
#include "data/sparse_rows.h"

namespace click_log_test {

using namespace simgrad;
using data::ClickLog;
using data::Dataset;

namespace {

Dataset clicks(const ClickLog& log, std::int64_t samples, std::int64_t features, std::uint64_t seed = 1) {
  return log.load({.task = data::Task::classification, .seed = seed, .samples = samples, .features = features});
}

std::string refusal(const ClickLog& log, const data::Request& request) {
  try {
    log.load(request);
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "none";
}

/// The share of rows in which the most frequent key of field 0 among `rows` occurs.
std::map<std::uint32_t, int> counts(const Dataset& set, std::int64_t first, std::int64_t last) {
  std::map<std::uint32_t, int> all;
  for (std::int64_t row = first; row < last; ++row)
    ++all[set.sparse.keys[static_cast<std::size_t>(set.sparse.starts[static_cast<std::size_t>(row)])]];
  return all;
}

std::uint32_t hottest(const std::map<std::uint32_t, int>& all) {
  return std::ranges::max_element(all, {}, [](const auto& pair) { return pair.second; })->first;
}

}  // namespace

TEST_CASE("every row has one key of each field, and the seed decides") {
  ClickLog log;
  log.fields = 7;
  const Dataset set = clicks(log, 300, 53);
  CHECK(set.rows == 300);
  CHECK(set.columns == 53);
  CHECK(set.fields == 7);
  CHECK(set.classes == 2);
  CHECK(set.features.empty());
  CHECK(set.sparse.values.empty());
  REQUIRE(set.sparse.entries() == 300 * 7);
  for (std::size_t e = 0; e < set.sparse.keys.size(); ++e) {
    CHECK(set.sparse.keys[e] < 53);
    CHECK(set.sparse.keys[e] % 7 == e % 7);
  }
  CHECK(clicks(log, 300, 53).sparse.keys == set.sparse.keys);
  CHECK(clicks(log, 300, 53, 2).sparse.keys != set.sparse.keys);
  const Dataset more = clicks(log, 400, 53);
  CHECK(std::equal(set.sparse.keys.begin(), set.sparse.keys.end(), more.sparse.keys.begin()));
}

TEST_CASE("without drift the hottest key of a field is its first, to the end") {
  ClickLog log;
  log.fields = 4;
  const Dataset set = clicks(log, 4000, 400);
  CHECK(!set.in_time);
  CHECK(hottest(counts(set, 0, 1000)) == 0);
  CHECK(hottest(counts(set, 3000, 4000)) == 0);
}

TEST_CASE("with drift a tenth of the keys has been hot by drift t = 1, and the truth has turned") {
  ClickLog log;
  log.fields = 4;
  log.drift = 1.0;
  const Dataset set = clicks(log, 20'000, 400);  // a field has 100 keys: the rank of each grows by 10
  CHECK(set.in_time);
  CHECK(hottest(counts(set, 0, 1000)) == 0);
  const std::uint32_t last = hottest(counts(set, 19'500, 20'000));
  CHECK(last == (100 - 9) * 4);
  // The odds of a key at the beginning are independent of those at the end; a slow drift keeps them.
  const auto agreement = [](const Dataset& rows) {
    std::map<std::uint32_t, double> early, late;
    for (std::int64_t row = 0; row < rows.rows; ++row)
      for (std::int64_t e = rows.sparse.starts[static_cast<std::size_t>(row)];
           e < rows.sparse.starts[static_cast<std::size_t>(row) + 1]; ++e) {
        const double sign = rows.targets[static_cast<std::size_t>(row)] - 0.5;
        if (row < rows.rows / 5) early[rows.sparse.keys[static_cast<std::size_t>(e)]] += sign;
        if (row >= rows.rows - rows.rows / 5) late[rows.sparse.keys[static_cast<std::size_t>(e)]] += sign;
      }
    double product = 0.0, a = 0.0, b = 0.0;
    for (const auto& [key, sum] : early) product += sum * late[key], a += sum * sum;
    for (const auto& [key, sum] : late) b += sum * sum;
    return product / std::sqrt(a * b);
  };
  ClickLog still = log;
  still.drift = 0.0;
  CHECK(agreement(clicks(still, 20'000, 400)) > 0.9);
  CHECK(agreement(set) < 0.5);
}

TEST_CASE("click_log refuses fewer features than fields, too many entries, and other tasks") {
  ClickLog log;
  log.fields = 20;
  using data::Task;
  CHECK(refusal(log, {.task = Task::classification, .samples = 5, .features = 10})
            .find("features = 10 for nonzeros = 20") != std::string::npos);
  CHECK(refusal(log, {.task = Task::regression, .samples = 5, .features = 100}).find("makes classes") !=
        std::string::npos);
  CHECK(refusal(log, {.task = Task::classification, .samples = std::int64_t{1} << 40, .features = 100})
            .find("the limits are") != std::string::npos);
}

TEST_CASE("sparse rows are chosen with their values, and a bias is a last entry") {
  Dataset set;
  set.rows = 3;
  set.columns = 3;
  set.features = {0.0, 2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0};
  set.targets = {0.0, 1.0, 0.0};
  data::make_sparse(set);
  CHECK(set.sparse.starts == std::vector<std::int64_t>{0, 1, 3, 3});
  CHECK(set.sparse.keys == std::vector<std::uint32_t>{1, 0, 2});
  CHECK(set.sparse.values == std::vector<double>{2.0, 1.0, 3.0});
  CHECK(set.features.empty());
  CHECK(set.fields == 0);
  const data::SparseRows chosen = data::chosen_rows(set, {2, 1}, true);
  CHECK(chosen.starts == std::vector<std::int64_t>{0, 1, 4});
  CHECK(chosen.keys == std::vector<std::uint32_t>{3, 0, 2, 3});
  CHECK(chosen.values == std::vector<double>{1.0, 1.0, 3.0, 1.0});
}

}  // namespace click_log_test
