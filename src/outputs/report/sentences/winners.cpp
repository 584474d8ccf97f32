#include "outputs/report/sentences/winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/headline.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr std::size_t most_named_in_card = 4;

/// A price of a case: to the target, or else per million samples, for runs that stop at different points have done
/// different amounts of work.
struct WinnersPrice {
  const char* by;
  Compared to_target;
  Compared per_sample;
  std::string (*text)(double);
  bool money;

  Compared compared_by(Measure measure) const { return measure == Measure::time_to_target ? to_target : per_sample; }
  std::string equals(const std::vector<std::string>& names) const {
    const std::string all = listed(names, most_named_in_card);
    if (money)
      return names.size() > 1 ? tr("; {} cost the same within 0.5 %", all)
                              : tr("; {} costs the same within 0.5 %", all);
    return names.size() > 1 ? tr("; {} use the same within 0.5 %", all) : tr("; {} uses the same within 0.5 %", all);
  }
};

/// Returns the number that is shown: a price per sample becomes one per million.
double shown(double price, Measure measure) { return measure == Measure::time_to_target ? price : 1e6 * price; }

std::string of_work(const std::string& price, Measure measure) {
  return measure == Measure::time_to_target ? tr("{} to the target", price) : tr("{} per million samples", price);
}

/// The card of a ranking without a winner: it names the cases among which chance may decide.
Winner unclear(const char* by, const std::string& point, const std::vector<std::string>& names) {
  return {by, tr(no_clear_winner), point, tr("chance may decide between {}", listed(names, most_named_in_card)),
          Lead::unclear};
}

/// Returns the grid point of the question, if there are several.
std::string place_of(const Question& question) {
  return question.parameters.empty() ? "" : point_words(question.parameters);
}

/// Names the next case. With several strategies a ranking has the best case of each, so that another case of the first
/// strategy may lie between.
std::string next_text(const ReportModel& model, const std::string& name, const std::string& number) {
  return model.strategies.size() > 1 && model.points.size() > 1 ? tr("; next strategy: {} with {}", name, number)
                                                                : tr("; next: {} with {}", name, number);
}

void add_time(std::vector<Winner>& lines, const ReportModel& model, const Question& question, Measure measure) {
  const auto cases = ranking(model, question.cases, measure);
  if (cases.empty()) return;
  const Case& best = *cases.front();
  const Leaders top = leaders(cases, measure);
  // Where the target was missed, the highest throughput wins nothing.
  const bool missed = model.comparison.has_target && measure == Measure::throughput;
  const char* const by = missed ? "throughput" : "time";
  std::vector<std::string> names;
  if (top.lead == Lead::unclear) {
    for (const std::size_t i : top.all)
      names.push_back(tr("{} ({})", model.named(*cases[i]), interval_text(*cases[i], measure)));
    lines.push_back(unclear(by, place_of(question), names));
    return;
  }
  std::string text = time_text(best, measure) + against_one_worker(best, measure);
  for (std::size_t k = 1; k < top.all.size(); ++k) names.push_back(model.named(*cases[top.all[k]]));
  if (!names.empty())
    text += names.size() > 1 ? tr("; {} are equally fast", listed(names, most_named_in_card))
                             : tr("; {} is equally fast", names.front());
  else if (top.next)
    text += next_text(model, model.named(*cases[*top.next]), time_text(*cases[*top.next], measure));
  lines.push_back({by, model.label(best), model.text(best), text, top.lead});
}

/// Returns the contenders by the price, the cheapest first.
std::vector<const Case*> by_price(const ReportModel& model, const Question& question, Compared by) {
  std::vector<const Case*> cases;
  for (const Case* one : question.cases)
    if (one->ran() && compared(one->row, by)) cases.push_back(one);
  const auto time = [](const Case* one) { return one->row.simulated_s.value_or(0.0); };
  std::ranges::stable_sort(cases, {}, [&](const Case* one) { return std::pair(*compared(one->row, by), time(one)); });
  keep_contenders(model, cases, by);
  return cases;
}

