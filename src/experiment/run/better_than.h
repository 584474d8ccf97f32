/// The test of `better_than`: are the runs of one strategy better than those of another, beyond chance?
///
/// Strategies of one seed see the same data, batches and initial values, so they are compared seed by seed. They are
/// better if the mean of the paired differences is above 0 at the confidence asked for, one-sided, by Student's t.
/// Where a run of a pair has no number, because it missed the target or diverged, there is no difference, and the pairs
/// won are counted (sign test): a run that has the number is better than one that lacks it, and a pair that lacks both
/// counts for neither.
#pragma once

#include <string>

#include "experiment/plan/expectations.h"
#include "experiment/run/metric_of_runs.h"

namespace simgrad::experiment {

struct BetterThan {
  bool holds = false;
  std::string text;  ///< "found 4.75, tree 6.75: better by 2 in the mean over 5 seeds, by at least 1.6 at 95 %"
};
/// Fewer than two seeds in common prove nothing: then it does not hold, and the text asks for seeds.
/// expectation: with `better_than` and a metric that has a direction.  others: of one label.
BetterThan better_than(const Expectation& expectation, const Runs& seeds, const Runs& others);

}  // namespace simgrad::experiment
