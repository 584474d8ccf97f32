/// The numbers of a run that answers requests, out of each request's times.
#pragma once

#include <optional>
#include <vector>

#include "record/record.h"
#include "serving/options.h"

namespace simgrad::serving {

/// Mean and quantiles. A quantile q of n numbers in ascending order lies q (n - 1) numbers behind the first one,
/// between two of them in proportion. All null without numbers. Source: R. J. Hyndman, Y. Fan, Sample Quantiles in
/// Statistical Packages, 1996, definition 7.
record::Spread spread_of(std::vector<double> numbers);

/// Sets the numbers that follow from record.requests: durations, rates, the share within the limits.
/// tokens: of answers, chosen after the warm-up.  end_s: of the run.
void summarise(record::Record& record, const Options& options, double tokens, double end_s);

}  // namespace simgrad::serving
