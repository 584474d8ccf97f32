#include "outputs/report/sentences/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr std::size_t most_questions_of_headline = 8;

/// Returns "a (4.10 ms ± 0.3) and b (4.55 ms ± 1)".
std::string with_intervals(const ReportModel& model, const std::vector<const Case*>& cases,
                           const std::vector<std::size_t>& places, Measure measure) {
  std::vector<std::string> names;
  for (const std::size_t i : places)
    names.push_back(tr("{} ({})", model.named(*cases[i]), interval_text(*cases[i], measure)));
  return listed(names, most_questions_of_headline);
}

std::string of_alternatives(const ReportModel& model, Measure measure) {
  const auto cases = ranking(model, measure);
  const Case& best = *cases.front();
  const Leaders top = leaders(cases, measure);
  const bool to_target = measure == Measure::time_to_target;
  if (top.lead == Lead::unclear)
    return to_target ? tr("No clear winner by time to the target: chance may decide between {}.",
                          with_intervals(model, cases, top.all, measure))
                     : tr("No clear winner by time per sample: chance may decide between {}.",
                          with_intervals(model, cases, top.all, measure));
  const std::string reached = duration(best.row.time_to_target_s.value_or(0.0));
  const std::string beside = against_one_worker(best, measure);
  const bool several = cases.size() > 1;
  std::string text;
  if (top.all.size() > 1) {
    std::vector<std::string> names;
    for (const std::size_t i : top.all) names.push_back(model.named(*cases[i]));
    text = tr("{} are equally fast: {}{}", listed(names, most_questions_of_headline), time_text(best, measure), beside);
  } else if (to_target) {
    text = several ? tr("{} reaches the target first, after {}{}", model.named(best), reached, beside)
                   : tr("{} reaches the target after {}{}", model.named(best), reached, beside);
  } else {
    const std::string rate = time_text(best, measure);
    text = several ? tr("{} is the fastest, with {}{}", model.named(best), rate, beside)
                   : tr("{} processes {}{}", model.named(best), rate, beside);
  }
  if (top.next) text += tr(", ") + lead(model, best, *cases[*top.next], measure);
  return text + tr(".") +
         (order_may_be_chance(model, top, measure) ? between_sentences() + one_seed_remark(model.comparison) : "");
}

/// Returns "100" if only one key asks, else "bandwidth=1Gbps, latency=1us".
std::string at_question(const Question& question) {
  if (question.parameters.size() == 1) return value_text(question.parameters.begin().value());
  return point_text(question.parameters);
}

std::string keys_text(const Question& question) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : question.parameters.items()) keys.push_back(key);
  std::vector<std::string> names;
  for (const std::string& key : keys) names.push_back(short_name(key, keys));
  return listed(names);
}

/// Returns the names of the cases at the top: "a", "a and b" if they are equal, "a or b" if chance may decide.
std::string winner(const ReportModel& model, const std::vector<const Case*>& cases, const Leaders& top) {
  std::vector<std::string> names;
  for (const std::size_t i : top.all) names.push_back(choice(model, *cases[i]));
  std::ranges::sort(names);
  if (top.lead != Lead::unclear) return listed(names);
  return tr("no clear winner between {}", listed(names));
}

/// The winners of all questions.
struct QuestionWinners {
  std::vector<std::pair<std::string, std::vector<std::string>>> winners;  ///< with the questions that they win
  double lead_min = 1e300;                                                ///< over the next case, as a factor
  double lead_max = 0.0;
  std::size_t answered = 0;
  std::size_t compared = 0;    ///< answered ones that have a next case
  bool unclear = false;        ///< chance may decide a question
  bool several = false;        ///< a question has several equal winners
  bool may_be_chance = false;  ///< a question is decided by one seed

  void add(const std::string& name, const Question& question) {
    auto found = std::ranges::find(winners, name, &std::pair<std::string, std::vector<std::string>>::first);
    // With one key only neighbouring questions are put together, with several keys any.
    if (found != winners.end() && question.parameters.size() == 1 && found + 1 != winners.end()) found = winners.end();
    if (found == winners.end()) found = winners.insert(winners.end(), {name, {}});
    found->second.push_back(at_question(question));
    ++answered;
  }
};

QuestionWinners winners_of(const ReportModel& model, const std::vector<Question>& all, Measure measure) {
  QuestionWinners found;
  for (const Question& question : all) {
    const auto cases = ranking(model, question.cases, measure);
    if (cases.empty()) continue;
    const Leaders top = leaders(cases, measure);
    found.add(winner(model, cases, top), question);
    found.unclear = found.unclear || top.lead == Lead::unclear;
    found.several = found.several || top.all.size() > 1;
    found.may_be_chance = found.may_be_chance || order_may_be_chance(model, top, measure);
    if (cases.size() < 2) continue;
    const double lead = top.next ? *measured(*cases[*top.next], measure) / *measured(*cases[0], measure) : 1.0;
    ++found.compared;
    found.lead_min = std::min(found.lead_min, lead);
    found.lead_max = std::max(found.lead_max, lead);
  }
  return found;
}

