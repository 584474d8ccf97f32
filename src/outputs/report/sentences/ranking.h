/// The ranking: the best case of each strategy, the fastest first.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {

/// Returns time to the target if a case reached it with every seed, else throughput.
Measure best_measure(const ReportModel& model);

/// Returns the best case of each strategy by the measure, and the cases that are not clearly behind the first, the best
/// first. With one strategy: all its cases. Strategies without the measure are left out.
std::vector<const Case*> ranking(const ReportModel& model, Measure measure);

/// Ranks only these cases of the model.
std::vector<const Case*> ranking(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure);

/// Leaves the best case of each strategy, and those that are not clearly behind the first. With one strategy: all.
/// sorted: by the number, the smallest mean first.
void keep_contenders(const ReportModel& model, std::vector<const Case*>& sorted, Compared by);

/// Returns the cases at the top of a ranking that no other is clearly ahead of, as places in the ranking.
Leaders leaders(const std::vector<const Case*>& ranking, Measure measure);

/// Returns whether one seed decides, and another might decide otherwise. The time to a target depends on the data and
/// the batches, which are drawn; the time per sample only where the cluster draws stragglers, jitter, traffic or
/// failures.
bool order_may_be_chance(const ReportModel& model, const Leaders& top, Measure measure);

/// The cases that answer one question: those with equal values of the grid's keys that are not choices (conditions.h).
struct Question {
  nlohmann::ordered_json parameters;  ///< the keys that are not choices
  std::vector<const Case*> cases;
};

/// Returns the questions in the order of the grid points. There is a single question with all cases if the grid has no
/// such keys, or if no question would have two cases.
std::vector<Question> questions(const ReportModel& model);

/// Returns the name of a case within its question: "ring with 16 workers".
std::string choice(const ReportModel& model, const Case& one);

}  // namespace simgrad::outputs::report
