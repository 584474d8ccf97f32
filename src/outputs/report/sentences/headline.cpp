#include "outputs/report/sentences/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "outputs/report/data/phrases.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

constexpr std::size_t most_questions_of_headline = 8;

std::string of_alternatives(const ReportModel& model, Measure measure) {
  const auto cases = ranking(model, measure);
  const Case& best = *cases.front();
  const std::size_t equal = tied(cases, measure);
  const bool to_target = measure == Measure::time_to_target;
  const std::string reached = duration(best.row.time_to_target_s.value_or(0.0));
  std::string text;
  if (equal > 1) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < equal; ++i) names.push_back(model.named(*cases[i]));
    text = fmt::format("{} are equally fast: {}{}", listed(names), time_text(best, measure),
                       against_one_worker(best, measure));
  } else {
    const std::string what =
        to_target
            ? fmt::format("reaches the target {}after {}", cases.size() > 1 ? "first, " : "", reached)
            : fmt::format("{}{}", cases.size() > 1 ? "is the fastest, with " : "processes ", time_text(best, measure));
    text = fmt::format("{} {}{}", model.named(best), what, against_one_worker(best, measure));
  }
  if (equal < cases.size()) text += ", " + lead(model, best, *cases[equal], measure);
  return text + ".";
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

/// Returns the names of the fastest case and of all that are as fast.
std::string winner(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tied(cases, measure); ++i) names.push_back(choice(model, *cases[i]));
  std::ranges::sort(names);
  return listed(names);
}

/// The winners of all questions.
struct QuestionWinners {
  std::vector<std::pair<std::string, std::vector<std::string>>> winners;  ///< with the questions that they win
  double lead_min = 1e300;                                                ///< over the next case, as a factor
  double lead_max = 0.0;
  std::size_t answered = 0;

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
    found.add(winner(model, cases, measure), question);
    if (cases.size() < 2) continue;
    const double lead = *measured(*cases[1], measure) / *measured(*cases[0], measure);
    found.lead_min = std::min(found.lead_min, lead);
    found.lead_max = std::max(found.lead_max, lead);
  }
  return found;
}

/// Returns "ring is the fastest at every value of bandwidth, 1.5x to 2.0x faster than the next".
std::string same_winner_text(const QuestionWinners& found, const std::string& keys, const std::string& title,
                             bool is_tied) {
  const auto& [name, where] = found.winners.front();
  std::string text = fmt::format("{} {} {} at {}", name, is_tied ? "are" : "is", title,
                                 found.answered == 1 ? where.front() : "every value of " + keys);
  if (!(found.lead_max > 1.005)) return text;
  const std::string least = times(found.lead_min), most = times(found.lead_max);
  return text + fmt::format(", {} faster than the next", least == most ? most : least + " to " + most);
}

/// Returns "a at 10, b at 100 and 1000"; with several keys "a in 3 of 4 cases; b at features=100, spread=2.0".
std::string winners_text(const QuestionWinners& found, std::size_t questions, bool many_keys) {
  std::string text;
  const char* separator = "";
  for (std::size_t i = 0; i < std::min(found.winners.size(), most_questions_of_headline); ++i) {
    const auto& [name, where] = found.winners[i];
    text += separator;
    text += many_keys && where.size() > 1 ? fmt::format("{} in {} of {} cases", name, where.size(), questions)
                                          : fmt::format("{} at {}", name, listed(where));
    separator = many_keys ? "; " : ", ";
  }
  if (found.winners.size() > most_questions_of_headline)
    text += fmt::format(" and {} more", found.winners.size() - most_questions_of_headline);
  return text;
}

std::string of_questions(const ReportModel& model, const std::vector<Question>& all, Measure measure) {
  const QuestionWinners found = winners_of(model, all, measure);
  const std::size_t unanswered = all.size() - found.answered;
  const std::string missing =
      unanswered == 0 ? "" : fmt::format(" No strategy gets there in {} of {} cases.", unanswered, all.size());
  const bool to_target = measure == Measure::time_to_target;
  const std::string keys = keys_text(all.front());
  if (found.winners.size() == 1) {
    const bool is_tied = tied(ranking(model, all.front().cases, measure), measure) > 1;
    return same_winner_text(found, keys, to_target ? "first to reach the target" : "the fastest", is_tied) + "." +
           missing;
  }
  return fmt::format("The {} depends on {}: {}.", to_target ? "first to reach the target" : "fastest", keys,
                     winners_text(found, all.size(), all.front().parameters.size() > 1)) +
         missing;
}

std::string headline_of_jobs(const ReportModel& model) {
  std::vector<std::string> parts;
  for (const Case* one : model.ran())
    if (const std::string text = interference_text(*one); !text.empty())
      parts.push_back(fmt::format("{} takes {}", model.named(*one), text));
  if (parts.empty())
    return fmt::format("{} share the cluster; the time that each takes alone is not known.",
                       counted(model.strategies.size(), "job"));
  return "Beside the other jobs, " + listed(parts, most_questions_of_headline) + ".";
}

}  // namespace

std::string headline(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) return headline_of_jobs(model);
  const auto all = questions(model);
  return all.size() > 1 ? of_questions(model, all, measure) : of_alternatives(model, measure);
}

std::string time_text(const Case& one, Measure measure) {
  if (measure == Measure::time_to_target) return duration(*one.row.time_to_target_s) + " to the target";
  return count(*one.row.samples_per_s) + " samples/s";
}

std::string against_one_worker(const Case& one, Measure measure) {
  const auto speedup = measure == Measure::time_to_target ? one.row.speedup_time_to_target : one.row.speedup_throughput;
  if (!speedup || one.workers < 2) return "";
  if (*speedup < 0.995) return fmt::format(", {} slower than one worker alone", times(1.0 / *speedup));
  if (*speedup < 1.005) return ", as fast as one worker";
  return fmt::format(", {} as fast as one worker", times(*speedup));
}

std::string interference_text(const Case& one) {
  if (!one.interference) return "";
  if (*one.interference < 1.005) return "as long as alone";
  return fmt::format("{} as long as alone", times(*one.interference));
}

}  // namespace simgrad::outputs::report
