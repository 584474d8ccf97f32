#include "experiment/run/shard_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "base/errors.h"
#include "base/text.h"
#include "experiment/run/finished_runs.h"
#include "experiment/saved/model_file.h"
#include "outputs/run_text.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t lines_most = 10;

/// The directories that have a record, by its name without the ending.
std::unordered_map<std::string, std::vector<std::string>> directories_by_stem(
    const std::vector<ShardOfExperiment>& shards) {
  std::unordered_map<std::string, std::vector<std::string>> directories;
  for (const ShardOfExperiment& shard : shards) {
    std::error_code unknown;
    for (fs::directory_iterator at(shard.out + "/runs", unknown), end; !unknown && at != end; at.increment(unknown))
      if (at->path().extension() == ".json") directories[at->path().stem().string()].push_back(shard.out);
  }
  return directories;
}

bool is_failed(const outputs::Run& run) { return run.record.status == record::Status::failed; }

/// The simulation's part of a record: without real time, and without notes that depend on other runs.
std::string simulated_part(const RunPlan& plan, const outputs::Run& run) {
  outputs::Run bare = described(plan);
  bare.record = run.record;
  bare.record.notes.clear();
  for (auto& evaluation : bare.record.curve) evaluation.energy_j.reset();
  return outputs::text_of(bare);
}

/// "simgrad run S.toml --shard 3/8 --out DIR", of the shard with this number.
std::string command_of_shard(const Plan& plan, const ShardOfExperiment& any, int index) {
  const Shard shard{.index = index, .count = any.shard.count};
  std::string out = fs::path(any.out).lexically_normal().parent_path().string();
  if (fs::path(any.out).filename().empty()) out = fs::path(out).parent_path().string();
  return fmt::format("{} --shard {} --out {}", plan.command, text(shard), base::shell_word(out.empty() ? "." : out));
}

class Gathering {
 public:
  Gathering(const Plan& plan, const std::vector<ShardOfExperiment>& shards, RunStore& store)
      : plan_(plan), shards_(shards), store_(store), directories_(directories_by_stem(shards)) {
    for (const RunPlan& run : plan.runs) runs_[run.work].push_back(&run);
  }

  ShardRecords gathered() {
    const std::vector<const RunPlan*> pieces = pieces_of_work(plan_);
    ShardRecords records;
    for (const RunPlan* piece : pieces) {
      const std::vector<const RunPlan*>& runs = runs_[piece->work];
      if (std::ranges::find(runs, piece) != runs.end()) records.in_table.insert(piece);
      std::optional<outputs::Run> run = sound(*piece);
      if (!run || !add_files(runs, *run, records)) {
        missing_.insert(piece);
        continue;
      }
      outputs::Run bare = described(*piece);
      bare.record = std::move(run->record);
      bare.wall_s = run->wall_s;
      records.runs.emplace_back(piece, std::move(bare));
    }
    name_missing(pieces);
    if (!faults_.empty()) throw base::ScenarioError(faults_);
    return records;
  }

 private:
  /// The record of a piece of work. Of several one that has not failed.
  std::optional<outputs::Run> sound(const RunPlan& piece) {
    std::optional<outputs::Run> found;
    std::string place;
    const std::string stem = stem_of(piece);
    for (const std::string& directory : directories_[stem]) {
      RecordedRun stored = stored_run(directory, stem);
      if (!stored.fault.empty()) damaged_.push_back(fmt::format("{} {}", record_file(directory, stem), stored.fault));
      if (!stored.run) continue;
      if (found && !is_failed(*found) && !is_failed(*stored.run) &&
          simulated_part(piece, *found) != simulated_part(piece, *stored.run))
        faults_.push_back(fmt::format("{}: differs from {}; expected equal records of one run",
                                      record_file(directory, stem), record_file(place, stem)));
      if (found && (!is_failed(*found) || is_failed(*stored.run))) continue;
      found = std::move(stored.run);
      place = directory;
    }
    if (found) store_.offer(record_file(place, stem), *found);
    return found;
  }

  /// Returns false if a timeline or a model that is kept is missing or damaged. A run that failed need not have one.
  bool add_files(const std::vector<const RunPlan*>& runs, const outputs::Run& record, ShardRecords& records) {
    const auto add = [&](const RunPlan& run, auto has, auto file_of, auto& files) {
      const std::string stem = stem_of(run);
      const std::vector<std::string>& places = directories_[stem];
      const auto place = std::ranges::find_if(places, [&](const std::string& out) { return has(out, stem); });
      if (place == places.end()) {
        if (is_failed(record)) return true;
        std::error_code unknown;
        for (const std::string& out : places)
          if (const std::string file = file_of(out, stem); std::filesystem::exists(file, unknown))
            damaged_.push_back(fmt::format("{} is damaged", file));
        return false;
      }
      files.emplace_back(stem, *place);
      return true;
    };
    return std::ranges::all_of(runs, [&](const RunPlan* run) {
      return (!run->keeps_timeline || add(*run, outputs::has_timeline, outputs::timeline_file, records.timelines)) &&
             (!run->settings->save_model || add(*run, has_model, model_file, records.models));
    });
  }

  void add_lines(const std::vector<std::string>& lines, const std::string& kind) {
    const std::size_t shown = std::min(lines.size(), lines_most);
    faults_.insert(faults_.end(), lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < lines.size()) faults_.push_back(fmt::format("... and {} more {}", lines.size() - shown, kind));
  }

  void name_missing(const std::vector<const RunPlan*>& pieces) {
    add_lines(damaged_, "damaged files");
    if (missing_.empty()) return;
    const ShardOfExperiment& first = shards_.front();
    const auto parts = dealt(pieces, first.shard.count);
    std::vector<std::string> lines;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto absent = std::ranges::count_if(parts[k], [&](const RunPlan* run) { return missing_.contains(run); });
      if (absent == 0) continue;
      const Shard shard{.index = static_cast<int>(k) + 1, .count = first.shard.count};
      lines.push_back(fmt::format("shard {}: {} of {} runs {} missing: {}", text(shard), absent, parts[k].size(),
                                  absent == 1 ? "is" : "are", command_of_shard(plan_, first, shard.index)));
    }
    add_lines(lines, "shards with missing runs");
  }

  const Plan& plan_;
  const std::vector<ShardOfExperiment>& shards_;
  RunStore& store_;
  std::unordered_map<std::string, std::vector<std::string>> directories_;  ///< of shards that have a record, by stem
  std::unordered_map<std::string, std::vector<const RunPlan*>> runs_;      ///< by work: the plan's
  std::set<const RunPlan*> missing_;
  std::vector<std::string> damaged_, faults_;
};

}  // namespace

ShardRecords records_of(const Plan& plan, const std::vector<ShardOfExperiment>& shards, RunStore& store) {
  return Gathering(plan, shards, store).gathered();
}

}  // namespace simgrad::experiment
