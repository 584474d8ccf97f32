/// The answer at the top: which strategy wins by time, by cost, by energy, and what binds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/winners.h"

namespace simgrad::outputs::report {

class Writer;

/// What keeps a case from being faster still, and why it is ahead.
struct Binding {
  std::string who;
  std::string text;  ///< "computing takes 75 % of the time.  It is ahead of ..."
};

struct Answer {
  std::string headline;
  std::vector<Winner> lines;       ///< of those that are priced
  std::optional<Binding> binds;    ///< of the winner by time
  std::vector<std::string> notes;  ///< what is missing, failed or diverged
};

/// The times compared are those to the target, where a case reached it with every seed; else throughput decides.
Answer answer(const Results& results, const View& view);

void write(Writer& writer, const Answer& answer);

}  // namespace simgrad::outputs::report
