/// The answer of a plan in sentences. Each is about numbers of the answer, and stands only where they bear it out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "experiment/plan/automatic_layout.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"
#include "planner/kinds.h"
#include "planner/rates.h"
#include "planner/sentences.h"

namespace simgrad::planner {

using outputs::counted;
using outputs::tr;

namespace {

const Candidate& of(const Answer& answer, std::size_t candidate) { return answer.candidates.all[candidate]; }

/// "$41.20 ± 3.10 and 3 h 6 min": the measures that the objective and the limits are about, and the time.
std::string measures_text(const Answer& answer, const Choice& choice) {
  const experiment::Goal& goal = of(answer, choice.candidate).settings->goal;
  const double margin = 0.5 * (choice.value.high - choice.value.low);
  const auto with = [&](double mean, bool is_objective, std::string (*text)(double)) {
    return is_objective ? outputs::with_margin(mean, margin, text) : text(mean);
  };
  std::vector<std::string> parts;
  const std::string_view kind = goal.objective.kind();
  if (choice.mean.usd) parts.push_back(with(*choice.mean.usd, kind == "cheapest", outputs::dollars));
  parts.push_back(with(choice.mean.time_s, kind == "fastest", outputs::duration));
  if (choice.mean.energy_j && (goal.objective->needs_energy() || goal.power_w))
    parts.push_back(with(*choice.mean.energy_j, kind == "least_energy", outputs::joules));
  return outputs::listed(parts);
}

/// Whether the text about hosts says the parameter.
bool said_by_hosts(const std::string& key) {
  return key == "cluster.workers" || key == "cluster.failures.market" || key == "cluster.hosts";
}

}  // namespace

std::string way_text(const Candidate& candidate) {
  std::string text = outputs::printable(candidate.run.label);
  for (const auto& [key, value] : candidate.parameters.items()) {
    if (said_by_hosts(key)) continue;
    text += fmt::format(", {} = {}", key.substr(key.rfind('.') + 1),
                        value.is_string() ? outputs::printable(value.get<std::string>()) : value.dump());
  }
  const strategies::Parallel& parallel = candidate.settings->parallel;
  if (!parallel.found.empty()) text += ", " + experiment::layout_text(parallel, candidate.run.workers);
  return text;
}

std::string goal_text(const Candidate& candidate) {
  const experiment::Settings& settings = *candidate.settings;
  if (settings.stop.loss) return tr("to loss {}", outputs::number_text(*settings.stop.loss, 6));
  if (candidate.tokens_a_sample > 0.0)
    return tr("to {} tokens", outputs::count(candidate.samples * candidate.tokens_a_sample));
  return tr("to {} samples", outputs::count(candidate.samples));
}

namespace {

std::string without_winner(const Answer& answer) {
  const bool all_lost = !answer.standings.empty() &&
                        std::ranges::none_of(answer.standings, [](const Standing& each) { return each.lost.empty(); });
  if (!all_lost) return tr("The time was up before any candidate was simulated.");
  return tr("No candidate comes to the goal: the first, {}, {}.", name_of(answer.candidates.all.front()),
            outputs::translated(answer.standings.front().lost));
}

}  // namespace

std::string sentence(const Answer& answer) {
  if (!answer.winner) return without_winner(answer);
  const Choice& winner = *answer.winner;
  const Candidate& candidate = of(answer, winner.candidate);
  const std::string hosts = hosts_text(candidate) + spares_text(candidate, spares_of(answer, winner.candidate));
  std::string text = winner.mean.usd ? tr("Rent {} and train with {}: {} {}", hosts, way_text(candidate),
                                          measures_text(answer, winner), goal_text(candidate))
                                     : tr("Take {} and train with {}: {} {}", hosts, way_text(candidate),
                                          measures_text(answer, winner), goal_text(candidate));
  for (const Limited& limited : limits_of(candidate.settings->goal, winner.mean)) {
    if (limited.excess() > 0.0) continue;
    const std::string below = outputs::percentage(-limited.excess());
    if (limited.of == Limited::Of::deadline) text += tr(", {} below the deadline", below);
    if (limited.of == Limited::Of::budget) text += tr(", {} below the budget", below);
    if (limited.of == Limited::Of::power) text += tr(", {} below the limit of power", below);
  }
  return text + tr(".");
}

std::string tie_text(const Answer& answer) {
  if (answer.ties.empty()) return {};
  std::vector<std::string> names, among_failures;
  for (const Tie& tie : answer.ties)
    (tie.among_failures ? among_failures : names).push_back(choice_text(answer, tie.choice.candidate));
  const experiment::Goal& goal = of(answer, answer.winner->candidate).settings->goal;
  const bool chance = std::ranges::any_of(
      answer.ties, [](const Tie& tie) { return !tie.among_failures && !std::isnan(tie.difference.low); });
  std::string text;
  if (!names.empty())
    text = chance ? tr("It is a tie: over {} seeds, at {} confidence, chance may decide between this and {}.",
                       answer.winner->seeds, outputs::percentage(goal.confidence), outputs::listed(names))
                  : tr("It is a tie: {} takes exactly as much.", outputs::listed(names));
  if (among_failures.empty()) return text;
  return (text.empty() ? "" : text + " ") +
         tr("It is a tie among failures: over the seeds of the simulation, chance may decide between this and {}.",
            outputs::listed(among_failures));
}

std::string decided_text(const Answer& answer) {
  const Tally& tally = answer.tally;
  const std::size_t all = answer.candidates.all.size();
  const std::size_t unread = answer.candidates.unread;
  const bool seeds_missing = !answer.decided && tally.open == 0 && unread == 0;
  std::string text =
      seeds_missing        ? tr("All {} candidates are decided by the first seed, but not over further ones", all)
      : answer.decided     ? (all == 1 ? tr("The only candidate is decided") : tr("All {} candidates are decided", all))
      : answer.interrupted ? tr("Interrupted: {} of {} candidates are decided", tally.decided(), all)
                           : tr("The time was up: {} of {} candidates are decided", tally.decided(), all);
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(tally.whole, tr("simulated to their end"));
  add(tally.behind, tr("ruled out by bounds"));
  add(tally.dropped, tr("dropped because their losses fall too slowly"));
  add(tally.lost, tr("that do not come to the goal"));
  if (!parts.empty()) text += tr(": ") + outputs::listed_clauses(parts, parts.size());
  text += tr(".");
  if (!answer.candidates.refused.empty()) text += tr(" {} more cannot be run.", answer.candidates.refused.size());
  if (unread > 0) text += tr(" {} more were not read in that time.", unread);
  if (!answer.decided) text += tr(" The same command goes on where it stopped.");
  return text;
}

std::string effort_text(const Answer& answer) {
  const auto part = [](const Effort& effort) {
    return tr("{} with {} worker steps", counted(static_cast<std::size_t>(effort.runs), "{} run", "{} runs"),
              outputs::count(effort.worker_steps));
  };
  std::string text = tr("Simulated: {}", part(answer.effort));
  if (answer.of_assumptions.runs > 0) text += tr(", and {} for other assumptions", part(answer.of_assumptions));
  return text + tr(".");
}

std::vector<std::string> limit_texts(const Answer& answer) {
  std::vector<std::string> all;
  if (!answer.winner || !answer.front_decided) return all;  // a cheaper one that misses a limit may not be known
  const experiment::Objective& objective = *of(answer, answer.winner->candidate).settings->goal.objective;
  const auto text = [&](double value) { return outputs::translated(objective.text(value)); };
  const double winner = objective.value(answer.standings[answer.winner->candidate].expected);
  for (const LimitPrice& price : answer.limits) {
    const bool time = price.of == Limited::Of::deadline, money = price.of == Limited::Of::budget;
    const std::string name = time ? tr("the deadline") : money ? tr("the budget") : tr("the limit of power");
    if (price.without)
      all.push_back(tr("Without {} the best would be {}, with {} in place of {}.", name,
                       choice_text(answer, *price.without, price.spares_without),
                       text(objective.value(price.of_without)), text(winner)));
    else
      all.push_back(tr("Without {} the best would be the same.", name));
    if (!price.tighter) continue;
    const Measures& tighter = price.of_tighter;
    const double more = objective.value(tighter) - winner;
    if (time)
      all.push_back(tr("Finishing {} earlier costs {} more: {}, in {}.", outputs::duration(price.is - tighter.time_s),
                       text(more), choice_text(answer, *price.tighter, price.spares_tighter),
                       outputs::duration(tighter.time_s)));
    else if (money)
      all.push_back(tr("{} less money costs {} more: {}, for {}.", outputs::dollars(price.is - tighter.usd.value_or(0)),
                       text(more), choice_text(answer, *price.tighter, price.spares_tighter),
                       outputs::dollars(tighter.usd.value_or(0))));
  }
  return all;
}

namespace {

/// "the latency of all links", or "the price of h100", whose class is a name.
std::string noun_text(const std::string& assumption) {
  const std::string text = tr(assumption);
  return text == assumption ? outputs::translated(assumption) : text;
}

/// "With the bandwidth divided by 1.24 (8Gbps), the best is ..; divided by 1.19 (8.4Gbps), the winner is still the
/// best."
std::string turn_text(const Answer& answer, const Turn& turn) {
  const bool more = turn.factor > 1.0;
  const auto number = [&](double factor) { return outputs::number_text(more ? factor : 1.0 / factor); };
  const auto bracketed = [](const std::string& value) {
    return value.empty() ? "" : tr(" ({})", outputs::translated(value));
  };
  const std::string noun = noun_text(turn.assumption), then = choice_text(answer, turn.then);
  std::string text =
      more ? tr("With {1} times {0}{2}, the best is {3}", noun, number(turn.factor), bracketed(turn.value), then)
           : tr("With {0} divided by {1}{2}, the best is {3}", noun, number(turn.factor), bracketed(turn.value), then);
  if (turn.still != 1.0)
    text +=
        more ? tr("; with {} times{}, the winner is still the best", number(turn.still), bracketed(turn.still_value))
             : tr("; divided by {}{}, the winner is still the best", number(turn.still), bracketed(turn.still_value));
  return text + tr(".");
}

}  // namespace

std::vector<std::string> turn_texts(const Answer& answer) {
  std::vector<std::string> all;
  for (const Turn& turn : answer.turns) all.push_back(turn_text(answer, turn));
  if (answer.tried.empty()) return all;
  std::vector<std::string> unmoved;
  for (const std::string& noun : answer.tried)
    if (std::ranges::find(answer.turns, noun, &Turn::assumption) == answer.turns.end())
      unmoved.push_back(noun_text(noun));
  if (!unmoved.empty())
    all.push_back(tr("At a quarter, half, twice and four times {}, the winner stays the best of those compared.",
                     outputs::listed(unmoved, unmoved.size())));
  return all;
}

std::vector<std::string> refused_texts(const Answer& answer) {
  std::vector<std::string> all;
  for (const Reason& reason : counted(answer.candidates.refused)) all.push_back(text_of(reason));
  return all;
}

}  // namespace simgrad::planner