/// Returns "5 %" or "2.1x" to stand before "faster": in Chinese the ratio of the speeds, whatever its size.
std::string lead_text(double ratio, bool as_percent) {
  return as_percent && language() == Language::english ? percent(ratio - 1.0) : times(ratio);
}

/// Returns "ring is the fastest at every value of bandwidth, 1.5x to 2.0x faster than the next".
std::string same_winner_text(const QuestionWinners& found, const std::string& keys, bool to_target) {
  const auto& [name, where] = found.winners.front();
  const std::string at = found.answered == 1 ? where.front() : tr("every value of {}", keys);
  if (found.unclear) return tr("At {} there is {}", at, name);
  std::string text =
      !to_target ? found.several ? tr("{} are the fastest at {}", name, at) : tr("{} is the fastest at {}", name, at)
      : found.several ? tr("{} are first to reach the target at {}", name, at)
                      : tr("{} is first to reach the target at {}", name, at);
  if (found.compared < found.answered || !(found.lead_min > equal_within)) return text;
  // One form for both ends of the range.
  const bool small = found.lead_max < small_factor;
  const std::string least = lead_text(found.lead_min, small), most = lead_text(found.lead_max, small);
  return text + (least == most ? tr(", {} faster than the next strategy", most)
                               : tr(", {} to {} faster than the next strategy", least, most));
}

/// Returns "a at 10, b at 100 and 1000"; with several keys "a in 3 of 4 cases; b at features=100, spread=2.0".
std::string winners_text(const QuestionWinners& found, std::size_t questions, bool many_keys) {
  std::string text;
  std::string separator;
  for (std::size_t i = 0; i < std::min(found.winners.size(), most_questions_of_headline); ++i) {
    const auto& [name, where] = found.winners[i];
    text += separator;
    text += many_keys && where.size() > 1 ? tr("{} in {} of {} cases", name, where.size(), questions)
                                          : tr("{} at {}", name, listed(where));
    separator = many_keys ? tr("; ") : tr(", ");
  }
  if (found.winners.size() > most_questions_of_headline)
    text += tr(" and {} more", found.winners.size() - most_questions_of_headline);
  return text;
}

std::string of_questions(const ReportModel& model, const std::vector<Question>& all, Measure measure) {
  const QuestionWinners found = winners_of(model, all, measure);
  const std::size_t unanswered = all.size() - found.answered;
  const std::string missing =
      unanswered == 0 ? "" : tr(" No strategy gets there in {} of {} cases.", unanswered, all.size());
  const bool to_target = measure == Measure::time_to_target;
  const std::string keys = keys_text(all.front());
  const std::string remark = found.may_be_chance ? between_sentences() + one_seed_remark(model.comparison) : "";
  if (found.winners.size() == 1) return same_winner_text(found, keys, to_target) + tr(".") + missing + remark;
  const std::string winners = winners_text(found, all.size(), all.front().parameters.size() > 1);
  return (to_target ? tr("The first to reach the target depends on {}: {}.", keys, winners)
                    : tr("The fastest depends on {}: {}.", keys, winners)) +
         missing + remark;
}

std::string headline_of_jobs(const ReportModel& model) {
  std::vector<std::string> parts;
  for (const Case* one : model.ran())
    if (const std::string text = interference_text(*one); !text.empty())
      parts.push_back(tr("{} takes {}", model.named(*one), text));
  if (parts.empty())
    return tr("{} share the cluster; the time that each takes alone is not known.",
              counted(model.strategies.size(), "{} job", "{} jobs"));
  return tr("While the other jobs run, {}.", listed_clauses(parts, most_questions_of_headline));
}

}  // namespace

std::string questions_keys(const ReportModel& model) { return keys_text(questions(model).front()); }

std::string headline(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) return headline_of_jobs(model);
  const auto all = questions(model);
  return all.size() > 1 ? of_questions(model, all, measure) : of_alternatives(model, measure);
}

std::string time_text(const Case& one, Measure measure) {
  if (measure == Measure::time_to_target) return tr("{} to the target", duration(*one.row.time_to_target_s));
  return tr("{} samples/s", count(1.0 / *measured(one, measure)));
}

std::string interval_text(const Case& one, Measure measure) {
  const Interval of_seeds = seeds_interval(one.row, number_of(measure).number);
  const std::string text = with_margin(of_seeds.mean, of_seeds.high - of_seeds.mean, duration);
  return measure == Measure::time_to_target ? text : tr("{} per sample", text);
}

std::string against_one_worker(const Case& one, Measure measure) {
  const auto speedup = measure == Measure::time_to_target ? one.row.speedup_time_to_target : one.row.speedup_throughput;
  if (!speedup || one.workers < 2) return "";
  return tr(", ") + against_one(*speedup) + would_not_fit(one.row);
}

std::string interference_text(const Case& one) {
  if (!one.interference) return "";
  if (*one.interference < 1.005) return tr("as long as alone");
  return tr("{} as long as alone", times(*one.interference));
}

}  // namespace simgrad::outputs::report
