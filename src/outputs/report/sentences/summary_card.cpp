#include "outputs/report/sentences/summary_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "outputs/divergence.h"
#include "outputs/finding.h"
#include "outputs/report/data/phrases.h"
#include "outputs/report/data/writer.h"
#include "outputs/report/sentences/headline.h"
#include "outputs/report/sentences/point_winners.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

std::string_view name_of(Lead lead) {
  static constexpr std::string_view names[] = {"clear", "equal", "unclear", "one_seed"};
  return names[static_cast<std::size_t>(lead)];
}

/// Returns the name of a case, with the seed of the run that was changed if there are several.
std::string with_seed(const ReportModel& model, const Case& one) {
  const auto run = std::ranges::find(one.runs, one.counterfactual->id, &Run::id);
  return one.row.seeds > 1 && run != one.runs.end() ? tr("{} (seed {})", model.named(one), (*run)->seed)
                                                    : model.named(one);
}

/// Returns the bottleneck of the first case, and why it is ahead of the next case that is slower, if it is.
std::optional<Bottleneck> bottleneck(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure) {
  const Case& best = *cases.front();
  const std::string limit = limit_text(best);
  if (limit.empty()) return std::nullopt;
  Bottleneck found{model.named(best), limit + tr(".")};
  const std::string binds = best.counterfactual ? finding(*best.counterfactual, with_seed(model, best)) : "";
  if (!binds.empty()) found.text += between_sentences() + binds;
  if (best.conditions.jobs) return found;
  const Leaders top = leaders(cases, measure);
  // Where chance may decide who is first, nobody is called ahead.
  if (!top.next || top.lead == Lead::unclear) return found;
  const std::string because = reason(model, best, *cases[*top.next], measure);
  if (!because.empty()) found.text += tr(" It is ahead of {} because {}.", model.named(*cases[*top.next]), because);
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
  if (model.cases.empty()) return tr("No run has finished.");
  if (model.ran().empty()) return tr("Every run failed.");
  const bool all_diverged = std::ranges::all_of(
      model.ran(), [](const Case* one) { return one->row.diverged == one->row.seeds - one->row.failed; });
  const bool some_failed = std::ranges::any_of(model.cases, [](const Case& one) { return one.row.failed > 0; });
  if (all_diverged && some_failed) return tr("Every run diverged or failed.");
  if (all_diverged) return tr("Every run diverged. A smaller training.learning_rate may help.");
  if (std::ranges::any_of(model.cases, [](const Case& one) { return one.row.sound(); }))
    return tr("No case in which every run is sound has processed any samples, so no case is called the best.");
  return tr("Every case has a seed that diverged or failed, so no case is called the best.");
}

/// Names the cases whose loss, as it is written, is the best one's.
std::vector<std::string> level_with(const ReportModel& model, const Case& best) {
  const std::string loss = number_text(*best.row.final_loss, 4);
  std::vector<std::string> names;
  for (const Case& one : model.cases)
    if (one.ran() && one.row.sound() && one.row.final_loss && number_text(*one.row.final_loss, 4) == loss)
      names.push_back(model.named(one));
  return names;
}

/// Names the case that came closest to a target that no case reached with every seed.
std::string closest(const ReportModel& model) {
  const Case* best = nullptr;
  for (const Case& one : model.cases)
    if (one.ran() && one.row.sound() && one.row.final_loss && (!best || *one.row.final_loss < *best->row.final_loss))
      best = &one;
  const bool some = std::ranges::any_of(model.cases, [](const Case& one) { return one.row.reached > 0; });
  std::string text = some ? tr("No strategy reached the target with every seed") : tr("No run reached the target");
  if (model.comparison.target) text += tr(" (loss {})", number_text(*model.comparison.target, 4));
  const auto& target = model.comparison.target;
  if (best && target && best->row.reached == 0 && *best->row.final_loss <= *target)  // between two averages
    text += tr("; the replicas' mean of {}, which no worker holds, has loss {}", model.named(*best),
               number_text(*best->row.final_loss, 4));
  else if (const auto level = best ? level_with(model, *best) : std::vector<std::string>(); level.size() > 1)
    text += tr("; {} ended closest to it, with loss {}", listed(level), number_text(*best->row.final_loss, 4));
  else if (best && best->row.levelled_off)
    text +=
        tr("; {} came closest: its loss levelled off at {}", model.named(*best), number_text(*best->row.final_loss, 4));
  else if (best)
    text += tr("; the closest is {} with loss {}", model.named(*best), number_text(*best->row.final_loss, 4));
  return text + tr(".");
}

/// Returns " at step 40" if one seed diverged, " at steps 38 to 41" if several did.
std::string divergence_step(const Case& one) {
  std::vector<std::int64_t> steps;
  for (const Run* run : one.runs)
    if (const auto step = diverged_step(run->record)) steps.push_back(*step);
  if (steps.empty()) return "";
  const auto [least, most] = std::ranges::minmax(steps);
  return least == most ? tr(" at step {}", least) : tr(" at steps {} to {}", least, most);
}

