/// Random texts: any text is either read or refused.
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "scenario/fixture.h"
#include "share.h"

namespace mutation_test {

using namespace fixture;
using scenario::Document;

namespace {

constexpr std::string_view text = R"(title = "a \u00e9"
[cluster]
workers = 16
bandwidth = "10Gbps"
topology = { kind = "fat_tree", arity = 8 }
[model]
kind = "perceptron"
hidden = [64, 32.5]
[training]
batch_size = "full"
learning_rate = 1e-3
[[strategy]]
kind = "parameter_server"
consistency = "asp"
[grid]
"cluster.workers" = [1, 2]
training.clip = [1.0]
)";

/// A few bytes replaced, removed, doubled, or exchanged for pieces that TOML gives a meaning.
std::string mutated(std::string_view original, base::Stream& stream) {
  constexpr std::string_view pieces[] = {
      "[",          "]",       "[[",   "{",    "}",   "\"",    "'",     "=",
      ",",          ".",       "\n",   "nan",  "inf", "-",     "1e999", "9223372036854775808",
      "1979-05-27", "\\u0000", "\xff", "\xc3", "#",   "\"\"\""};
  std::string changed(original);
  for (std::uint64_t i = 0; i <= stream.below(4); ++i) {
    const auto at = static_cast<std::size_t>(stream.below(changed.size() + 1));
    const auto length = static_cast<std::size_t>(stream.below(6));
    switch (stream.below(4)) {
      case 0:
        changed.erase(at, length);
        break;
      case 1:
        changed.insert(at, pieces[stream.below(std::size(pieces))]);
        break;
      case 2:
        changed.insert(at, changed.substr(at, 10 * length));
        break;
      default:
        changed.replace(at, length, 1, static_cast<char>(stream.below(256)));
        break;
    }
  }
  return changed;
}

/// Everything that is done with a scenario before it runs.
bool accepted(const std::string& scenario) {
  try {
    Document document = Document::parse(scenario, "a.toml");
    scenario::Faults faults;
    for (const scenario::Axis& axis : document.take_grid(faults))
      for (const scenario::Value& value : axis.values) document.set(axis.key, value);
    Settings options;
    document.read_into(options, faults);
    faults.raise_if_any();
    const auto echo = scenario::echo(options);
    Settings again = settings(Document::parse(scenario::toml(echo), "a.toml"));
    CHECK(scenario::echo(again).dump() == echo.dump());
    return true;
  } catch (const base::ScenarioError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a scenario changed at random is read or refused, and its echo reads back") {
  base::Stream stream({.seed = 1});
  int read = 0;
  constexpr int texts = 20000;
  for (int i = 0; i < texts; ++i) read += accepted(mutated(text, stream)) ? 1 : 0;
  // Neither everything nor nothing, else the test would show nothing.
  CHECK(read > texts / 100);
  CHECK(read < texts);
}

TEST_CASE("an assignment changed at random is taken or refused") {
  base::Stream stream({.seed = 2});
  tests::Share share;
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    for (const char* assignment : {"cluster.topology={kind=\"star\"}", "strategy.0.servers=3", "model.\"kind\"=a,b"}) {
      const std::string changed = mutated(assignment, stream);
      if (!share.next()) continue;
      try {
        Document document = Document::parse(text, "a.toml");
        document.set(changed);
        scenario::Faults faults;
        document.take_grid(faults);
        Settings options;
        document.read_into(options, faults);
        faults.raise_if_any();
        ++read;
      } catch (const base::ScenarioError&) {
        // Refused, as it should be.
      }
      try {
        Document::axes(changed);
      } catch (const base::ScenarioError&) {
        // Refused, as it should be.
      }
    }
  }
  CHECK(read > 0);
}

}  // namespace mutation_test
