#include "experiment/run/origin.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "base/hash.h"
#include "base/version.h"
#include "experiment/plan/identity.h"
#include "experiment/run/results_directory.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;
using OriginJson = nlohmann::ordered_json;

/// The current directory as it is found from a shard's, so that both can be moved together.
std::string directory_from(const std::string& out) {
  std::error_code unknown;
  const fs::path relative = fs::relative(fs::current_path(unknown), fs::absolute(out, unknown), unknown);
  return relative.empty() ? fs::current_path(unknown).string() : relative.string();
}

/// The selection by the names of the options.
OriginJson selection_json(const Selection& selection) {
  return {{"set", selection.sets},
          {"grid", selection.grids},
          {"seeds", selection.seeds},
          {"strategy", selection.strategies},
          {"baselines", selection.baselines},
          {"all_ranks", selection.all_ranks},
          {"timelines", selection.timelines}};
}

ShardOfExperiment read_shard(const std::string& out, const OriginJson& json) {
  const OriginJson& member = json.at("shard");
  const OriginJson& selection = member.at("selection");
  ShardOfExperiment shard;
  shard.out = out;
  shard.shard = parse_shard(member.at("part").get<std::string>(), out + ": the shard");
  shard.origin.file = member.at("file");
  // In a command it would be an option.
  if (shard.origin.file.starts_with("-"))
    throw base::ScenarioError(fmt::format("{}: its experiment.json names the scenario {}, expected the name of a file",
                                          out, shard.origin.file));
  shard.origin.selection = {.sets = selection.at("set"),
                            .grids = selection.at("grid"),
                            .seeds = selection.at("seeds"),
                            .strategies = selection.at("strategy"),
                            .baselines = selection.at("baselines"),
                            .all_ranks = selection.at("all_ranks"),
                            .timelines = selection.at("timelines")};
  const fs::path directory = member.at("directory").get<std::string>();
  shard.directory = (directory.is_absolute() ? directory : fs::path(out) / directory).lexically_normal().string();
  shard.plan = member.at("plan");
  shard.experiment = {{"made_by",
                       {{"the version of simgrad", member.at("version")},
                        {"results_number", json.at("results")},
                        {"the scenario's name", json.at("name")}}},
                      {"scenario", json.at("scenario")}};
  return shard;
}

}  // namespace

std::string fingerprint(const Plan& plan) {
  std::string all;
  for (const auto* runs : {&plan.runs, &plan.alone, &plan.baselines})
    for (const RunPlan& run : *runs) all += fmt::format("{}/{} ", run.id, run.work);
  return base::hash(all);
}

OriginJson as_json(const Origin& origin, const Shard& shard, const Plan& plan, const std::string& out) {
  return {{"part", text(shard)},
          {"version", version},
          {"file", origin.file},
          {"directory", directory_from(out)},
          {"selection", selection_json(origin.selection)},
          {"plan", fingerprint(plan)}};
}

ShardOfExperiment shard_in(const std::string& out) {
  const auto refuse = [&](const std::string& found) {
    throw base::ScenarioError(
        fmt::format("{}: {}, expected the directory of a shard, which `simgrad run --shard i/n` writes", out, found));
  };
  std::error_code unknown;
  if (!fs::is_directory(out, unknown)) refuse("found no directory");
  OriginJson json;
  try {
    json = experiment_in(out);
  } catch (const base::EnvironmentError& fault) {
    refuse(fault.what());
  }
  if (json.is_null()) refuse("found no experiment.json");
  if (!json.is_object() || !json.contains("shard")) refuse("found the results of a whole experiment");
  try {
    return read_shard(out, json);
  } catch (const nlohmann::json::exception&) {
    refuse("found an experiment.json without the members of a shard's");
  }
  return {};
}

std::optional<Shard> shard_at(const std::string& out) {
  std::error_code unknown;
  if (!fs::is_regular_file(fs::path(out) / "experiment.json", unknown)) return {};
  try {
    return shard_in(out).shard;
  } catch (const base::ScenarioError&) {
    return {};
  }
}

}  // namespace simgrad::experiment
