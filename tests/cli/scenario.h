// The scenario that the tests of the command line start from, and ways to change it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/program.h"

namespace simgrad::tests {

using Json = nlohmann::ordered_json;

/// Its lines are counted by the tests of errors.
inline const std::string small = R"(title = "small"
seed = 1

[cluster]
workers = 4
speed = "1GF"
bandwidth = "1Gbps"
latency = "50us"

[data]
source = "house_prices"
samples = 200
features = 5

[model]
kind = "least_squares"

[training]
learning_rate = 0.1

[stop]
steps = 10

[[strategy]]
kind = "allreduce"
)";

/// Every kind of strategy, most with something that only it does.
inline const std::string all_strategies = R"([[strategy]]
kind = "single"
[[strategy]]
kind = "mapreduce"
[[strategy]]
kind = "parameter_server"
[[strategy]]
kind = "parameter_server"
label = "async"
consistency = "asp"
[[strategy]]
kind = "parameter_server"
consistency = "asp"
gradient = "mean"
[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "gossip"
[[strategy]]
kind = "gossip"
graph = "complete"
update = "adapt_then_combine"
[[strategy]]
kind = "gossip"
graph = "star"
update = "gradient_exchange"
)";

/// The text with `from`, which must be in it, replaced by `to`.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("not in the text: " + from);
  return text.replace(at, from.size(), to);
}

/// `small` with other strategies.
inline std::string with_strategies(const std::string& strategies) {
  return with(small, "[[strategy]]\nkind = \"allreduce\"\n", strategies);
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

inline Called program(const std::string& arguments, const Scratch& scratch) {
  return call_program(arguments, scratch.path());
}

inline Json results_in(const Scratch& scratch, const std::string& out = "out/x") {
  return Json::parse(contents(scratch.path() + "/" + out + "/results.json"));
}

/// Runs the text as x.toml, which must go well, and returns results.json.
inline Json results_of(const std::string& text, const std::string& arguments = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml --json " + arguments, scratch);
  if (called.exit_code != 0)
    throw std::runtime_error("exit code " + std::to_string(called.exit_code) + ": " + called.err);
  return Json::parse(called.out);
}

/// One member of every run.
inline std::vector<Json> each(const Json& results, const std::string& member) {
  std::vector<Json> all;
  for (const Json& run : results.at("runs")) all.push_back(run.at(member));
  return all;
}

}  // namespace simgrad::tests
