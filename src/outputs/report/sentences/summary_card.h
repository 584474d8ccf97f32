/// The answer at the top: which strategy wins by time, by cost, by energy, and what binds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/sentences/winners.h"

namespace simgrad::outputs::report {

class Writer;

/// What keeps a case from being faster still, and why it is ahead.
struct Bottleneck {
  std::string name;
  std::string text;  ///< "computing takes 75 % of the time.  It is ahead of ..."
};

struct SummaryCard {
  std::string headline;
  std::vector<Winner> winners;           ///< of those that are priced
  std::optional<Bottleneck> bottleneck;  ///< of the winner by time
  std::vector<std::string> notes;        ///< what is missing, failed or diverged
};

/// The times compared are those to the target, where a case reached it with every seed; else throughput decides.
SummaryCard summary_card(const Results& results, const ReportModel& model);

void write(Writer& writer, const SummaryCard& card);

}  // namespace simgrad::outputs::report
