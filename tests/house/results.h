/// Results of a scenario, run as a user runs it, and questions about them.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "catch.h"
#include "house/repository.h"
#include "outputs/results.h"

namespace simgrad::tests {

/// The data set a scenario leaves to the command line, as an option; nothing where SIMGRAD_TEST_DATA is unset.
inline std::optional<std::string> data_option(const std::string& name) {
  const std::map<std::string, std::string> files{{"real_csv.toml", "california_housing.csv"},
                                                 {"real_libsvm.toml", "heart_scale.libsvm"}};
  const auto file = files.find(name);
  if (file == files.end()) return "";
  const char* directory = std::getenv("SIMGRAD_TEST_DATA");
  if (!directory || !*directory) return std::nullopt;
  const std::filesystem::path path = std::filesystem::absolute(std::filesystem::path(directory) / file->second);
  if (!std::filesystem::exists(path)) return std::nullopt;
  return " --set data.path='" + path.string() + "'";
}

/// Nothing, after a word of warning, without the data that the scenario needs. Causes and timelines, which take up to
/// half of a command's time, are nobody's question here.
inline std::optional<outputs::Results> results_of(const std::string& name, const std::string& options = "") {
  const auto data = data_option(name);
  if (!data) {
    WARN("skipped: " << name << " needs real data, and SIMGRAD_TEST_DATA does not name their directory");
    return std::nullopt;
  }
  const Scratch scratch;
  const Called called = call("simgrad run '" + (source_dir() / "scenarios" / name).string() + "'" + *data + options +
                                 " --json --no-why --timelines 0 --out '" + scratch.path() + "'",
                             scratch.path());
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return outputs::results_from_json(outputs::parse_json(called.out));
}

inline const outputs::Run& run_of(const outputs::Results& results, std::string_view label,
                                  std::string_view parameters = "") {
  for (const outputs::Run& run : results.runs)
    if (run.label == label && (parameters.empty() || run.parameters.dump() == parameters)) return run;
  throw std::runtime_error(fmt::format("no run {} {}", label, parameters));
}

inline double speedup(const outputs::Run& run) { return run.speedup_throughput.value(); }

inline double total_wait_s(const outputs::Run& run) {
  double sum = 0.0;
  for (const record::RankUse& rank : run.record.ranks)
    if (rank.role == "worker") sum += rank.wait_s;
  return sum;
}

inline double mean_communicate_s(const outputs::Run& run) {
  double sum = 0.0;
  for (const record::RankUse& rank : run.record.ranks)
    if (rank.role == "worker") sum += rank.communicate_s;
  return sum / static_cast<double>(run.workers);
}

inline bool reached(const outputs::Run& run) { return run.record.status == record::Status::reached; }

}  // namespace simgrad::tests
