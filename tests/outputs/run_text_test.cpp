// A run read from its text without a tree.
#include "outputs/run_text.h"

#include <limits>

#include "catch.h"
#include "outputs/sample.h"
#include "outputs/summary.h"

namespace run_text_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("run text: a run is read back as it was written, with whatever texts and numbers it has") {
  Results results = six_runs();
  Run& odd = results.runs.front();
  odd.label = "a \"quoted\" \\ label,\n{[\x01 \xC3\xA9";
  odd.options = {{"nested", {{"list", {1, "]}", nullptr, true}}}}, {"\"key\"", 0.1}};
  odd.seed = std::numeric_limits<std::uint64_t>::max();
  odd.record.notes = {"", "one, \"two\"", "}"};
  odd.record.error = "failed: \"x\"";
  odd.record.simulated_s = 1e-300;
  odd.wall_s = 0.1 + 0.2;
  odd.record.final_loss = std::numeric_limits<double>::quiet_NaN();
  odd.record.staleness_counts = {{-1, 2}, {std::numeric_limits<std::int64_t>::max(), 0}};
  results.runs.push_back(failed(sample_run("failed", 2, {1, 2, 3, 4}), "no room"));
  for (const Run& run : results.runs) {
    const auto read = run_from_text(text_of(run));
    INFO(text_of(run));
    CHECK(text_of(run) == compact(to_json(run)));
    REQUIRE(read);
    CHECK(text_of(*read) == text_of(run));
    CHECK(text_of(*read) == text_of(run_from_json(to_json(run))));
  }
}

TEST_CASE("run text: numbers and texts are spelled as in trees") {
  Run run = sample_run("a", 2, {1, 2, 3, 4});
  for (const double value : {0.0, -0.0, 1.0, -1.5, 0.1, 1.0 / 3.0, 1e15, 1e16, 123456789012345680.0, 1e22, 1e-4, 1e-5,
                             5e-324, 1.7976931348623157e308, 2.5e-7, 4503599627370497.5,
                             std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    run.record.simulated_s = value;
    CHECK(text_of(run) == compact(to_json(run)));
  }
  for (const char* text : {"", "plain", "\"", "\\", "\n\t\x01\x1f", "\x7f", "\xC3\xA9", "\xff", "/", "\xE4\xB8"}) {
    run.record.notes = {text, "b"};
    run.record.error = run.label = text;
    run.parameters = {{text, text}};
    CHECK(text_of(run) == compact(to_json(run)));
  }
  run.options = nullptr;
  run.record.curve.clear();
  run.record.ranks.clear();
  run.record.links.clear();
  CHECK(text_of(run) == compact(to_json(run)));
}

TEST_CASE("run text: any other text is left to the reader of trees") {
  const std::string text = text_of(sample_run("a", 2, {1, 2, 3, 4}));
  REQUIRE(run_from_text(text));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"{\"id\"", "{ \"id\""},  // a blank
                                                        {"\"steps\":100,", ""},   // a member is missing
                                                        {"\"steps\":100,", "\"x\":1,\"steps\":100,"},
                                                        {"\"steps\":100", "\"steps\":1e2"},  // no integer
                                                        {"\"steps\":100", "\"steps\":99999999999999999999"},
                                                        {"\"seed\":1", "\"seed\":-1"},
                                                        {"\"simulated_s\":10.0", "\"simulated_s\":1e999"},
                                                        {"\"simulated_s\":10.0", "\"simulated_s\":\"10\""},
                                                        {"\"status\":\"stopped\"", "\"status\":\"asleep\""},
                                                        {"\"options\":{}", "\"options\":{]}"},
                                                        {"\"id\":\"a-2\"", "\"id\":\"a\\q\""},
                                                        {"\"notes\":[]", "\"notes\":[1]"}}) {
    INFO(to);
    CHECK_FALSE(run_from_text(with(text, from, to)));
  }
  CHECK_FALSE(run_from_text(text + "\n"));
  for (std::size_t size = 0; size < text.size(); ++size) CHECK_FALSE(run_from_text(text.substr(0, size)));
}

}  // namespace run_text_test
