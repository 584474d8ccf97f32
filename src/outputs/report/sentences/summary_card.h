/// The summary at the top of the report: the winners by time, by cost and by energy, and the bottleneck of the fastest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/sentences/winners.h"

namespace simgrad::outputs::report {

class Writer;

/// The bottleneck of a case, and the reason why the case is ahead.
struct Bottleneck {
  std::string name;
  std::string text;  ///< "computing takes 75 % of the time. It is ahead of ..."
};

struct SummaryCard {
  std::string headline;
  std::vector<Winner> winners;           ///< by time, then by each price that there is
  std::optional<Bottleneck> bottleneck;  ///< the one of the winner by time
  std::vector<std::string> notes;        ///< missing, failed or diverged runs
};

/// Compares times to the target if a case reached it with every seed, else throughputs.
SummaryCard summary_card(const Results& results, const ReportModel& model);
/// The card of a large experiment: the headline counts the grid points that each strategy wins, and there are no cards
/// of grid points. One strategy, or jobs, have the card of a small experiment.
SummaryCard summary_of_many(const Results& results, const ReportModel& model);

void write(Writer& writer, const SummaryCard& card);

}  // namespace simgrad::outputs::report