/// Returns a note for each case that lost samples; one on all of them if they are more than `most`.
std::vector<std::string> lost_samples(const ReportModel& model, std::size_t most) {
  std::vector<std::string> notes;
  for (const Case& one : model.cases)
    if (one.row.samples && one.row.samples_seen && *one.row.samples > *one.row.samples_seen)
      notes.push_back(tr("{} lost {} of {} samples to crashes; they are no part of samples/s and speed-ups.",
                         model.named(one), count(*one.row.samples - *one.row.samples_seen), count(*one.row.samples)));
  if (notes.size() <= most) return notes;
  return {tr("{} of {} cases lost samples to crashes; they are no part of samples/s and speed-ups.", notes.size(),
             model.cases.size())};
}

/// Returns a sentence for each pair of models of which one gives runs their numbers and the other one their times.
std::vector<std::string> proxies(const Results& results) {
  constexpr std::string_view mark = "(model.timed_as)";
  std::vector<std::pair<std::string, std::size_t>> runs_by_note;
  for (const Run& run : results.runs)
    for (const std::string& note : run.record.notes) {
      if (!note.ends_with(mark)) continue;
      auto found = std::ranges::find(runs_by_note, note, [](const auto& each) { return each.first; });
      if (found == runs_by_note.end()) found = runs_by_note.insert(found, {note, 0});
      ++found->second;
    }
  std::vector<std::string> sentences;
  for (const auto& [note, runs] : runs_by_note)
    sentences.push_back(runs == results.runs.size()
                            ? tr("This experiment combines two models: {}.", translated(note))
                            : tr("{} of {} runs combine two models: {}.", runs, results.runs.size(), translated(note)));
  return sentences;
}

std::vector<std::string> notes(const Results& results, const ReportModel& model, std::size_t most) {
  std::vector<std::string> notes = proxies(results);
  if (!results.complete)
    notes.push_back(tr("Incomplete: {} finished before the experiment was interrupted.",
                       counted(results.runs.size(), "{} run", "{} runs")));
  std::size_t failed = 0;
  std::size_t diverged = 0;
  std::string error;
  for (const Run& run : results.runs) {
    failed += run.record.status == record::Status::failed ? 1 : 0;
    diverged += run.record.status == record::Status::diverged ? 1 : 0;
    if (run.record.status == record::Status::failed && error.empty())
      error = tr("({}): {}", run.label, translated(run.record.error));
  }
  if (failed > 0)
    notes.push_back(tr("{} failed. First error {}", counted(failed, "{} run", "{} runs"), printable(error)));
  std::vector<std::string> labels;
  for (const Case& one : model.cases)
    if (one.row.diverged > 0) labels.push_back(model.named(one) + divergence_step(one));
  if (diverged > 0) notes.push_back(tr("{} diverged: {}.", counted(diverged, "{} run", "{} runs"), listed(labels)));
  if (!model.cases.empty() && model.cases.front().conditions.jobs && results.counterfactuals.empty())
    notes.push_back(jobs_untried());
  for (std::string& note : lost_samples(model, most)) notes.push_back(std::move(note));
  return notes;
}

SummaryCard card_of(const Results& results, const ReportModel& model, std::size_t most_notes) {
  SummaryCard card;
  card.notes = notes(results, model, most_notes);
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
  if (const std::size_t more = questions_without_cards(model); more > 0)
    card.notes.push_back(tr("Cards name the winners of the first {} of {} values of {}; the table has all results.",
                            most_cards_by_each, most_cards_by_each + more, questions_keys(model)));
  card.bottleneck = bottleneck(model, to_explain(model, measure), measure);
  return card;
}

/// The number of notes of each kind in the summary of a large experiment.
constexpr std::size_t most_notes_of_many = 12;

}  // namespace

SummaryCard summary_card(const Results& results, const ReportModel& model) {
  return card_of(results, model, std::numeric_limits<std::size_t>::max());
}

SummaryCard summary_of_many(const Results& results, const ReportModel& model) {
  const Measure measure = best_measure(model);
  const bool any =
      std::ranges::any_of(model.cases, [&](const Case& one) { return measured(one, measure).has_value(); });
  if (!any || model.strategies.size() < 2 || model.cases.front().conditions.jobs)
    return card_of(results, model, most_notes_of_many);
  SummaryCard card;
  card.headline = tally(model, measure);
  card.notes = notes(results, model, most_notes_of_many);
  if (model.comparison.has_target && measure != Measure::time_to_target) {
    card.notes.insert(card.notes.begin(), card.headline);
    card.headline = closest(model);
  }
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
    writer.member("lead", name_of(line.lead));
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
