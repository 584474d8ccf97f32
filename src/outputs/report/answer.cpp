#include "outputs/report/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/human.h"
#include "outputs/report/headline.h"
#include "outputs/report/words.h"
#include "outputs/report/writer.h"

namespace simgrad::outputs::report {
namespace {

/// What keeps the winner from being faster still, and why it is ahead of the next that is slower.
std::optional<Binding> binding(const View& view, const std::vector<const Case*>& cases, Measure measure) {
  const Case& best = *cases.front();
  const std::string limit = limit_text(best);
  if (limit.empty()) return std::nullopt;
  Binding found{view.named(best), limit + "."};
  const std::size_t next = tied(cases, measure);
  if (next == cases.size() || best.conditions.jobs) return found;
  const std::string why = reason(view, best, *cases[next], measure);
  if (!why.empty()) found.text += fmt::format(" It is ahead of {}: {}.", view.named(*cases[next]), why);
  return found;
}

/// Of alternatives all; of several questions the last that has an answer; of jobs the one that suffers most.
std::vector<const Case*> to_explain(const View& view, Measure measure) {
  if (view.cases.front().conditions.jobs) {
    auto cases = view.ran();
    std::ranges::stable_sort(cases, {}, [](const Case* one) { return -one->interference.value_or(0.0); });
    return cases;
  }
  std::vector<const Case*> last;
  for (const Question& question : questions(view)) {
    auto cases = ranking(view, question.cases, measure);
    if (!cases.empty()) last = std::move(cases);
  }
  return last;
}

std::string without_measure(const View& view) {
  if (view.cases.empty()) return "No run has finished.";
  if (view.ran().empty()) return "Every run failed.";
  const bool all_diverged = std::ranges::all_of(
      view.ran(), [](const Case* one) { return one->row.diverged == one->row.seeds - one->row.failed; });
  if (all_diverged)
    return "Every run diverged: the loss is no number any more. A smaller training.learning_rate may help.";
  return "No case finished every seed soundly, so that none can be called the best.";
}

/// With a target that nobody reached: who came closest.
std::string closest(const View& view) {
  const Case* best = nullptr;
  for (const Case& one : view.cases)
    if (one.ran() && one.row.sound() && one.row.final_loss && (!best || *one.row.final_loss < *best->row.final_loss))
      best = &one;
  const bool some = std::ranges::any_of(view.cases, [](const Case& one) { return one.row.reached > 0; });
  std::string text = some ? "No strategy reached the target with every seed" : "No run reached the target";
  if (view.comparison.target) text += fmt::format(" (loss {:.4g})", *view.comparison.target);
  if (best) text += fmt::format("; the closest is {}, loss {:.4g}", view.named(*best), *best->row.final_loss);
  return text + ".";
}

std::vector<std::string> notes(const Results& results, const View& view) {
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
    if (run.record.status == record::Status::failed && error.empty()) error = run.label + ": " + run.record.error;
  }
  if (failed > 0) notes.push_back(fmt::format("{} failed; the first: {}", counted(failed, "run"), printable(error)));
  std::vector<std::string> labels;
  for (const Case& one : view.cases)
    if (one.row.diverged > 0) labels.push_back(view.named(one));
  if (diverged > 0) notes.push_back(fmt::format("{} diverged: {}.", counted(diverged, "run"), listed(labels)));
  return notes;
}

}  // namespace

Answer answer(const Results& results, const View& view) {
  Answer answer;
  answer.notes = notes(results, view);
  const Measure measure = best_measure(view);
  const auto cases = ranking(view, measure);
  const bool missed = view.comparison.has_target && measure != Measure::time_to_target;
  if (cases.empty()) {
    answer.headline = without_measure(view);
    return answer;
  }
  answer.headline = missed ? closest(view) : headline(view, measure);
  if (missed) answer.notes.insert(answer.notes.begin(), headline(view, measure));
  answer.lines = winners(view, measure);
  answer.binds = binding(view, to_explain(view, measure), measure);
  return answer;
}

void write(Writer& writer, const Answer& answer) {
  writer.begin_object();
  writer.member("headline", answer.headline);
  writer.key("lines");
  writer.begin_array();
  for (const Winner& line : answer.lines) {
    writer.begin_object();
    writer.member("by", line.by);
    writer.member("label", line.label);
    writer.member("point", line.point);
    writer.member("text", line.text);
    writer.end_object();
  }
  writer.end_array();
  writer.key("binds");
  if (answer.binds) {
    writer.begin_object();
    writer.member("who", answer.binds->who);
    writer.member("text", answer.binds->text);
    writer.end_object();
  } else {
    writer.null();
  }
  writer.member("notes", answer.notes);
  writer.end_object();
}

}  // namespace simgrad::outputs::report
