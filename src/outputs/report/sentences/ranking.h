/// Who is ahead: the best case of each strategy, the fastest first.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {

/// Time to the target where a case reached it with every seed, else throughput.
Measure best_measure(const ReportModel& model);

/// Of each strategy its best case by the measure, the best first.  With one strategy: all its cases.  Strategies
/// without the measure are left out.
std::vector<const Case*> ranking(const ReportModel& model, Measure measure);

/// The same of some of the model's cases.
std::vector<const Case*> ranking(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure);

/// How many of a ranking, from the first on, are as fast as the first.
std::size_t tied(const std::vector<const Case*>& ranking, Measure measure);

/// The cases that answer one question: the grid's keys that are no choices (conditions.h) have the same values.
struct Question {
  nlohmann::ordered_json parameters;  ///< these keys
  std::vector<const Case*> cases;
};

/// In the order of the points; a single one where the grid has no such keys, or where no question has two cases: then
/// the cases are each other's alternatives.
std::vector<Question> questions(const ReportModel& model);

/// "ring with 16 workers": what distinguishes the case within its question.
std::string choice(const ReportModel& model, const Case& one);

}  // namespace simgrad::outputs::report
