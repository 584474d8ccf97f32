#include "outputs/terminal/summary_sentence.h"

#include <algorithm>
#include <array>
#include <vector>

#include "outputs/leaders.h"
#include "outputs/report/sentences/headline.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

/// Returns "; its time is 71% computing, 24% communicating, 5% waiting", the largest part first.
std::string shares(const Row& row) {
  if (!row.parts_s) return "";
  const auto percents = apportioned(*row.parts_s, 100);
  const std::array<std::string, 4> texts = {tr("{}% computing", percents[0]),
                                            row.reads_storage
                                                ? tr("{}% communicating, mostly with a storage", percents[1])
                                                : tr("{}% communicating", percents[1]),
                                            tr("{}% waiting", percents[2]), tr("{}% down", percents[3])};
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return percents[a] > percents[b]; });
  std::string text;
  for (const std::size_t k : order) {
    if (percents[k] > 0) text += (text.empty() ? "" : tr(", ")) + texts[k];
  }
  return text.empty() ? "" : tr("; its time is {}", text);
}

/// Returns the rows at the places.
std::vector<const Row*> at_places(const std::vector<const Row*>& rows, const std::vector<std::size_t>& places) {
  std::vector<const Row*> found;
  for (const std::size_t i : places) found.push_back(rows[i]);
  return found;
}

std::string rate(const Row& row) {
  if (row.speedup_throughput)
    return tr("{} that of one worker", speedup_text(*row.speedup_throughput)) + would_not_fit(row);
  return tr("{} samples/s", count(1.0 / *compared(row, by_time_per_sample)));
}

/// Returns "a, 4.10 ms ± 0.3, and b, 4.55 ms ± 1": the rows between which chance may decide.
std::string unclear_between(const std::vector<const Row*>& rows, Compared by, std::string (*text)(double)) {
  std::vector<std::string> names;
  for (const Row* row : rows) {
    const Interval of_seeds = seeds_interval(*row, by.number);
    names.push_back(tr("{} ({})", named(*row), with_margin(of_seeds.mean, of_seeds.high - of_seeds.mean, text)));
  }
  return listed(names, most_named);
}

