/// Means over the seeds of one (grid point, label), each with its 95 % interval: one definition for the table, the
/// summary, the report and `check`.
///
/// A speed-up is the baseline's mean time over the runs' mean time (time per sample, or time to the target), so that it
/// agrees with the mean times beside it. A mean of the seeds' own ratios would not. The interval is by the delta method
/// from the seeds' pairs of times (statistics.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "outputs/results.h"
#include "outputs/statistics.h"

namespace simgrad::outputs {

/// The runs of one (grid point, label), one per seed.
using Group = std::vector<const Run*>;
/// A number of one run; nothing if the run lacks it.
using RunNumber = std::optional<double> (*)(const Run& run);

/// Returns the samples that the run's final state has seen.
double samples_seen(const record::Record& record);
/// Returns the simulated seconds per sample that the final state has seen.
std::optional<double> s_per_sample(const Run& run);

/// Returns the mean over the runs that have the number, finite; NaN if none has.
Interval mean_of_seeds(const Group& runs, RunNumber number);
/// Returns samples per second: one over the mean time per sample.
Interval samples_per_s(const Group& runs);
/// Returns the speed-up over the runs that were compared with a baseline. NaN if none was, or if the baseline takes so
/// little time (under a millionth of the runs') that a speed-up over it means nothing.
Interval speedup_throughput(const Group& runs);
Interval speedup_to_target(const Group& runs);
/// Returns speedup_throughput over the number of workers.
Interval efficiency(const Group& runs);
/// Returns whether the runs' baseline takes so little time that there are no speed-ups.
bool has_idle_baseline(const Group& runs);

/// Returns the mean of a field of runs.csv: for speed-ups and the efficiency as above. Nothing for other fields.
std::optional<Interval> mean_of_ratio(const Group& runs, std::string_view field);

}  // namespace simgrad::outputs
