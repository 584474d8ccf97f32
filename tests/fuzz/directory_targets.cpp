/// experiment.json of a results directory, by which a command knows whose results these are.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/errors.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/plan.h"
#include "experiment/run/merge.h"
#include "experiment/run/origin.h"
#include "experiment/run/results_directory.h"
#include "fuzz/targets.h"
#include "scratch.h"

namespace simgrad::fuzz {

namespace {

using Json = nlohmann::ordered_json;

const experiment::Plan& own_plan() {
  static const experiment::Plan plan = experiment::make_plan(files().write("own.toml", small_scenario), {});
  return plan;
}

/// experiment.json of a shard of the plan, as `run --shard 1/3` writes it.
Json own_shard() {
  const experiment::Origin origin{.file = "own.toml", .selection = {}};
  return experiment::as_json(origin, {.index = 1, .count = 3}, own_plan(), files().directory());
}

/// A directory beside the inputs with this experiment.json.
std::string directory(const char* name, const std::string& bytes) {
  const std::string path = files().directory() + "/" + name;
  std::filesystem::create_directories(path);
  files().write(std::string(name) + "/experiment.json", bytes);
  return path;
}

/// A shard is what its file says, and two shards belong together, or a sentence says why not.
void check_shard(const experiment::ShardOfExperiment& shard) {
  expect(shard.shard.index >= 1 && shard.shard.index <= shard.shard.count, "a part beyond the parts");
  expect(experiment::parse_shard(text(shard.shard), "") == shard.shard, "a part that is read back differs");
  expect(!shard.origin.file.starts_with("-"), "a file that would be an option");
  expect(shard.experiment.contains("scenario") && shard.experiment.contains("made_by"), "a shard of nothing");
}

/// The directory is taken for the plan, or refused; afterwards it is the plan's, and no longer what it was.
void take_directory(const std::string& bytes, const Json& shard, bool replace) {
  const std::string out = directory("taken", bytes);
  files().write("taken/runs.csv", "experiment\n");
  const auto silent = [](const std::string&) {};
  std::string refusal;
  try {
    const experiment::ResultsDirectory taken(out, own_plan(), shard, replace, silent);
  } catch (const base::ScenarioError& error) {
    refusal = error.what();
  } catch (const base::EnvironmentError& error) {
    refusal = error.what();
  }
  if (!refusal.empty()) {
    expect(!replace, "results that are to be replaced are refused");
    expect(tests::contents(out + "/experiment.json") == bytes, "a refused directory has changed");
    throw base::ScenarioError(refusal);
  }
  const Json there = experiment::experiment_in(out);
  expect(there.at("scenario") == own_plan().scenario && there.contains("shard") == !shard.is_null(),
         "a directory that is taken has another experiment");
}

}  // namespace

void read_experiment(const std::string& bytes) {
  take_directory(bytes, own_shard(), true);
  const std::string mutated = directory("mutated", bytes);
  std::string refusal;
  if (const auto part = experiment::shard_at(mutated)) {
    const experiment::ShardOfExperiment shard = experiment::shard_in(mutated);
    expect(shard.shard == *part, "two parts of one directory");
    check_shard(shard);
    try {
      const std::string whole = Json{
          {"name", "own"},
          {"results", experiment::results_number},
          {"scenario", own_plan().scenario},
          {"shard", own_shard()}}.dump();
      experiment::shards_in({directory("first", whole), mutated});
    } catch (const base::ScenarioError& error) {
      refusal = error.what();
    }
  }
  take_directory(bytes, own_shard(), false);
  if (!refusal.empty()) throw base::ScenarioError(refusal);
}

}  // namespace simgrad::fuzz
