/// Staleness: the age of gradients when they are applied, in updates.
#pragma once

#include <optional>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

struct StalenessRow {
  const Case* one = nullptr;
  std::vector<std::int64_t> values;  ///< in updates, ascending; if there are too many, the lower ends of intervals
  std::vector<std::int64_t> counts;  ///< gradients, all seeds together
};

inline constexpr std::size_t most_bars_a_row = 200;

struct Staleness : Chart {
  std::vector<StalenessRow> rows;
};

/// Returns nothing if no run has counted staleness.
std::optional<Staleness> staleness(const ReportModel& model);

void write(Writer& writer, const Staleness& staleness);

}  // namespace simgrad::outputs::report
