/// Knows of each candidate under one seed what bounds and the simulations so far say, and the simulation that would say
/// more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "planner/among_failures.h"
#include "planner/candidate.h"
#include "planner/laboratory.h"
#include "planner/rank.h"

namespace simgrad::planner {

struct Standing {
  /// How far the candidate is known.
  enum class Known {
    bounded,  ///< by formulas alone
    begun,    ///< its time of a step, or the beginning of its training
    whole     ///< its end is simulated, or follows from steps that repeat
  };
  Known known = Known::bounded;
  Measures least = {};                           ///< less is not possible, or would be a surprise
  Measures expected = {};                        ///< as far as it is begun; exact if it is whole
  bool by_curve = false;                         ///< `least` is judged from the beginning of a learning curve
  bool projected = false;                        ///< `expected` goes on from steps that were simulated
  double samples = 0.0;                          ///< to the goal, likewise
  std::optional<Interrupted> interrupted = {};   ///< among failures and checkpoints that the closed form takes in
  std::vector<WithFailures> by_spares = {};      ///< likewise with each number of spares
  bool unseen = false;                           ///< there was no time for bounds
  std::string lost = {};                         ///< the reason why it does not come to the goal, or empty
  std::optional<experiment::RunPlan> next = {};  ///< nothing: no simulation tells more
};

/// Changes of a candidate's scenario, as --set takes them.
using Changes = std::function<std::vector<std::string>(const Candidate& candidate)>;

class Judge {
 public:
  /// whole: simulates each candidate to its end at once, without shorter trials.  changes: of all simulations but those
  /// of numbers that do not depend on the cluster; may be empty.  The others outlive this object.
  Judge(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::uint64_t seed, bool whole = false,
        Changes changes = {});

  Standing standing(const Candidate& candidate);

  /// Samples of the first trial of a candidate's times, and of its training.
  static double first_timing(const Candidate& candidate);
  static double first_learning(const Candidate& candidate);

 private:
  enum class Trial { timing, checkpointed, glimpse, learning };
  /// The outcome of a trial; if it is not known, the trial becomes the next one.
  const Outcome* outcome(const Candidate& candidate, Trial trial, double samples, Standing& standing);
  const std::optional<experiment::RunPlan>& planned(const Candidate& candidate, Trial trial, double samples);

  Standing of_amount(const Candidate& candidate);
  /// Puts failures and checkpoints into the standing of a candidate that is timed without them; if a checkpoint's time
  /// is not known, a trial of it is the next one.
  void interrupt(const Candidate& candidate, const Reliability& reliability, Standing& standing);
  std::optional<capacity::CheckpointTimes> checkpoint_of(const Candidate& candidate, const Reliability& reliability,
                                                         Standing& standing);
  /// Nothing where runs take failures in themselves, or where there are none.
  const std::optional<Reliability>& reliability(const Candidate& candidate);
  Standing of_shared_numbers(const Candidate& candidate);
  Standing of_own_numbers(const Candidate& candidate);
  /// The longest outcome of the candidate's training so far; `next` has the one after it.
  const Outcome* training(const Candidate& candidate, Standing& standing);

  const std::vector<Candidate>& candidates_;
  Laboratory& laboratory_;
  std::uint64_t seed_;
  bool whole_;
  Changes changes_;
  std::map<std::string, std::size_t> first_of_key_;  ///< the candidate that computes the numbers of a key
  std::map<std::tuple<std::size_t, Trial, double>, std::optional<experiment::RunPlan>> plans_;
  std::map<std::size_t, std::optional<Reliability>> reliabilities_;
};

}  // namespace simgrad::planner
