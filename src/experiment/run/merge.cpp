#include "experiment/run/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/text.h"
#include "experiment/run/children.h"
#include "experiment/run/counterfactuals.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/left_files.h"
#include "experiment/run/recordings.h"
#include "experiment/run/shard_records.h"
#include "experiment/run/shared_numbers.h"
#include "experiment/saved/model_file.h"
#include "outputs/files/temporary_file.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;

/// The options of the command that selected the runs: "--set a=1", "--seeds 1..5"; not quoted.
std::vector<std::string> options_of(const Selection& selection) {
  std::vector<std::string> options;
  for (const std::string& each : selection.sets) options.push_back("--set " + each);
  for (const std::string& each : selection.grids) options.push_back("--grid " + each);
  if (!selection.seeds.empty()) options.push_back("--seeds " + selection.seeds);
  for (const std::string& each : selection.strategies) options.push_back("--strategy " + each);
  if (!selection.baselines) options.emplace_back("--no-baseline");
  if (selection.all_ranks) options.emplace_back("--all-ranks");
  if (!selection.timelines.empty()) options.push_back("--timelines " + selection.timelines);
  return options;
}

/// The options that the first shard's command has and the other one's does not.
std::string options_alone(const ShardOfExperiment& first, const ShardOfExperiment& other) {
  const std::vector<std::string> others = options_of(other.origin.selection);
  std::vector<std::string> alone = options_of(first.origin.selection);
  std::erase_if(alone, [&](const std::string& option) { return std::ranges::find(others, option) != others.end(); });
  return base::joined(alone);
}

/// "the command had --set a=1 in DIR and --set a=2 in DIR"; empty if the options are equal.
std::string different_options(const ShardOfExperiment& first, const ShardOfExperiment& other) {
  if (options_of(first.origin.selection) == options_of(other.origin.selection)) return {};
  const std::string in_first = options_alone(first, other), in_other = options_alone(other, first);
  if (in_first.empty() && in_other.empty())
    return fmt::format("the command had {} in {}, and these options in another order or number in {}",
                       base::joined(options_of(first.origin.selection)), first.out, other.out);
  if (in_other.empty()) return fmt::format("the command had {} in {}, and not in {}", in_first, first.out, other.out);
  if (in_first.empty()) return fmt::format("the command had {} in {}, and not in {}", in_other, other.out, first.out);
  return fmt::format("the command had {} in {}, and {} in {}", in_first, first.out, in_other, other.out);
}

/// The fault of a shard that does not belong to the first one; empty if it does.
std::string stranger(const ShardOfExperiment& first, const ShardOfExperiment& other) {
  if (first.shard.count != other.shard.count)
    return fmt::format("{} is shard {} and {} is shard {}: the numbers of shards differ", first.out, text(first.shard),
                       other.out, text(other.shard));
  std::string different = different_options(first, other);
  for (const char* member : {"scenario", "made_by"})
    if (different.empty())
      different = differences(leaves_of(first.experiment.at(member)), leaves_of(other.experiment.at(member)),
                              "in " + first.out, "in " + other.out);
  if (different.empty() && first.plan != other.plan)
    different = fmt::format("the contents of the data or platform files differ in {} and {}", first.out, other.out);
  return different.empty() ? "" : fmt::format("{}: is a shard of another experiment: {}", other.out, different);
}

/// The file's name with a directory before it, if there is one.
std::string within(const std::string& directory, const std::string& file) {
  return (fs::path(directory) / file).lexically_normal().string();
}

/// The scenario as it is found from here.
std::string scenario_of(const ShardOfExperiment& shard) {
  const std::string& file = shard.origin.file;
  std::error_code unknown;
  if (fs::exists(file, unknown)) return file;
  std::string there = within(shard.directory, file);
  if (fs::exists(there, unknown)) return there;
  throw base::EnvironmentError(fmt::format(
      "{}: cannot be opened, neither here nor in {}; merge plans the runs again, so call it in the directory "
      "in which the shards were run",
      file, shard.directory));
}

void bring_timelines(const ShardRecords& records, const std::string& out, bool again) {
  for (const auto& [stem, shard] : records.timelines)
    if (again || !outputs::has_timeline(out, stem))
      outputs::link_or_copy(outputs::timeline_file(shard, stem), outputs::timeline_file(out, stem));
}

void bring_models(const ShardRecords& records, const std::string& out, bool again) {
  if (!records.models.empty()) base::make_own_folder(fs::path(out) / "models");
  for (const auto& [stem, shard] : records.models)
    if (again || !has_model(out, stem)) outputs::link_or_copy(model_file(shard, stem), model_file(out, stem));
}

/// Whether a name is that of a trajectory or a state.
bool is_trajectory_name(const fs::path& name) {
  return is_hash_name(name.stem().string()) &&
         (name.extension().empty() || name.extension() == SharedNumbers::state_extension);
}

