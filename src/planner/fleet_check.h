/// Trainings among failures by the fleet's simulation, whose mean time counts in place of the closed form's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "outputs/statistics.h"
#include "planner/among_failures.h"
#include "planner/candidate.h"
#include "planner/laboratory.h"
#include "planner/search.h"

namespace simgrad::planner {

struct FleetCheck {
  outputs::Interval time_s;          ///< over the seeds, at 95 %
  std::vector<double> times_s = {};  ///< seed by seed
  int seeds() const { return static_cast<int>(times_s.size()); }
};

/// The mean of another's value less this one's, seed by seed, at 95 %. Both have the same seeds and values in
/// proportion to their times, as money and energy among failures are.  value, other_value: at the mean times.
outputs::Interval difference_over_seeds(const FleetCheck& check, double value, const FleetCheck& other,
                                        double other_value);

/// Simulates the training and its servers alone, by capacity::simulate: 100 seeds, or fewer once the interval is
/// narrow. Nothing if nothing fails, if servers fail too often to be simulated, if a seed takes a hundred times as long
/// as expected, or once `goes_on` says no.
std::optional<FleetCheck> simulated_by_fleet(const Reliability& reliability, const Interrupted& course,
                                             const std::function<bool()>& goes_on);

/// By a candidate and its spares. Nothing: it cannot be simulated.
using FleetChecks = std::map<std::pair<std::size_t, int>, std::optional<FleetCheck>>;

/// Simulates the winner among its failures, and the candidates and numbers of spares that are within 5 % of it: six at
/// most, those that are simulated already among them. Their means count from then on, so that all of them are compared
/// by one measure. Returns whether any is simulated by that.
bool check_closest(const std::vector<Candidate>& candidates, const Search& search, Laboratory& laboratory,
                   std::size_t winner, FleetChecks& checks);

}  // namespace simgrad::planner
