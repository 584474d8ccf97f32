#include "outputs/report/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/human.h"
#include "outputs/report/ranking.h"
#include "outputs/report/words.h"
#include "outputs/report/writer.h"

namespace simgrad::outputs::report {
namespace {

/// A price of a case, and how it is written.
struct Price {
  const char* by;
  std::optional<double> (*of)(const Case&, Measure);
  std::string (*text)(double);
};

/// To the target, or for a million samples: runs that end elsewhere have done different amounts of work.
std::optional<double> per_work(const Case& one, Measure measure, std::optional<double> total,
                               std::optional<double> to_target) {
  if (!measured(one, measure)) return std::nullopt;
  if (measure == Measure::time_to_target) return to_target;
  if (!total || !one.samples || !(*one.samples > 0.0)) return std::nullopt;
  return *total / *one.samples * 1e6;
}

std::optional<double> cost(const Case& one, Measure measure) {
  return per_work(one, measure, one.row.cost_usd, one.row.cost_to_target_usd);
}

/// A run that reaches its target ends there: its energy is that to the target.
std::optional<double> energy(const Case& one, Measure measure) {
  return per_work(one, measure, one.row.energy_j, one.row.energy_j);
}

std::string what_for(Measure measure) {
  return measure == Measure::time_to_target ? " to the target" : " a million samples";
}

std::string time_text(const Case& one, Measure measure) {
  if (measure == Measure::time_to_target) return duration(*one.row.time_to_target_s) + " to the target";
  return count(*one.row.samples_per_s) + " samples/s";
}

/// "5.2x one worker", and when that is a loss, that it is.
std::string against_one_worker(const Case& one, Measure measure) {
  const auto speedup = measure == Measure::time_to_target ? one.row.speedup_time_to_target : one.row.speedup_throughput;
  if (!speedup || one.workers < 2) return "";
  if (*speedup < 1.0) return fmt::format(", {} slower than one worker alone", times(1.0 / *speedup));
  return fmt::format(", {} as fast as one worker", times(*speedup));
}

std::string headline(const View& view, Measure measure) {
  const auto cases = ranking(view, measure);
  const Case& best = *cases.front();
  const bool to_target = measure == Measure::time_to_target;
  const std::string what =
      to_target ? fmt::format("reaches the target {}after {}", cases.size() > 1 ? "first, " : "",
                              duration(*best.row.time_to_target_s))
                : fmt::format("computes {}{}", cases.size() > 1 ? "most, " : "", time_text(best, measure));
  std::string text = fmt::format("{} {}{}", view.named(best), what, against_one_worker(best, measure));
  if (cases.size() > 1) text += ", " + lead(view, best, *cases[1], measure);
  return text + ".";
}

/// What keeps the winner from being faster still, and why it is ahead of the next.
std::string binds(const View& view, const std::vector<const Case*>& cases, Measure measure) {
  const Case& best = *cases.front();
  const std::string limit = limit_text(best);
  std::string text = limit.empty() ? "" : fmt::format("What binds {}: {}.", view.named(best), limit);
  if (cases.size() < 2) return text;
  const std::string why = reason(view, best, *cases[1], measure);
  if (why.empty()) return text;
  return text + fmt::format("{}It is ahead of {} because {}.", text.empty() ? "" : " ", view.named(*cases[1]), why);
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

void add_winner(Answer& answer, const View& view, Measure measure, const Price& price) {
  const Case* best = nullptr;
  const Case* second = nullptr;
  for (const Case& one : view.cases) {
    const auto number = price.of(one, measure);
    if (!number) continue;
    if (!best || *number < *price.of(*best, measure)) best = &one;
  }
  if (!best) return;
  for (const Case& one : view.cases) {
    const auto number = price.of(one, measure);
    const bool other = view.strategies.size() < 2 ? &one != best : one.strategy != best->strategy;
    if (number && other && (!second || *number < *price.of(*second, measure))) second = &one;
  }
  std::string text = price.text(*price.of(*best, measure)) + what_for(measure);
  if (second) text += fmt::format("; next is {} with {}", view.named(*second), price.text(*price.of(*second, measure)));
  answer.lines.push_back({price.by, view.label(*best), view.text(*best), text});
}

void add_time(Answer& answer, const View& view, Measure measure) {
  const auto cases = ranking(view, measure);
  const Case& best = *cases.front();
  std::string text = time_text(best, measure) + against_one_worker(best, measure);
  if (cases.size() > 1)
    text += fmt::format("; next is {} with {}", view.named(*cases[1]), time_text(*cases[1], measure));
  answer.lines.push_back({"time", view.label(best), view.text(best), text});
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
  add_time(answer, view, measure);
  add_winner(answer, view, measure, {"cost", cost, dollars});
  add_winner(answer, view, measure, {"energy", energy, joules});
  answer.binds = binds(view, cases, measure);
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
  writer.member("binds", answer.binds);
  writer.member("notes", answer.notes);
  writer.end_object();
}

}  // namespace simgrad::outputs::report
