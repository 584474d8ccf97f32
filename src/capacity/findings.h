/// The answers of a study in numbers and in a sentence each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/study.h"

namespace simgrad::capacity {

/// Useful time over all time of servers, of all seeds together, with its 95 % interval over the seeds; that is NaN for
/// one seed.
struct Goodput {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// One number of spares, over all seeds.
struct SparesSummary {
  int spares = 0;
  HostTime host_time = {};  ///< the sum over the seeds
  Goodput goodput = {};
  std::optional<double> usd_per_useful_host_h = {};
  double wait_mean_s = 0.0;  ///< of all jobs that have come; NaN without any
  double wait_median_s = 0.0;
  double wait_p90_s = 0.0;
  std::int64_t jobs = 0;  ///< that have come
  std::int64_t ended = 0;
};

std::vector<SparesSummary> summaries(const Study& study);

/// One rule of checkpoints, over all seeds.  Times: virtual seconds.
struct RuleSummary {
  int spares = 0;
  std::string rule;
  double interval_s = 0.0;
  HostTime host_time;
  Goodput goodput = {};
  std::size_t finished = 0;
  double median_s = 0.0;  ///< a seed that has not finished counts with the limit
  double p90_s = 0.0;
  double mean_s = 0.0;
  double failures = 0.0;  ///< of servers of the training, mean
};

std::vector<RuleSummary> rule_summaries(const Study& study);

/// The number of spares with the cheapest useful server-hour, or without prices with the largest goodput, against the
/// fewest spares of the list: whether they pay, or the seeds do not tell. Empty without a fleet, or for one number of
/// spares.
std::string spares_sentence(const Study& study);
/// The sentence on spares for the long training under Daly's rule.
std::string training_spares_sentence(const Study& study);

/// The time under Daly's rule against the fixed interval, seed by seed, with the most spares. Empty without a long
/// training.
std::string rule_sentence(const Study& study);

}  // namespace simgrad::capacity
