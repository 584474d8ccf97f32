// Numbers that only some runs have.
#include "catch.h"
#include "outputs/sample.h"
#include "outputs/summary.h"

namespace fields_of_some_test {

using namespace simgrad;
using namespace simgrad::outputs;

TEST_CASE("a field of some runs is a column where one has it, is empty for the others, and reads back") {
  Results results = six_runs();
  CHECK(runs_csv(results).find("cache_hit_rate") == std::string::npos);
  CHECK(to_json(results.runs[0]).contains("cache_hit_rate") == false);
  results.runs[1].record.cache_hit_rate = 0.25;
  const std::string csv = runs_csv(results);
  const auto line = [&](int number) {
    std::size_t from = 0;
    for (int i = 0; i < number; ++i) from = csv.find('\n', from) + 1;
    return csv.substr(from, csv.find('\n', from) - from);
  };
  CHECK(line(0).find(",cache_hit_rate,") != std::string::npos);
  CHECK(line(0).find("server_imbalance") == std::string::npos);
  CHECK(line(1).find(",0.25,") == std::string::npos);
  CHECK(line(2).find(",0.25,") != std::string::npos);
  const Run back = run_from_json(to_json(results.runs[1]));
  CHECK(back.record.cache_hit_rate == 0.25);
  CHECK(!back.record.server_imbalance);
}

TEST_CASE("the time down is a part of the time in memory, though files have it once") {
  const Run run = sample_run("a", 2, {1.0, 0.5, 0.25, 0.125});
  const Run back = run_from_json(to_json(run));
  for (const record::RankUse& rank : back.record.ranks) CHECK(rank.parts[record::TimePart::down] == 0.125);
  Results results = six_runs();
  const std::string text = results_json(results);
  for (const Run& each : results_from_json(Json::parse(text)).runs)
    for (const record::RankUse& rank : each.record.ranks) CHECK(rank.parts[record::TimePart::down] == rank.down_s);
}

}  // namespace fields_of_some_test
