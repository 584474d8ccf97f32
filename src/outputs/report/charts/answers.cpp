#include "outputs/report/charts/answers.h"

#include <algorithm>

#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

/// Durations at equal steps of the share of requests; nothing without durations.
std::vector<double> at_shares(std::vector<double> durations) {
  std::ranges::sort(durations);
  std::vector<double> all;
  for (std::size_t k = 0; k <= shares_of_answers && !durations.empty(); ++k)
    all.push_back(durations[k * (durations.size() - 1) / shares_of_answers]);
  return all;
}

AnswersRow answers_of(const Case& one) {
  std::vector<double> ttft, tpot, latency;
  for (const Run* run : one.runs)
    for (const record::ServedRequest& request : run->record.requests) {
      ttft.push_back(request.first_token_s - request.arrival_s);
      latency.push_back(request.end_s - request.arrival_s);
      if (request.output_tokens > 1)
        tpot.push_back((request.end_s - request.first_token_s) / static_cast<double>(request.output_tokens - 1));
    }
  return {.one = &one,
          .ttft_s = at_shares(std::move(ttft)),
          .tpot_s = at_shares(std::move(tpot)),
          .latency_s = at_shares(std::move(latency))};
}

using Number = std::optional<double> (*)(const Run&);

std::vector<Cell> cells(const ReportModel& model, const Case& one) {
  std::vector<Cell> row{model.label(one), model.text(one)};
  constexpr Number numbers[] = {[](const Run& run) { return run.record.serving.ttft_s.median; },
                                [](const Run& run) { return run.record.serving.ttft_s.p95; },
                                [](const Run& run) { return run.record.serving.ttft_s.p99; },
                                [](const Run& run) { return run.record.serving.tpot_s.median; },
                                [](const Run& run) { return run.record.serving.tpot_s.p95; },
                                [](const Run& run) { return run.record.serving.tpot_s.p99; },
                                [](const Run& run) { return run.record.serving.requests_per_s; },
                                [](const Run& run) { return run.record.serving.capacity_requests_per_s; },
                                [](const Run& run) { return run.record.serving.output_tokens_per_s; },
                                [](const Run& run) { return run.record.serving.dollars_per_million_tokens; }};
  for (const Number number : numbers) row.emplace_back(mean_of(one.runs, number));
  return row;
}

std::string sentence(const ReportModel& model, const Answers& chart) {
  const auto tail = [](const AnswersRow& row) { return row.one->row.ttft_s_p99.value_or(0.0); };
  const AnswersRow& best = *std::ranges::min_element(chart.rows, {}, tail);
  std::string text =
      tr("99 % of the requests have their first token within {} with {}", duration(tail(best)), model.named(*best.one));
  const AnswersRow& worst = *std::ranges::max_element(chart.rows, {}, tail);
  if (chart.rows.size() > 1) text += tr(", and within {} with {}", duration(tail(worst)), model.named(*worst.one));
  return text + tr(".");
}

}  // namespace

std::optional<Answers> answers(const ReportModel& model) {
  Answers chart;
  chart.table.columns = {{"strategy"},
                         {"parameters"},
                         {"first token, median", "s"},
                         {"first token, 95 %", "s"},
                         {"first token, 99 %", "s"},
                         {"each token, median", "s"},
                         {"each token, 95 %", "s"},
                         {"each token, 99 %", "s"},
                         {"requests a second"},
                         {"capacity, requests a second"},
                         {"tokens a second"},
                         {"cost of a million tokens", "USD"}};
  for (const Case* one : model.ran()) {
    if (!one->row.ttft_s_median) continue;
    chart.rows.push_back(answers_of(*one));
    chart.table.rows.push_back(cells(model, *one));
  }
  if (chart.rows.empty()) return std::nullopt;
  chart.sentence = sentence(model, chart);
  return chart;
}

void write(Writer& writer, const Answers& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "rows", chart.rows, [&](const AnswersRow& row) {
    writer.member("strategy", row.one->strategy);
    writer.member("point", row.one->point);
    writer.member("ttft_s", row.ttft_s);
    writer.member("tpot_s", row.tpot_s);
    writer.member("latency_s", row.latency_s);
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
