/// The numbers of a run that answers requests, out of each request's times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/record.h"
#include "serving/options.h"

namespace simgrad::serving {

/// Mean and quantiles. A quantile q of n numbers in ascending order lies q (n - 1) numbers behind the first one,
/// between two of them in proportion. All null without numbers. Source: R. J. Hyndman, Y. Fan, Sample Quantiles in
/// Statistical Packages, 1996, definition 7.
record::Spread spread_of(std::vector<double> numbers);

/// Tokens of answers by the time at which they are chosen.
struct TokensChosen {
  std::int64_t in_window = 0;      ///< between the warm-up and the last arrival
  std::int64_t after_warm_up = 0;  ///< up to the end of the run
};

/// Sets the numbers that follow from record.requests, which are in the order of arrival: durations, rates, the share
/// within the limits. Rates are those between the warm-up and the last arrival: after it the replicas run empty. Where
/// no answer is complete by then, they are those between the warm-up and end_s, the end of the run.
void summarise(record::Record& record, const Options& options, const TokensChosen& tokens, double end_s);

}  // namespace simgrad::serving