/// Brings the numbers that runs share, of files that are whole. Of several with the same key the largest one has the
/// most steps.
void bring_trajectories(const std::vector<ShardOfExperiment>& shards, const std::string& out) {
  const fs::path folder = fs::path(out) / "trajectories";
  std::error_code unknown;
  for (const ShardOfExperiment& shard : shards)
    for (fs::directory_iterator at(fs::path(shard.out) / "trajectories", unknown), end; !unknown && at != end;
         at.increment(unknown)) {
      const fs::path from = at->path(), to = folder / from.filename();
      std::error_code none;
      if (!is_trajectory_name(from.filename())) continue;
      if (is_whole_trajectory(to.string()) && fs::file_size(to, none) >= fs::file_size(from, none)) continue;
      if (!is_whole_trajectory(from.string())) continue;
      base::make_own_folder(folder);
      outputs::link_or_copy(from.string(), to.string());
    }
}

/// Writes the record of every run and baseline, as the runs would have left them in one directory.
void write_records(const Plan& plan, const FinishedRuns& finished, const std::vector<outputs::Run>& beside_runs,
                   RunStore& store) {
  for (const outputs::Run& run : beside_runs) store.put(run);
  for (const RunPlan& run : plan.runs) store.put(finished.run(run));
}

/// The directories, with the shards in them in place of those that are no shard's but have some, as `run --shard --out`
/// leaves it.
std::vector<std::string> directories_of_shards(const std::vector<std::string>& directories) {
  std::vector<std::string> all;
  for (const std::string& directory : directories) {
    std::vector<std::string> inside;
    std::error_code unknown;
    if (!shard_at(directory))
      for (const auto& entry : std::filesystem::directory_iterator(directory, unknown))
        if (is_shard_directory(entry.path().string())) inside.push_back(entry.path().string());
    std::ranges::sort(inside);
    if (inside.empty()) inside.push_back(directory);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

}  // namespace

std::vector<ShardOfExperiment> shards_in(const std::vector<std::string>& directories) {
  std::vector<ShardOfExperiment> shards;
  std::vector<std::string> faults;
  for (const std::string& directory : directories_of_shards(directories)) try {
      ShardOfExperiment shard = shard_in(directory);
      if (const std::string fault = shards.empty() ? "" : stranger(shards.front(), shard); !fault.empty())
        faults.push_back(fault);
      else
        shards.push_back(std::move(shard));
    } catch (const base::ScenarioError& fault) {
      faults.emplace_back(fault.what());
    }
  if (!faults.empty()) throw base::ScenarioError(faults);
  return shards;
}

Plan plan_again(const std::vector<ShardOfExperiment>& shards) {
  const ShardOfExperiment& shard = shards.front();
  const std::string file = scenario_of(shard);
  Plan plan = make_plan(file, shard.origin.selection);
  if (fingerprint(plan) == shard.plan) return plan;
  const std::string different = differences(leaves_of(shard.experiment.at("scenario")), leaves_of(plan.scenario),
                                            "in " + shard.out, "in " + file);
  throw base::ScenarioError(
      fmt::format("{}: plans other runs than the shards have: {}; expected the scenario and its files as they were",
                  file, different.empty() ? "a file that it names, or this release, has changed since" : different));
}

outputs::Results merge(const Plan& plan, const std::vector<ShardOfExperiment>& shards, const MergeOptions& options,
                       std::unique_ptr<const ResultsDirectory>& directory) {
  watch_for_interrupts();
  RunStore store(options.out, options.tell);
  ShardRecords records = records_of(plan, shards, store);
  FinishedRuns finished(plan);
  std::vector<outputs::Run> beside_runs;
  for (auto& [piece, run] : records.runs) {
    if (!records.in_table.contains(piece)) beside_runs.push_back(run);
    finished.add(piece->work, std::move(run));
  }
  directory = std::make_unique<const ResultsDirectory>(options.out, plan, nlohmann::ordered_json(), options.again,
                                                       options.tell);
  if (interrupted()) {
    outputs::Results none;
    none.complete = false;
    return none;
  }
  prepare(options.out, {});
  bring_timelines(records, options.out, options.again);
  bring_models(records, options.out, options.again);
  bring_trajectories(shards, options.out);
  write_records(plan, finished, beside_runs, store);
  outputs::Results results = results_of(plan, finished);
  DataCache data_cache;
  if (options.counterfactuals) {
    TrialStore trials(options.out, !options.again);
    results.counterfactuals =
        counterfactuals(plan, results, trials, data_cache, options.jobs, options.threads, options.tell);
    trials.write();
  }
  outputs::write_all(results, options.out);
  return results;
}

}  // namespace simgrad::experiment
