#include "outputs/report/ranking.h"

#include <algorithm>

#include "outputs/human.h"
#include "outputs/report/words.h"

namespace simgrad::outputs::report {

Measure best_measure(const View& view) {
  const bool reached = std::ranges::any_of(
      view.cases, [](const Case& one) { return measured(one, Measure::time_to_target).has_value(); });
  return reached ? Measure::time_to_target : Measure::throughput;
}

std::vector<const Case*> ranking(const View& view, Measure measure) {
  std::vector<const Case*> all;
  for (const Case& one : view.cases) all.push_back(&one);
  return ranking(view, all, measure);
}

std::vector<const Case*> ranking(const View& view, const std::vector<const Case*>& cases, Measure measure) {
  std::vector<const Case*> sorted;
  for (const Case* one : cases)
    if (measured(*one, measure)) sorted.push_back(one);
  std::ranges::stable_sort(sorted, {}, [&](const Case* one) { return *measured(*one, measure); });
  if (view.strategies.size() < 2) return sorted;
  std::vector<bool> seen(view.strategies.size(), false);
  std::erase_if(sorted, [&](const Case* one) {
    const bool again = seen[one->strategy];
    seen[one->strategy] = true;
    return again;
  });
  return sorted;
}

std::size_t tied(const std::vector<const Case*>& ranking, Measure measure) {
  constexpr double as_fast = 1.005;
  std::size_t n = 0;
  while (n < ranking.size() && *measured(*ranking[n], measure) < as_fast * *measured(*ranking[0], measure)) ++n;
  return n;
}

namespace {

using Json = nlohmann::ordered_json;

/// The parameters whose keys are questions, or those that are choices.
Json part_of(const Json& parameters, bool of_questions) {
  Json part = Json::object();
  for (const auto& [key, value] : parameters.items())
    if (is_question(key) == of_questions) part[key] = value;
  return part;
}

}  // namespace

std::vector<Question> questions(const View& view) {
  std::vector<Question> found;
  for (const Case& one : view.cases) {
    const Json parameters = part_of(view.points[one.point].parameters, true);
    auto question = std::ranges::find(found, parameters, &Question::parameters);
    if (question == found.end()) question = found.insert(found.end(), Question{parameters, {}});
    question->cases.push_back(&one);
  }
  if (std::ranges::any_of(found, [](const Question& each) { return each.cases.size() > 1; })) return found;
  Question all{Json::object(), {}};
  for (const Case& one : view.cases) all.cases.push_back(&one);
  return {all};
}

std::string choice(const View& view, const Case& one) {
  return printable(view.label(one)) + at_point(part_of(view.points[one.point].parameters, false));
}

}  // namespace simgrad::outputs::report
