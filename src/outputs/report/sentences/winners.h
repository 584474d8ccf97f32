/// The winners by time, by cost and by energy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outputs/report/sentences/ranking.h"
#include "outputs/text/language.h"

namespace simgrad::outputs::report {

/// The winner by one of the three.
struct Winner {
  std::string by;     ///< "time", "throughput" where the target was missed, "cost", "energy"
  std::string label;  ///< or no_clear_winner in the language of the process
  std::string point;
  std::string text;
  Lead lead = Lead::clear;  ///< over the next case
};

inline constexpr std::string_view no_clear_winner = translatable("no clear winner");

inline constexpr std::size_t most_cards_by_each = 6;

/// Returns how many questions have no cards, because there are more of them than cards.
std::size_t questions_without_cards(const ReportModel& model);

/// Returns the winners by each. A price that is 0 for all cases is left out. If the grid asks several questions, there
/// are winners by each for the first few. Where chance may decide, a card names the candidates. For jobs, which do not
/// compete, there is the time of each.
std::vector<Winner> winners(const ReportModel& model, Measure measure);

}  // namespace simgrad::outputs::report
