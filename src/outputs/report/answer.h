/// The answer at the top: which strategy wins by time, by cost, by energy, and what binds it.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/view.h"

namespace simgrad::outputs::report {

class Writer;

/// The winner of one of the three.
struct Winner {
  std::string by;  ///< "time", "cost", "energy"
  std::string label;
  std::string point;
  std::string text;
};

struct Answer {
  std::string headline;
  std::vector<Winner> lines;       ///< of those that are priced
  std::string binds;               ///< of the winner by time
  std::vector<std::string> notes;  ///< what is missing, failed or diverged
};

/// The times compared are those to the target, where a case reached it with every seed; else throughput decides.
Answer answer(const Results& results, const View& view);

void write(Writer& writer, const Answer& answer);

}  // namespace simgrad::outputs::report
