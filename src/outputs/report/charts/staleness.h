/// How old gradients are when they are applied.
#pragma once

#include <optional>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

struct StalenessRow {
  const Case* one = nullptr;
  std::vector<std::int64_t> values;  ///< in updates, ascending; where there are too many, the lower end of a stretch
  std::vector<std::int64_t> counts;  ///< gradients, of all seeds together
};

inline constexpr std::size_t most_bars_a_row = 200;

struct Staleness : Chart {
  std::vector<StalenessRow> rows;
};

/// Nothing where no run has counted them.
std::optional<Staleness> staleness(const ReportModel& model);

void write(Writer& writer, const Staleness& staleness);

}  // namespace simgrad::outputs::report
