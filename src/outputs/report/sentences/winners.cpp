#include "outputs/report/sentences/winners.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/report/sentences/headline.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

constexpr double equal_price_within = 1.005;
constexpr std::size_t most_questions_of_winners = 6;

/// A price of a case, and how to write it.
struct WinnersPrice {
  const char* by;
  std::optional<double> (*of)(const Case&, Measure);
  std::string (*text)(double);
  const char* verb;
};

/// Returns the price to the target, or else per million samples: runs that stop at different points have done different
/// amounts of work.
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

/// Returns the energy. A run that reaches its target ends there, so that its energy is the energy to the target.
std::optional<double> energy(const Case& one, Measure measure) {
  return per_work(one, measure, one.row.energy_j, one.row.energy_j);
}

std::string unit_of_work(Measure measure) {
  return measure == Measure::time_to_target ? " to the target" : " per million samples";
}

void add_time(std::vector<Winner>& lines, const ReportModel& model, const std::vector<const Case*>& cases,
              Measure measure) {
  const Case& best = *cases.front();
  std::string text = time_text(best, measure) + against_one_worker(best, measure);
  if (cases.size() > 1)
    text += tied(cases, measure) > 1
                ? fmt::format("; {} is equally fast", model.named(*cases[1]))
                : fmt::format("; next is {} with {}", model.named(*cases[1]), time_text(*cases[1], measure));
  lines.push_back({"time", model.label(best), model.text(best), text});
}

/// Adds the winner by a price. Among cases that are equally cheap the fastest comes first.
void add_price(std::vector<Winner>& lines, const ReportModel& model, Measure measure, const WinnersPrice& price) {
  std::vector<const Case*> cases;
  for (const Case& one : model.cases)
    if (price.of(one, measure)) cases.push_back(&one);
  if (cases.empty()) return;
  const auto of = [&](const Case* one) { return *price.of(*one, measure); };
  const double least = of(*std::ranges::min_element(cases, {}, of));
  const double most = of(*std::ranges::max_element(cases, {}, of));
  if (!(most > 0.0)) return;
  const auto cheapest = [&](const Case* one) { return of(one) <= equal_price_within * least; };
  std::ranges::stable_sort(
      cases, {}, [&](const Case* one) { return std::pair(cheapest(one) ? least : of(one), *measured(*one, measure)); });
  const Case& best = *cases.front();
  std::string text = price.text(of(&best)) + unit_of_work(measure);
  const auto other = std::ranges::find_if(cases, [&](const Case* one) {
    return model.strategies.size() < 2 ? one != &best : one->strategy != best.strategy;
  });
  if (cases.size() > 1 && most <= equal_price_within * least)
    text += fmt::format("; all {} the same", price.verb);
  else if (other != cases.end() && cheapest(*other))
    text += fmt::format("; {} {}s the same", model.named(**other), price.verb);
  else if (other != cases.end())
    text += fmt::format("; next is {} with {}", model.named(**other), price.text(of(*other)));
  lines.push_back({price.by, model.label(best), model.text(best), text});
}

std::vector<Winner> winners_of_jobs(const ReportModel& model) {
  std::vector<Winner> lines;
  for (const Case* one : model.ran()) {
    if (lines.size() == most_questions_of_winners) break;
    const std::string beside = interference_text(*one);
    lines.push_back({"time", model.label(*one), model.text(*one),
                     duration(one->row.simulated_s.value_or(0.0)) + (beside.empty() ? "" : ", " + beside)});
  }
  return lines;
}

}  // namespace

std::vector<Winner> winners(const ReportModel& model, Measure measure) {
  if (model.cases.front().conditions.jobs) return winners_of_jobs(model);
  std::vector<Winner> lines;
  const auto all = questions(model);
  for (const Question& question : all) {
    const auto cases = ranking(model, question.cases, measure);
    if (!cases.empty() && lines.size() < most_questions_of_winners) add_time(lines, model, cases, measure);
  }
  if (all.size() > 1) return lines;
  add_price(lines, model, measure, {"cost", cost, dollars, "cost"});
  add_price(lines, model, measure, {"energy", energy, joules, "use"});
  return lines;
}

}  // namespace simgrad::outputs::report
