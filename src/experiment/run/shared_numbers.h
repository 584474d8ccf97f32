/// Numbers that several runs have in common: computed by the longest of them, and kept in the results directory. A run
/// that is longer than all before goes on from the state that the longest of them has left.
///
/// Runs of one training problem on different networks differ in their timing alone, as long as no clock decides about a
/// number (experiment/plan/numbers_key.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan/plan.h"
#include "training/learning/trajectory.h"

namespace simgrad::experiment {

/// The source of a run's numbers.
enum class NumbersFrom {
  itself,      ///< it computes them, and nobody else uses them
  first,       ///< it computes them, and they are kept
  state,       ///< those of its beginning are known; from a state that is kept on it computes them
  known,       ///< they are all known, as far as can be told before
  another_run  ///< they are being computed: it is to wait
};

/// Numbers that nobody else needs now are kept if the run that computes them takes so long, by estimate.
inline constexpr double worth_keeping_s = 0.05;

class SharedNumbers {
 public:
  /// How far a run goes.
  struct Reach {
    std::int64_t steps = 0;  ///< at most
    double loss = 0.0;       ///< the target, before which it does not end earlier; -infinity: none

    /// The later of two ends is the larger one.
    bool operator<(const Reach& other) const {
      return steps < other.steps || (steps == other.steps && loss > other.loss);
    }
  };

  static constexpr const char* state_extension = ".state";
  static constexpr std::string_view heading = "simgrad trajectory 1 ";  ///< a trajectory's file begins so

  struct Options {
    bool reads = true;   ///< whether numbers are taken that an earlier command has left in the directory
    bool states = true;  ///< whether states are kept there that longer runs go on from
  };

  /// out: the results directory.  tell: called for a damaged file.
  SharedNumbers(std::string out, const Options& options, std::function<void(const std::string& text)> tell);

  /// Takes a run that is to be done.
  void expect(const RunPlan& run);
  /// The run is not to be done after all.
  void forget(const RunPlan& run);

  /// The longest of the runs with a key computes its numbers; shorter ones wait for it.
  NumbersFrom source(const RunPlan& run);
  /// The numbers that runs with this one's key have left; those that the run computes go there in its own process.
  training::Trajectory& trajectory(const RunPlan& run);

  void started(const RunPlan& run, NumbersFrom from);
  /// lines: the numbers that the run has computed, as Trajectory::computed.  whole: it did not fail.  effort_s: the
  /// real time that the run takes by estimate; numbers that nobody else needs now are kept if it is long.  Errors:
  /// EnvironmentError if they cannot be written.
  void ended(const RunPlan& run, NumbersFrom from, const std::string& lines, bool whole, double effort_s);
  /// The run lacks a number that this source was to have: it is to be done from another one.
  void lacked(const RunPlan& run, NumbersFrom from);
  /// The run has ended without a result, and is to be done anew.
  void put_back(const RunPlan& run);

  /// The file of the state that a longer run of this key goes on from, and that a run may leave.
  std::string state_file(const RunPlan& run) const { return file(keys_.at(&run)) + state_extension; }
  /// Whether several runs that are to be done have its key.
  bool shared(const RunPlan& run) { return of(run) && of(run)->shared; }
  /// Whether two runs that are to be done have one key.
  bool are_common(const RunPlan& one, const RunPlan& other) const;
  /// Whether numbers of the run's key were taken that an earlier command has left.
  bool from_file(const RunPlan& run) { return of(run) && of(run)->from_file; }
  /// Whether the run is to leave its last state: it goes further than all before, and the directory has room.
  bool leaves_state(const RunPlan& run);

 private:
  struct Common {
    training::Trajectory trajectory;
    std::optional<Reach> done = {};                ///< the furthest of the runs whose numbers these are
    int users = 0;                                 ///< runs that are to be done
    bool shared = false;                           ///< there were several
    bool read = false;                             ///< the file, if there was one
    bool from_file = false;                        ///< and it had numbers
    std::uintmax_t state_bytes = 0;                ///< of the state's file, before its latest run
    std::map<const RunPlan*, Reach> waiting = {};  ///< runs that have not been started
    std::map<const RunPlan*, Reach> computing = {};
  };

  static Reach reach(const RunPlan& run);
  NumbersFrom computed(const Common& common, const RunPlan& run) const;
  Common* of(const RunPlan& run);
  std::string file(const std::string& key) const;
  void read(const std::string& key, Common& common);
  bool lacks(const RunPlan& run, NumbersFrom from) const;
  bool covers(const Common& common, const RunPlan& run) const;

  std::string out_;
  Options options_;
  std::function<void(const std::string& text)> tell_;
  std::map<const RunPlan*, std::string> keys_;
  std::map<const RunPlan*, std::set<NumbersFrom>> lacking_;  ///< sources that did not have all numbers of a run
  std::map<std::string, Common> common_;                     ///< by key
  std::optional<std::uintmax_t> bytes_of_states_;            ///< in the directory, once they have been counted
};

/// Whether a file of trajectories/ is whole by its checksum: a trajectory, or a state. Follows no link.
bool is_whole_trajectory(const std::string& file);

}  // namespace simgrad::experiment