/// Returns "; one worker alone: 5.60 kJ" where the baseline has the lower price.
std::string cheaper_alone(const ReportModel& model, const Case& best, Measure measure, const WinnersPrice& price) {
  const Compared by = price.compared_by(measure);
  const auto& baselines = model.comparison.baselines;
  const auto alone =
      std::ranges::find_if(baselines, [&](const Row& row) { return has_all(best.row.parameters, row.parameters); });
  if (alone == baselines.end()) return "";
  const auto of_one = compared(*alone, by);
  if (!of_one || !(*of_one * equal_within < *compared(best.row, by))) return "";
  return tr("; one worker alone: {}", price.text(shown(*of_one, measure))) + would_not_fit(*alone);
}

void add_price(std::vector<Winner>& lines, const ReportModel& model, const Question& question, Measure measure,
               const WinnersPrice& price) {
  const Compared by = price.compared_by(measure);
  const auto cases = by_price(model, question, by);
  if (cases.empty() || !(*compared(cases.back()->row, by) > 0.0)) return;
  std::vector<const Row*> rows;
  for (const Case* one : cases) rows.push_back(&one->row);
  const Leaders top = leaders(rows, by);
  const Case& best = *cases.front();
  const auto amount = [&](const Case& one) { return price.text(shown(*compared(one.row, by), measure)); };
  std::vector<std::string> names;
  if (top.lead == Lead::unclear) {
    for (const std::size_t i : top.all) {
      const Interval of_seeds = seeds_interval(*rows[i], by.number);
      names.push_back(
          tr("{} ({})", model.named(*cases[i]),
             with_margin(shown(of_seeds.mean, measure), shown(of_seeds.high - of_seeds.mean, measure), price.text)));
    }
    lines.push_back(unclear(price.by, place_of(question), names));
    return;
  }
  std::string text = of_work(amount(best), measure);
  for (std::size_t k = 1; k < top.all.size(); ++k) names.push_back(model.named(*cases[top.all[k]]));
  if (!names.empty())
    text += price.equals(names);
  else if (top.next)
    text += next_text(model, model.named(*cases[*top.next]), amount(*cases[*top.next]));
  lines.push_back(
      {price.by, model.label(best), model.text(best), text + cheaper_alone(model, best, measure, price), top.lead});
}

std::vector<Winner> winners_of_jobs(const ReportModel& model) {
  std::vector<Winner> lines;
  for (const Case* one : model.ran()) {
    if (lines.size() == most_cards_by_each) break;
    const std::string beside = interference_text(*one);
    lines.push_back({"time", model.label(*one), model.text(*one),
                     duration(one->row.simulated_s.value_or(0.0)) + (beside.empty() ? "" : tr(", ") + beside),
                     Lead::clear});
  }
  return lines;
}

}  // namespace

std::vector<Winner> winners(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) return winners_of_jobs(model);
  std::vector<Winner> lines;
  // Each question has a card by each of the three, or none: their winners can be compared.
  auto all = questions(model);
  all.resize(std::min(all.size(), most_cards_by_each));
  for (const Question& question : all) add_time(lines, model, question, measure);
  static constexpr WinnersPrice prices[] = {{"cost", by_cost_to_target, by_cost_per_sample, dollars, true},
                                            {"energy", by_energy_to_target, by_energy_per_sample, joules, false}};
  for (const WinnersPrice& price : prices)
    for (const Question& question : all) add_price(lines, model, question, measure, price);
  return lines;
}

std::size_t questions_without_cards(const ReportModel& model) {
  if (model.cases.front().conditions.jobs) return 0;
  const std::size_t all = questions(model).size();
  return all - std::min(all, most_cards_by_each);
}

}  // namespace simgrad::outputs::report
