/// The answer of `simgrad plan`: the winner, what else there is, what the limits cost and what would change the winner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "outputs/statistics.h"
#include "planner/candidate.h"
#include "planner/fleet_check.h"
#include "planner/laboratory.h"
#include "planner/rank.h"
#include "planner/search.h"

namespace simgrad::planner {

/// A candidate as the answer shows it.
struct Choice {
  std::size_t candidate = 0;  ///< in Candidates::all
  Measures mean;              ///< over the seeds
  Rank rank;
  outputs::Interval value;  ///< the objective's, over the seeds; its bounds are NaN with one seed
  std::size_t seeds = 1;
  bool projected = false;  ///< goes on from steps that were simulated
};

/// A rival that is not separated from the winner: at the plan's confidence, or among failures at 95 %.
struct Tie {
  Choice choice;
  outputs::Interval difference;  ///< of the objective, seed by seed, over the winner's; NaN bounds with one seed
  bool among_failures = false;   ///< over the seeds of the fleet's simulations
};

/// The price of a limit: the better winner that there would be without it.
struct LimitPrice {
  Limited::Of of = Limited::Of::deadline;
  double limit = 0.0;
  double is = 0.0;                     ///< the winner's measure
  std::optional<std::size_t> without;  ///< the winner without this limit, if it is another one
  Measures of_without = {}, of_tighter = {};
  int spares_without = 0, spares_tighter = 0;  ///< of [capacity]
  std::optional<std::size_t>
      tighter;  ///< the best of the front that would meet a limit just below the winner's measure
};

/// An assumption whose change makes another candidate the best.
struct Turn {
  std::string assumption;         ///< "bandwidth", "latency", ..
  double still = 1.0;             ///< a factor of the assumption, at which the winner is still the best
  double factor = 1.0;            ///< the next that was tried, at which it is not: it changes between them
  std::string still_value;        ///< what it is at the first, "6Gbps"; empty: it is several numbers
  std::string value;              ///< likewise at the second
  std::size_t then = 0;           ///< the candidate that is best there
  std::vector<std::string> sets;  ///< what --set takes
};

struct Answer {
  std::string name;
  std::string title;
  Candidates candidates;
  std::vector<Choice> known;        ///< to their end, the best first, by the first seed
  std::optional<Choice> winner;     ///< nothing: the time was up before any candidate was known
  std::optional<Choice> runner_up;  ///< of another kind
  std::vector<Tie> ties;
  std::vector<Choice> front;  ///< by time: none is better in time, money and energy at once
  std::vector<LimitPrice> limits;
  std::vector<std::string> tried;  ///< assumptions that were changed
  double tried_factor = 1.0;       ///< up to so many times more, and less
  std::vector<Turn> turns;
  bool decided = false;  ///< the whole space is
  bool front_decided = false;
  bool sensitivity_done = false;
  bool interrupted = false;
  double slack = 0.0;  ///< candidates within this share of the best were compared over seeds
  Tally tally;
  Effort effort;                    ///< of the search, the front and the comparison over seeds
  Effort of_assumptions;            ///< beside it, of the simulations with other assumptions
  std::vector<Standing> standings;  ///< of all candidates, by the first seed
  FleetChecks fleet;                ///< simulations of the closest among failures

  /// Returns the simulation of a candidate with the spares that the answer gives to it, or null.
  const FleetCheck* fleet_check(std::size_t candidate) const;
};

/// The winner in one sentence, and what makes it so in a few more.
std::string sentence(const Answer& answer);
/// All of it for a terminal of so many columns.
std::string answer_text(const Answer& answer, std::size_t width);
/// plan.json.
nlohmann::ordered_json answer_json(const Answer& answer);
/// candidates.csv: a row a candidate, refused ones included.
std::string candidates_csv(const Answer& answer);

}  // namespace simgrad::planner
