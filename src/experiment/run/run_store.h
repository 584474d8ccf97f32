/// The records of finished runs in a results directory, by the runs' ids: what a repeated command need not do again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// A run's record as its file has it.
struct RecordedRun {
  std::optional<outputs::Run> run = {};  ///< nothing: there is no file, or it is damaged
  std::string fault = {};                ///< of a damaged file: "is no whole record"
};

/// The name of a run's files, which ends in its id (outputs/files/run_stem.h).
std::string stem_of(const RunPlan& run);
/// The file of a run's record: <out>/runs/<stem>.json.
std::string record_file(const std::string& out, const std::string& stem);
/// Reads a run's record, and checks it against its checksum, its id, and what holds for every run. Changes nothing.
RecordedRun stored_run(const std::string& out, const std::string& stem);

/// The number of records in a results directory that no piece of a plan's work has, without those of baselines.
std::int64_t records_beside(const std::string& out, const Plan& plan);

/// runs/STEM.json is the run's object in results.json, with `checksum` as the last member: the hash of the file's text
/// without this member and without the number of wall_s, so that equal runs have equal files but for wall_s. The file
/// is written under a temporary name and renamed, so that it is whole or not there.
class RunStore {
 public:
  /// out: the results directory.  tell: called for each damaged record.
  RunStore(std::string out, std::function<void(const std::string& text)> tell);

  /// Returns the record of a run, if it is there, sound, and of that run. Another one is renamed to STEM.json.damaged
  /// and told, and a record of a failed run counts as none: its reason may have been the machine.
  std::optional<outputs::Run> take(const RunPlan& plan);
  /// Takes note of a sound record in another directory, as it was read: `put` need not write a run that agrees with it.
  void offer(std::string file, const outputs::Run& run);
  /// Writes the record, unless the file is known to have it: from `take`, or from an earlier `put`. A run that was
  /// taken or offered may differ in its names, its bill and its comparisons with other runs, not in the simulation's
  /// numbers. An offered record gets a second name here, or is copied where there can be none.
  /// Errors: EnvironmentError.
  void put(const outputs::Run& run);

 private:
  /// All of a run that the program computes again from a record: files that agree in it have equal contents.
  struct Frame {
    std::string label;
    nlohmann::ordered_json options, parameters;
    std::optional<double> speedup_throughput, speedup_time_to_target, efficiency, interference;
    outputs::Bill bill;
    double wall_s = 0.0;
    std::vector<std::string> notes;

    explicit Frame(const outputs::Run& run);
    bool operator==(const Frame&) const = default;
  };

  void set_aside(const std::string& stem, const std::string& fault);

  std::string out_;
  std::function<void(const std::string& text)> tell_;
  std::unordered_map<std::string, Frame> known_;                            ///< of the records that are there, by id
  std::unordered_map<std::string, std::pair<std::string, Frame>> offered_;  ///< files and what they have, by id
};

}  // namespace simgrad::experiment
