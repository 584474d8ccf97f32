/// Answers: how long requests wait for their first token, for each later one, and for the last.
#pragma once

#include <optional>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// Durations at the shares 0, 1/50, ..., 1 of a case's requests, all seeds together, those of the warm-up included.
struct AnswersRow {
  const Case* one = nullptr;
  std::vector<double> ttft_s;
  std::vector<double> tpot_s;  ///< empty where every answer is one token
  std::vector<double> latency_s;
};

inline constexpr std::size_t shares_of_answers = 50;

struct Answers : Chart {
  std::vector<AnswersRow> rows;
};

/// Returns nothing if no run has answered requests.
std::optional<Answers> answers(const ReportModel& model);

void write(Writer& writer, const Answers& answers);

}  // namespace simgrad::outputs::report
