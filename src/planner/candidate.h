/// The ways to train among which `simgrad plan` chooses: each strategy at each point of the search space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/plan/search_space.h"
#include "record/record.h"

namespace simgrad::planner {

/// One way to train.
struct Candidate {
  std::size_t index = 0;        ///< among all, refused ones included
  scenario::Document document;  ///< of its point
  std::shared_ptr<const experiment::Settings> settings;
  std::size_t strategy = 0;  ///< in the settings
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  experiment::RunPlan run;                  ///< under the scenario's seed, as `simgrad run` would do it
  std::string numbers_key = {};             ///< candidates with equal ones see the same losses; empty: nobody else's
  std::vector<record::HostUse> hosts = {};  ///< that it rents; empty on a platform's file
  std::int64_t batch = 1;                   ///< samples of a step
  double samples = 0.0;                     ///< to train on; 0: as many as the target loss takes
  double tokens_a_sample = 0.0;             ///< 0: samples are no text
  bool undisturbed = false;  ///< its runs leave out failures and checkpoints, which reliability.h takes in
};

/// A point and strategy that cannot be run.
struct Refused {
  std::size_t index = 0;
  std::string strategy;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  std::string reason;   ///< equal for all that are refused for one cause
  std::string fault;    ///< the text, with this one's numbers
  double excess = 0.0;  ///< by how much it misses: 0.25 needs a quarter more than there is; 0: not a matter of size
  /// The settings that were read of a candidate that does not fit into memory, and the strategy in them; else null.
  std::shared_ptr<const experiment::Settings> settings = {};
  std::size_t of_settings = 0;
  /// Changes that make it fit, the smallest first, each with the memory that it then needs. Only the nearest candidates
  /// have them.
  std::vector<std::string> fits_with = {};
  bool unnamed = false;  ///< the strategy has only a number, for it could not be read
};

struct Candidates {
  std::vector<Candidate> all;
  std::vector<Refused> refused;
  std::size_t unread = 0;  ///< for which there was no time

  std::size_t size() const { return all.size() + refused.size() + unread; }
};

/// Reads each strategy of each point, and refuses those that the scenario's checks or the limits of [plan] on memory
/// and hosts do not allow.  strategies: labels, else kinds; empty: all. Errors: ScenarioError if nothing says how long
/// to train, if the objective or a limit needs prices that no host has, for a strategy that the scenario does not have,
/// and, with the reasons, if all are refused.
/// goes_on: asked before a strategy is read a second time, by itself; if not, those of points with faults are unread.
/// most_bytes: data files that are larger are not read, and the rows of their points are not checked.
Candidates candidates_of(const experiment::SearchSpace& space, const std::vector<std::string>& strategies,
                         const std::function<bool()>& goes_on = {},
                         std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

/// "allreduce, cluster.workers = 8, training.learning_rate = 0.1".
std::string name_of(const Candidate& candidate);
std::string name_of(const std::string& strategy, const nlohmann::ordered_json& parameters);
std::string name_of(const Refused& refused);  ///< in the language of the process

}  // namespace simgrad::planner
