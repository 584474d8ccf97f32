#include "outputs/report/sentences/summary_card.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/report/data/phrases.h"
#include "outputs/report/data/writer.h"
#include "outputs/report/sentences/headline.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

/// Returns the bottleneck of the winner, and why it is ahead of the next case that is slower.
std::optional<Bottleneck> bottleneck(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure) {
  const Case& best = *cases.front();
  const std::string limit = limit_text(best);
  if (limit.empty()) return std::nullopt;
  Bottleneck found{model.named(best), limit + "."};
  const std::size_t next = tied(cases, measure);
  if (next == cases.size() || best.conditions.jobs) return found;
  const std::string because = reason(model, best, *cases[next], measure);
  if (!because.empty()) found.text += fmt::format(" It is ahead of {} because {}.", model.named(*cases[next]), because);
  return found;
}

/// Returns the ranking to explain: that of the last question with an answer. Jobs come in the order of interference.
std::vector<const Case*> to_explain(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) {
    auto cases = model.ran();
    std::ranges::stable_sort(cases, {}, [](const Case* one) { return -one->interference.value_or(0.0); });
    return cases;
  }
  std::vector<const Case*> last;
  for (const Question& question : questions(model)) {
    auto cases = ranking(model, question.cases, measure);
    if (!cases.empty()) last = std::move(cases);
  }
  return last;
}

std::string without_measure(const ReportModel& model) {
  if (model.cases.empty()) return "No run has finished.";
  if (model.ran().empty()) return "Every run failed.";
  const bool all_diverged = std::ranges::all_of(
      model.ran(), [](const Case* one) { return one->row.diverged == one->row.seeds - one->row.failed; });
  if (all_diverged)
    return "Every run diverged: the loss is no longer finite. A smaller training.learning_rate may help.";
  return "Every case has a seed that diverged or failed, so no case is called the best.";
}

/// Names the case that came closest to a target that no case reached with every seed.
std::string closest(const ReportModel& model) {
  const Case* best = nullptr;
  for (const Case& one : model.cases)
    if (one.ran() && one.row.sound() && one.row.final_loss && (!best || *one.row.final_loss < *best->row.final_loss))
      best = &one;
  const bool some = std::ranges::any_of(model.cases, [](const Case& one) { return one.row.reached > 0; });
  std::string text = some ? "No strategy reached the target with every seed" : "No run reached the target";
  if (model.comparison.target) text += fmt::format(" (loss {:.4g})", *model.comparison.target);
  if (best) text += fmt::format("; the closest is {} with loss {:.4g}", model.named(*best), *best->row.final_loss);
  return text + ".";
}

std::vector<std::string> notes(const Results& results, const ReportModel& model) {
  std::vector<std::string> notes;
  if (!results.complete)
    notes.push_back(fmt::format("Incomplete: {} finished before the experiment was interrupted.",
                                counted(results.runs.size(), "run")));
  std::size_t failed = 0;
  std::size_t diverged = 0;
  std::string error;
  for (const Run& run : results.runs) {
    failed += run.record.status == record::Status::failed ? 1 : 0;
    diverged += run.record.status == record::Status::diverged ? 1 : 0;
    if (run.record.status == record::Status::failed && error.empty())
      error = fmt::format("({}): {}", run.label, run.record.error);
  }
  if (failed > 0) notes.push_back(fmt::format("{} failed. First error {}", counted(failed, "run"), printable(error)));
  std::vector<std::string> labels;
  for (const Case& one : model.cases)
    if (one.row.diverged > 0) labels.push_back(model.named(one));
  if (diverged > 0) notes.push_back(fmt::format("{} diverged: {}.", counted(diverged, "run"), listed(labels)));
  return notes;
}

}  // namespace

SummaryCard summary_card(const Results& results, const ReportModel& model) {
  SummaryCard card;
  card.notes = notes(results, model);
  const Measure measure = best_measure(model);
  const auto cases = ranking(model, measure);
  const bool missed = model.comparison.has_target && measure != Measure::time_to_target;
  if (cases.empty()) {
    card.headline = without_measure(model);
    return card;
  }
  card.headline = missed ? closest(model) : headline(model, measure);
  if (missed) card.notes.insert(card.notes.begin(), headline(model, measure));
  card.winners = winners(model, measure);
  card.bottleneck = bottleneck(model, to_explain(model, measure), measure);
  return card;
}

void write(Writer& writer, const SummaryCard& card) {
  writer.begin_object();
  writer.member("headline", card.headline);
  writer.key("winners");
  writer.begin_array();
  for (const Winner& line : card.winners) {
    writer.begin_object();
    writer.member("by", line.by);
    writer.member("label", line.label);
    writer.member("point", line.point);
    writer.member("text", line.text);
    writer.end_object();
  }
  writer.end_array();
  writer.key("bottleneck");
  if (card.bottleneck) {
    writer.begin_object();
    writer.member("name", card.bottleneck->name);
    writer.member("text", card.bottleneck->text);
    writer.end_object();
  } else {
    writer.null();
  }
  writer.member("notes", card.notes);
  writer.end_object();
}

}  // namespace simgrad::outputs::report
