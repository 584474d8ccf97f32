// The numbers of a run by their names in results.json.
#include <algorithm>
#include <set>

#include "catch.h"
#include "outputs/fields.h"
#include "outputs/sample.h"

namespace numbers_by_name_test {

using namespace simgrad::outputs;

namespace {

Run full_run() {
  Run run = sent(reached(sample_run("ring", 4, {1.0, 0.5, 0.25, 0.25}), 0.5, 6.0), 320, 40);
  run.interference = 1.5;
  run.record.server_imbalance = 2.0;
  run.record.stored_bytes = 77;
  return run;
}

}  // namespace

TEST_CASE("every number of a run in results.json is found under its name, with its value") {
  const Run run = full_run();
  const Json json = to_json(run);
  std::set<std::string> numbers;
  for (const auto& [key, value] : json.items())
    if (value.is_number()) numbers.insert(key);
  for (const std::string& key : numbers) {
    INFO(key);
    CHECK(std::ranges::count(numeric_fields(), key) == 1);
    CHECK(field(run, key) == json.at(key).get<double>());
  }
  CHECK(numbers.contains("speedup_throughput"));
  CHECK(numbers.contains("interference"));
  CHECK(numbers.contains("stored_bytes"));
}

TEST_CASE("a field without a number is nothing, and texts and lists are no numbers") {
  const Run run = full_run();
  const Json json = to_json(run);
  for (const std::string& key : numeric_fields()) {
    INFO(key);
    if (!json.contains(key) || json.at(key).is_null())
      CHECK_FALSE(field(run, key));
    else
      CHECK(json.at(key).is_number());
  }
  CHECK_FALSE(field(run, "staleness_mean"));
  for (const char* other : {"id", "label", "status", "error", "parameters", "notes", "curve", "network_model"})
    CHECK(std::ranges::count(numeric_fields(), other) == 0);
}

}  // namespace numbers_by_name_test
