/// The memory chart: bytes of each rank at its peak by part, and the memory of its device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"
#include "record/memory.h"

namespace simgrad::outputs::report {

/// Ranks of a case that hold the same at their peaks, as means over the seeds.
struct AlikeRanks {
  std::string name;  ///< "ranks 0 to 7"
  record::MemoryParts bytes;
  std::optional<double> limit_bytes;  ///< of their devices
};

struct MemoryRow {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::vector<AlikeRanks> ranks;  ///< the largest peak first; if there are too many, the first ones
};

inline constexpr std::size_t most_alike_ranks_in_all = 2000;

struct Memory : Chart {
  std::vector<record::MemoryPart> parts;  ///< those that occur
  std::vector<MemoryRow> rows;
};

/// Returns nothing if no run has the memory of its ranks.
std::optional<Memory> memory(const ReportModel& model);

void write(Writer& writer, const Memory& memory);

}  // namespace simgrad::outputs::report
