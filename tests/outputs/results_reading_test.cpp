#include <filesystem>
#include <random>

#include "base/errors.h"
#include "catch.h"
#include "outputs/reader.h"
#include "sample.h"
#include "share.h"

namespace results_reading_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// A file with a text, gone with the test.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path((std::filesystem::temp_directory_path() / ("simgrad-read-" + std::to_string(std::random_device()())))
                 .string()) {
    write_file(path, text);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::filesystem::remove(path); }

  const std::string path;
};

std::string read_again(const std::string& text) { return results_json(read_results_json(TextFile(text).path)); }

/// The message for a text, without the file's name.
std::string fault_of(const std::string& text) {
  const TextFile file(text);
  try {
    read_results_json(file.path);
  } catch (const base::ScenarioError& fault) {
    const std::string message = fault.what();
    REQUIRE(message.starts_with(file.path + ":"));
    return message.substr(file.path.size());
  }
  return "no fault";
}

std::string replaced(std::string text, const std::string& found, const std::string& by) {
  const auto place = text.find(found);
  REQUIRE(place != std::string::npos);
  return text.replace(place, found.size(), by);
}

Results with_counterfactual() {
  Results results = six_runs();
  results.baselines.push_back(sample_run("one worker", 1, {1.0, 0.0, 0.0, 0.0}));
  results.counterfactuals.push_back(
      {.id = results.runs.front().id, .steps = 10, .simulated_s = 1.0, .samples = 5, .changes = {}});
  return results;
}

}  // namespace

TEST_CASE("results.json reads back equal, run by run and in any other layout") {
  const std::string text = results_json(with_counterfactual());
  CHECK(read_again(text) == text);
  CHECK(read_again(parse_json(text).dump()) == text);
  CHECK(read_again(parse_json(text).dump(2)) == text);
  CHECK(read_again(results_json({})) == results_json({}));
}

TEST_CASE("a fault in results.json has the same message in either layout") {
  const std::string text = results_json(with_counterfactual());
  const std::string number = replaced(text, R"("steps":100)", R"("steps":"x")");
  CHECK(fault_of(number) == R"(: runs[0]: "steps" is "x", expected an integer)");
  CHECK(fault_of(parse_json(number).dump()) == fault_of(number));
  const std::string id = replaced(text, R"("id":")", R"("id":"../)");
  CHECK(fault_of(id) == fault_of(parse_json(id).dump()));
}

TEST_CASE("results.json that was cut short or is no JSON is refused with the place") {
  const std::string text = results_json(with_counterfactual());
  const std::string second_run = text.substr(0, text.find("},\n    {") + 2);  // a list without its end
  CHECK(fault_of(second_run).find("not JSON, or cut short") != std::string::npos);
  CHECK(fault_of(text.substr(0, text.size() / 2)).find("not JSON, or cut short") != std::string::npos);
  const std::string comma = replaced(text, "},\n    {", "}\n    {");
  CHECK(fault_of(comma) == ":10:5: not JSON, or cut short: found '{', expected ']'");
  CHECK(fault_of(replaced(text, "}\n  ],", "},\n  ],")).find(": not JSON, or cut short") != std::string::npos);
}

TEST_CASE("whatever is wrong with results.json, reading by line finds what reading as a whole finds") {
  const std::string text = results_json(with_counterfactual());
  const auto as_a_whole = [](const std::string& document) {
    try {
      return results_json(results_from_json(parse_json(document, "F")));
    } catch (const base::EnvironmentError& fault) {
      const std::string message = fault.what();
      return message.starts_with("F:") ? message.substr(1) : ": " + message;
    }
  };
  std::size_t faults = 0;
  tests::Share share;
  for (std::size_t at = 0; at < text.size(); at += 41)
    for (const char* put : {"", ",", "\n", "}", "    {"}) {
      if (!share.next()) continue;
      std::string mutated = text;
      mutated.replace(at, 3, put);
      const std::string fault = fault_of(mutated);
      faults += fault == "no fault" ? 0U : 1U;
      INFO(mutated.substr(at > 40 ? at - 40 : 0, 80));
      CHECK((fault == "no fault" ? read_again(mutated) : fault) == as_a_whole(mutated));
    }
  CHECK(faults > (share.whole() ? 100U : 10U));
}

TEST_CASE("a file of results that is not there is an error of the environment") {
  CHECK_THROWS_WITH(read_results_json("/none/results.json"),
                    "/none/results.json: cannot be opened: No such file or directory");
  CHECK_THROWS_AS(read_results_json("/none/results.json"), base::EnvironmentError);
}

}  // namespace results_reading_test
