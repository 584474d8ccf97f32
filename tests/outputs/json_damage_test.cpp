// Results that are damaged, or of another kind: the refusals of results.json and of a run's record.
#include <cstdint>
#include <limits>

#include "base/errors.h"
#include "catch.h"
#include "full_run.h"
#include "outputs/summary.h"
#include "sample.h"

namespace json_damage_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

std::string fault_of(const Json& json) {
  try {
    run_from_json(json);
  } catch (const base::EnvironmentError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("damage is refused with the place, what was found and what was expected") {
  Json run = to_json(full_run());
  run["curve"][1]["loss"] = "small";
  CHECK(fault_of(run) == R"(curve[1]: "loss" is "small", expected a number or null)");
  run = to_json(full_run());
  run["staleness_counts"] = Json::array({Json::array({0, 3, 1})});
  CHECK(fault_of(run).starts_with(R"(run: "staleness_counts" is an array, expected pairs of)"));
  run = to_json(full_run());
  run.erase("seed");
  CHECK(fault_of(run) == R"(run: "seed" is missing)");
  run = to_json(full_run());
  run["status"] = "fine";
  CHECK(fault_of(run) == R"(run: "status" is "fine", expected reached, stopped, diverged or failed)");
  run = to_json(full_run());
  run["steps"] = 1e300;
  CHECK(fault_of(run) == R"(run: "steps" is 1e+300, expected an integer)");
  run["steps"] = std::numeric_limits<std::uint64_t>::max();
  CHECK(fault_of(run) == R"(run: "steps" is 18446744073709551615, expected an integer in range)");
  run = to_json(full_run());
  run["seed"] = -1;
  CHECK(fault_of(run) == R"(run: "seed" is -1, expected an integer in range)");
  run = to_json(full_run());
  run["ranks"][0] = 7;
  CHECK(fault_of(run) == "ranks[0]: found 7, expected an object");
  CHECK(fault_of(Json()) == "run: found null, expected an object");
}

TEST_CASE("a text that is no JSON is refused with line and column, what was found and what was expected") {
  const auto refusal = [](const std::string& text) {
    try {
      parse_json(text, "r.json");
    } catch (const base::EnvironmentError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal("{\"a\": 1]") == "r.json:1:8: not JSON, or cut short: found ']', expected '}'");
  CHECK(refusal("[1,\n 2") == "r.json:2:3: not JSON, or cut short: found end of input, expected ']'");
  CHECK(refusal("[\"\xff\"]").starts_with("r.json:1:3: not JSON, or cut short: found an invalid string"));
  CHECK(refusal("[1e999]") == "r.json: found a number beyond the range of doubles, expected at most 1.8e308");
  // Brackets in texts do not count.
  const std::string deep = std::string(256, '['), text = "[\"\\\"" + std::string(1000, '[') + "\"]";
  CHECK(refusal(deep + std::string(256, ']')) == "accepted");
  CHECK(refusal("[" + deep) == "r.json:1:257: nested more than 256 deep, expected less");
  CHECK(refusal(text) == "accepted");
}

TEST_CASE("of several members of one name the last counts, in the place of the first, also among many") {
  CHECK(parse_json(R"({"a": 1, "b": [true, null], "a": {"c": -1.5}})").dump() == R"({"a":{"c":-1.5},"b":[true,null]})");
  std::string text = "{";
  for (int k = 0; k < 100; ++k) text += "\"k" + std::to_string(k) + "\": " + std::to_string(k) + ", ";
  const Json all = parse_json(text + "\"k99\": -99, \"k3\": -3, \"k100\": 100}");
  REQUIRE(all.size() == 101);
  CHECK(all.items().begin().key() == "k0");
  CHECK(all.at("k3") == -3);
  CHECK(all.at("k99") == -99);
  CHECK(std::prev(all.end()).key() == "k100");
}

TEST_CASE("ids that are no names of files are refused: a report would read outside of its directory") {
  for (const char* id : {"../../x", "a/b", ".", ""}) {
    Results results = six_runs();
    results.runs[1].id = id;
    CHECK_THROWS_WITH(results_from_json(parse_json(results_json(results))),
                      std::string("runs[1]: \"id\" is \"") + id + "\", expected a file's name");
  }
}

TEST_CASE("any member of a run may be damaged in any way without a crash") {
  for (const std::string& key : keys(to_json(full_run()))) {
    for (const Json& damage :
         {Json(), Json(true), Json("x"), Json(-1), Json(0.5), Json::array({1}), Json::object({{"a", 1}})}) {
      Json run = to_json(full_run());
      run[key] = damage;
      fault_of(run);  // anything but an EnvironmentError fails the test
    }
  }
}

TEST_CASE("a file cut short anywhere is refused") {
  const std::string text = to_json(full_run()).dump();
  for (std::size_t size = 0; size < text.size(); size += 7) {
    CHECK_THROWS_AS(parse_json(text.substr(0, size)), base::EnvironmentError);
  }
}

TEST_CASE("results of another schema are refused") {
  Json json = parse_json(results_json(six_runs()));
  json["schema"] = 2;
  CHECK_THROWS_WITH(results_from_json(json), R"(results: "schema" is 2, expected 1)");
}

}  // namespace json_damage_test
