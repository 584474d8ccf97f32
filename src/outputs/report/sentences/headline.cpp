#include "outputs/report/sentences/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "outputs/report/sentences/phrases.h"
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
    text =
        fmt::format("{} are as fast: {}{}", listed(names), time_text(best, measure), against_one_worker(best, measure));
  } else {
    const std::string what =
        to_target ? fmt::format("reaches the target {}after {}", cases.size() > 1 ? "first, " : "", reached)
                  : fmt::format("computes {}{}", cases.size() > 1 ? "most, " : "", time_text(best, measure));
    text = fmt::format("{} {}{}", model.named(best), what, against_one_worker(best, measure));
  }
  if (equal < cases.size()) text += ", " + lead(model, best, *cases[equal], measure);
  return text + ".";
}

/// "100" where only one key asks, else "bandwidth=1Gbps, latency=1us".
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

/// The first, or all that are as fast.
std::string winner(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tied(cases, measure); ++i) names.push_back(choice(model, *cases[i]));
  std::ranges::sort(names);
  return listed(names);
}

std::string of_questions(const ReportModel& model, const std::vector<Question>& all, Measure measure) {
  std::vector<std::pair<std::string, std::vector<std::string>>> winners;  // with where they win
  double least = 1e300;
  double most = 0.0;
  std::size_t asked = 0;
  std::size_t unanswered = 0;
  for (const Question& question : all) {
    const auto cases = ranking(model, question.cases, measure);
    if (cases.empty()) {
      ++unanswered;
      continue;
    }
    ++asked;
    const std::string name = winner(model, cases, measure);
    auto found = std::ranges::find(winners, name, &std::pair<std::string, std::vector<std::string>>::first);
    // Neighbours along one key; anywhere where there are several.
    if (found != winners.end() && question.parameters.size() == 1 && found + 1 != winners.end()) found = winners.end();
    if (found == winners.end()) found = winners.insert(winners.end(), {name, {}});
    found->second.push_back(at_question(question));
    if (cases.size() < 2) continue;
    const double ratio = *measured(*cases[1], measure) / *measured(*cases[0], measure);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  const std::string missing =
      unanswered == 0 ? "" : fmt::format(" Nobody gets there in {} of {} cases.", unanswered, all.size());
  const bool to_target = measure == Measure::time_to_target;
  const std::string keys = keys_text(all.front());
  if (winners.size() == 1) {
    const std::string what = to_target ? "the first at the target" : "the fastest";
    const std::string many = tied(ranking(model, all.front().cases, measure), measure) > 1 ? "are" : "is";
    std::string text = fmt::format("{} {} {} at every {}", winners.front().first, many, what, keys);
    if (asked == 1) text = fmt::format("{} {} {} at {}", winners.front().first, many, what, winners.front().second[0]);
    if (most > 1.005)
      text += times(least) == times(most) ? fmt::format(", {} faster than the next", times(most))
                                          : fmt::format(", {} to {} faster than the next", times(least), times(most));
    return text + "." + missing;
  }
  std::vector<std::string> parts;
  const bool many_keys = all.front().parameters.size() > 1;
  for (const auto& [name, where] : winners)
    parts.push_back(many_keys && where.size() > 1 ? fmt::format("{} in {} of {} cases", name, where.size(), all.size())
                                                  : fmt::format("{} at {}", name, listed(where)));
  std::string text =
      fmt::format("Which {} depends on {}: ", to_target ? "reaches the target first" : "is fastest", keys);
  const char* separator = "";
  for (std::size_t i = 0; i < std::min(parts.size(), most_questions_of_headline); ++i) {
    text += separator + parts[i];
    separator = many_keys ? "; " : ", ";
  }
  if (parts.size() > most_questions_of_headline)
    text += fmt::format(" and {} more", parts.size() - most_questions_of_headline);
  return text + "." + missing;
}

std::string of_jobs(const ReportModel& model) {
  std::vector<std::string> parts;
  for (const Case* one : model.ran())
    if (const std::string text = interference_text(*one); !text.empty())
      parts.push_back(fmt::format("{} takes {}", model.named(*one), text));
  if (parts.empty())
    return fmt::format("{} share the cluster; how long each takes by itself is not known.",
                       counted(model.strategies.size(), "job"));
  return "Beside the others, " + listed(parts, most_questions_of_headline) + ".";
}

}  // namespace

std::string headline(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) return of_jobs(model);
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
  if (*one.interference < 1.005) return "as long as by itself";
  return fmt::format("{} as long as by itself", times(*one.interference));
}

}  // namespace simgrad::outputs::report
