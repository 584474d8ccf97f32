#include "outputs/report/sentences/ranking.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "outputs/report/data/phrases.h"
#include "outputs/summary.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {

Measure best_measure(const ReportModel& model) {
  const bool reached = std::ranges::any_of(
      model.cases, [](const Case& one) { return measured(one, Measure::time_to_target).has_value(); });
  return reached ? Measure::time_to_target : Measure::throughput;
}

std::vector<const Case*> ranking(const ReportModel& model, Measure measure) {
  std::vector<const Case*> all;
  for (const Case& one : model.cases) all.push_back(&one);
  return ranking(model, all, measure);
}

std::vector<const Case*> ranking(const ReportModel& model, const std::vector<const Case*>& cases, Measure measure) {
  std::vector<const Case*> sorted;
  for (const Case* one : cases)
    if (measured(*one, measure)) sorted.push_back(one);
  std::ranges::stable_sort(sorted, {}, [&](const Case* one) { return *measured(*one, measure); });
  keep_contenders(model, sorted, number_of(measure));
  return sorted;
}

void keep_contenders(const ReportModel& model, std::vector<const Case*>& sorted, Compared by) {
  if (model.strategies.size() < 2 || sorted.empty()) return;
  const Case& first = *sorted.front();
  std::vector<bool> seen(model.strategies.size(), false);
  std::erase_if(sorted, [&](const Case* one) {
    const bool again = seen[one->strategy];
    seen[one->strategy] = true;
    if (!again) return false;
    const Lead lead = difference(first.row, one->row, by).lead;
    return lead == Lead::clear || lead == Lead::one_seed;
  });
}

Leaders leaders(const std::vector<const Case*>& ranking, Measure measure) {
  std::vector<const Row*> rows;
  for (const Case* one : ranking) rows.push_back(&one->row);
  return outputs::leaders(rows, number_of(measure));
}

bool order_may_be_chance(const ReportModel& model, const Leaders& top, Measure measure) {
  return top.lead == Lead::one_seed && (measure == Measure::time_to_target || model.comparison.speed_by_chance);
}

namespace {

using Json = nlohmann::ordered_json;

/// Returns the parameters whose keys are questions, or else those whose keys are choices.
Json part_of(const Json& parameters, bool of_questions) {
  Json part = Json::object();
  for (const auto& [key, value] : parameters.items())
    if (is_question(key) == of_questions) part[key] = value;
  return part;
}

/// Returns a text that is equal for equal values: 1 and 1.0 ask the same.
std::string as_asked(const Json& parameters) {
  std::string text;
  for (const auto& [key, value] : parameters.items())
    text += key + '=' + (value.is_number() ? compact(value.get<double>()) : compact(value)) + '\n';
  return text;
}

}  // namespace

std::vector<Question> questions(const ReportModel& model) {
  std::vector<Question> found;
  std::unordered_map<std::string, std::size_t> asked;  // questions by their texts: a large grid has thousands
  for (const Case& one : model.cases) {
    Json parameters = part_of(model.points[one.point].parameters, true);
    const auto [place, is_new] = asked.try_emplace(as_asked(parameters), found.size());
    if (is_new) found.push_back({std::move(parameters), {}});
    found[place->second].cases.push_back(&one);
  }
  if (std::ranges::any_of(found, [](const Question& each) { return each.cases.size() > 1; })) return found;
  Question all{Json::object(), {}};
  for (const Case& one : model.cases) all.cases.push_back(&one);
  return {all};
}

std::string choice(const ReportModel& model, const Case& one) {
  return printable(model.label(one)) + at_point(part_of(model.points[one.point].parameters, false));
}

}  // namespace simgrad::outputs::report