/// Returns " Cheapest to the target: ...", after the sentence on the fastest.  fastest: null if there is no clear one.
std::string cheapest_sentence(const Comparison& c, const Row* fastest) {
  const std::vector<const Row*> rows = ranked(c, by_cost_to_target);
  if (rows.empty() || !(*compared(*rows.back(), by_cost_to_target) > 0.0)) return "";
  const Leaders top = leaders(rows, by_cost_to_target);
  const Row& cheap = *rows.front();
  const std::string price = dollars(*compared(cheap, by_cost_to_target));
  if (top.lead == Lead::unclear)
    return tr(" No clear winner by cost: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_cost_to_target, dollars));
  const std::vector<const Row*> equals = at_places(rows, top.all);
  const bool fastest_is = std::ranges::find(equals, fastest) != equals.end();
  if (fastest_is && equals.size() == 1) return tr(" It is also the cheapest: {}.", price);
  if (equals.size() > 1) {
    std::vector<std::string> names;
    for (const Row* row : equals) names.push_back(named(*row));
    return tr(" Cheapest to the target: {}, equally, {}.", listed(names, most_named), price);
  }
  const std::string instead = fastest ? tr(" instead of {}", dollars(fastest->cost_to_target_usd.value_or(0.0))) : "";
  return tr(" Cheapest to the target: {}, {}{}, after {}.", named(cheap), price, instead,
            duration(*cheap.time_to_target_s));
}

/// Returns "Highest throughput: ...". besides: a row that needs no naming.
std::string throughput_sentence(const Comparison& c, const Row* besides) {
  const std::vector<const Row*> rows = ranked(c, by_time_per_sample);
  if (rows.empty()) return "";
  const Leaders top = leaders(rows, by_time_per_sample);
  if (top.lead == Lead::unclear && besides) return "";
  if (top.lead == Lead::unclear)
    return tr("No clear winner by time per sample: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_time_per_sample, duration));
  std::vector<std::string> equals;
  for (const Row* row : at_places(rows, top.all)) {
    if (row == besides) return "";
    equals.push_back(named(*row));
  }
  return tr("Highest throughput: {}, {}{}.", listed(equals, most_named), rate(*rows.front()),
            besides || equals.size() > 1 ? "" : shares(*rows.front()));
}

std::string fastest_sentence(const Comparison& c, const std::vector<const Row*>& rows) {
  const Leaders top = leaders(rows, by_time_to_target);
  const Row& best = *rows.front();
  if (top.lead == Lead::unclear)
    return tr("No clear winner to the target: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_time_to_target, duration)) +
           cheapest_sentence(c, nullptr);
  std::vector<std::string> equals;
  for (const Row* row : at_places(rows, top.all)) equals.push_back(named(*row));
  const std::string names = listed(equals, most_named), after = duration(*best.time_to_target_s);
  std::string text = equals.size() > 1 ? tr("Fastest to the target: {}, equally, after {}", names, after)
                                       : tr("Fastest to the target: {}, after {}", names, after);
  if (const auto speedup = best.speedup_time_to_target) {
    text += tr(", {} as fast as one worker", speedup_text(*speedup)) + would_not_fit(best);
    if (*speedup < 1.0) text += tr(", so one worker alone is faster");
  }
  text += (equals.size() > 1 ? "" : shares(best)) + tr(".") + cheapest_sentence(c, &best);
  if (const std::string most = throughput_sentence(c, &best); !most.empty()) text += between_sentences() + most;
  if (top.lead == Lead::one_seed) text += between_sentences() + one_seed_remark(c);
  return text;
}

/// Returns the row with the least of a number; null where none has it.
const Row* least_of(const Comparison& c, std::optional<double> Row::*number) {
  const Row* least = nullptr;
  for (const Row& row : c.rows)
    if (row.sound() && row.*number && (!least || *(row.*number) < *(least->*number))) least = &row;
  return least;
}

/// Returns " Cheapest: ..." of runs that answer requests. Chance moves the prices of runs under one load by some per
/// cent.
std::string cheapest_answers_sentence(const Comparison& c) {
  constexpr double equally = 1.05;
  const Row* const cheap = least_of(c, &Row::dollars_per_million_tokens);
  if (!cheap) return "";
  std::vector<std::string> names;
  for (const Row& row : c.rows)
    if (row.sound() && row.dollars_per_million_tokens &&
        *row.dollars_per_million_tokens <= equally * *cheap->dollars_per_million_tokens)
      names.push_back(named(row));
  const std::string price = dollars(*cheap->dollars_per_million_tokens);
  return names.size() > 1 ? tr(" Cheapest, within 5 % of each other: {}, from {} for a million tokens.",
                               listed(names, most_named), price)
                          : tr(" Cheapest: {}, {} for a million tokens.", named(*cheap), price);
}

/// Returns sentences about runs that answer requests; nothing where there are none.
std::string answers_sentence(const Comparison& c) {
  const Row* const first = least_of(c, &Row::ttft_s_median);
  if (!first) return "";
  std::string text = tr("Shortest median time to the first token: {}, {}{}.", named(*first),
                        duration(*first->ttft_s_median), shares(*first));
  if (const Row* const each = least_of(c, &Row::tpot_s_median))
    text += tr(" Shortest median time of each token after it: {}, {}.", named(*each), duration(*each->tpot_s_median));
  return text + cheapest_answers_sentence(c);
}

/// Returns the sentence if every run diverged or failed; else nothing.
std::string all_diverged_sentence(const Comparison& c) {
  const auto lost = [](const Row& row) { return row.diverged + row.failed == row.seeds; };
  if (!std::ranges::all_of(c.rows, lost)) return "";
  return std::ranges::any_of(c.rows, [](const Row& row) { return row.failed > 0; })
             ? tr("Every run diverged or failed.")
             : tr("Every run diverged. A smaller training.learning_rate may help.");
}

/// Returns the sentence if no row has a throughput by which it could be compared.
std::string without_throughput(const Comparison& c) {
  if (std::ranges::none_of(c.rows, &Row::sound))
    return tr("Every case has a seed that diverged or failed, so no case is called the best.");
  return std::ranges::all_of(c.rows, &Row::sound)
             ? tr("No run processed any samples.")
             : tr("No case in which every run is sound has processed any samples, so no case is called the best.");
}

/// Returns the sentence if no row reached the target with all of its seeds.
std::string unreached_sentence(const Comparison& c) {
  if (std::any_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.reached > 0; })) {
    return tr("No strategy reached the target with every seed.");
  }
  const Row* closest = nullptr;
  for (const Row& row : c.rows) {
    const bool comparable = row.final_loss && row.sound();
    if (comparable && (!closest || *row.final_loss < *closest->final_loss)) closest = &row;
  }
  if (!closest) return tr("No run reached the target.");
  if (c.target && *closest->final_loss <= *c.target)  // between two averages, or the run would have ended there
    return tr("No run reached the target; the replicas' mean of {}, which no worker holds, has loss {} after {}{}.",
              named(*closest), number_text(*closest->final_loss, 4), duration(closest->simulated_s.value_or(0.0)),
              shares(*closest));
  const std::string loss = number_text(*closest->final_loss, 4);
  std::vector<std::string> level;
  for (const Row& row : c.rows)
    if (row.final_loss && row.sound() && number_text(*row.final_loss, 4) == loss) level.push_back(named(row));
  if (level.size() > 1)
    return tr("No run reached the target; {} ended closest to it, with loss {}.", listed(level, most_named), loss);
  if (closest->levelled_off)
    return tr("No run reached the target; {} came closest: its loss levelled off at {}, after {}{}.", named(*closest),
              loss, duration(closest->simulated_s.value_or(0.0)), shares(*closest));
  return tr("No run reached the target; the closest is {} with loss {} after {}{}.", named(*closest), loss,
            duration(closest->simulated_s.value_or(0.0)), shares(*closest));
}

/// Returns the report's sentence on the winner of each question, if the grid asks several.
std::string winners_of_questions(const Results& results, const Comparison& c) {
  if (std::ranges::none_of(c.parameters, report::is_question)) return "";
  const report::ReportModel model = report::report_model(results);
  const report::Measure measure = report::best_measure(model);
  const bool missed = c.has_target && measure == report::Measure::throughput;
  if (missed || model.cases.front().conditions.jobs || report::ranking(model, measure).empty()) return "";
  if (report::questions(model).size() < 2) return "";
  return report::headline(model, measure);
}

}  // namespace

std::string named(const Row& row) {
  const std::string point = point_text(row.parameters);
  return point.empty() ? printable(row.label) : tr("{} at {}", printable(row.label), point);
}

std::string sentence(const Results& results, const Comparison& c) {
  if (c.rows.empty()) return tr("No run has finished.");
  if (std::all_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.failed == row.seeds; })) {
    return tr("Every run failed.");
  }
  if (const std::string answers = answers_sentence(c); !answers.empty()) return answers;
  if (const std::string winners = winners_of_questions(results, c); !winners.empty()) return winners;
  if (const auto rows = ranked(c, by_time_to_target); !rows.empty()) return fastest_sentence(c, rows);
  if (const std::string lost = all_diverged_sentence(c); !lost.empty()) return lost;
  if (c.has_target) return unreached_sentence(c);
  const std::string most = throughput_sentence(c, nullptr);
  if (most.empty()) return without_throughput(c);
  const bool by_chance =
      c.speed_by_chance && leaders(ranked(c, by_time_per_sample), by_time_per_sample).lead == Lead::one_seed;
  return by_chance ? most + between_sentences() + one_seed_remark(c) : most;
}

}  // namespace simgrad::outputs
