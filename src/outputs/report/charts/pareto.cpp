#include "outputs/report/charts/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/ranking.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

enum class Best { fastest, cheapest, most_frugal };

/// The price of the sentence: money, or energy if nothing costs money.
struct ParetoPrice {
  std::optional<double> ParetoRow::*number;
  bool ParetoRow::*front;
  std::string (*text)(double);
  bool money;

  Best best() const { return money ? Best::cheapest : Best::most_frugal; }
  Compared compared_by(bool to_target) const {
    if (to_target) return money ? by_cost_to_target : by_energy_to_target;
    return money ? by_cost : by_energy;
  }
};

std::vector<ParetoRow> rows_of(const ReportModel& model, Measure measure) {
  std::vector<ParetoRow> rows;
  for (const Case* one : model.ran()) {
    const Row& row = one->row;
    const bool to_target = measure == Measure::time_to_target;
    if (to_target ? !measured(*one, measure) : !row.sound() || !row.simulated_s) continue;
    ParetoRow& point = rows.emplace_back();
    point.one = one;
    point.time_s = to_target ? *row.time_to_target_s : *row.simulated_s;
    point.cost_usd = to_target ? row.cost_to_target_usd : row.cost_usd;
    point.energy_j = row.energy_j;
  }
  return rows;
}

/// Returns the rows with the price that are first by the number; `lead` tells whether chance may decide among them.
std::pair<std::vector<const ParetoRow*>, Lead> first_by(const std::vector<const ParetoRow*>& priced, Compared by) {
  std::vector<const ParetoRow*> sorted = priced;
  std::erase_if(sorted, [&](const ParetoRow* row) { return !compared(row->one->row, by); });
  std::ranges::stable_sort(sorted, {}, [&](const ParetoRow* row) { return *compared(row->one->row, by); });
  std::vector<const Row*> rows;
  for (const ParetoRow* row : sorted) rows.push_back(&row->one->row);
  const Leaders top = leaders(rows, by);
  std::vector<const ParetoRow*> first;
  for (const std::size_t i : top.all) first.push_back(sorted[i]);
  return {first, top.lead};
}

std::string chance_text(const ReportModel& model, Best best, const std::vector<const ParetoRow*>& rows) {
  std::vector<std::string> names;
  for (const ParetoRow* row : rows) names.push_back(model.named(*row->one));
  if (best == Best::fastest) return tr("Chance may decide which is the fastest: {}.", listed(names));
  if (best == Best::cheapest) return tr("Chance may decide which is the cheapest: {}.", listed(names));
  return tr("Chance may decide which is the most frugal: {}.", listed(names));
}

/// Returns "ring is the fastest: 2 s for $3.00".
std::string best_text(const ReportModel& model, Best best, const ParetoRow& row, const ParetoPrice& price) {
  const std::string name = model.named(*row.one), time = duration(row.time_s);
  const std::string paid = price.text(*(row.*price.number));
  if (best == Best::fastest) return tr("{} is the fastest: {} for {}", name, time, paid);
  if (best == Best::cheapest) return tr("{} is the cheapest: {} for {}", name, time, paid);
  return tr("{} is the most frugal: {} for {}", name, time, paid);
}

std::string front_text(const ParetoPrice& price, bool by_means, std::size_t on_front, std::size_t all) {
  if (by_means)
    return price.money ? tr("On the Pareto front of time and cost, by means: {} of {} cases.", on_front, all)
                       : tr("On the Pareto front of time and energy, by means: {} of {} cases.", on_front, all);
  return price.money ? tr("On the Pareto front of time and cost: {} of {} cases.", on_front, all)
                     : tr("On the Pareto front of time and energy: {} of {} cases.", on_front, all);
}

/// Returns the sentence if chance may decide which case is the fastest, or which is the cheapest.
std::string by_chance(const ReportModel& model, const Pareto& chart, const ParetoPrice& price, std::size_t on_front) {
  std::vector<const ParetoRow*> priced;
  for (const ParetoRow& row : chart.rows)
    if (row.*price.number) priced.push_back(&row);
  const bool to_target = chart.time_is == Measure::time_to_target;
  const auto by_time = first_by(priced, to_target ? by_time_to_target : by_simulated_time);
  const auto by_price = first_by(priced, price.compared_by(to_target));
  if (by_time.second != Lead::unclear && by_price.second != Lead::unclear) return "";
  const auto one = [&](const auto& top, Best best) {
    if (top.second == Lead::unclear) return chance_text(model, best, top.first);
    return best_text(model, best, *top.first.front(), price) + tr(".");
  };
  return one(by_time, Best::fastest) + between_sentences() + one(by_price, price.best()) + between_sentences() +
         front_text(price, true, on_front, priced.size());
}

/// Returns the other cases' relation to the one that is the fastest and the cheapest.
std::string others_text(const Pareto& chart, const ParetoPrice& price, const ParetoRow& best, std::size_t equals,
                        std::size_t all) {
  if (equals == all) return tr("every other case is equal");
  if (equals > 1) return counted(equals - 1, "{} other case is equal", "{} other cases are equal");
  const bool worse_in_both = std::ranges::all_of(chart.rows, [&](const ParetoRow& row) {
    const auto& number = row.*price.number;
    return &row == &best || !number || (row.time_s > best.time_s && *number > *(best.*price.number));
  });
  return worse_in_both ? tr("every other case is worse in both") : tr("no other case is better in either");
}

std::string both_text(const ReportModel& model, const ParetoPrice& price, const ParetoRow& best,
                      const std::string& others) {
  const std::string name = model.named(*best.one), time = duration(best.time_s);
  const std::string paid = price.text(*(best.*price.number));
  return price.money ? tr("{} is both the fastest and the cheapest: {}, {}; {}.", name, time, paid, others)
                     : tr("{} is both the fastest and the most frugal: {}, {}; {}.", name, time, paid, others);
}

std::string sentence(const ReportModel& model, const Pareto& chart, const ParetoPrice& price) {
  std::vector<const ParetoRow*> best;
  for (const ParetoRow& row : chart.rows)
    if (row.*price.front) best.push_back(&row);
  std::ranges::stable_sort(best, {}, [](const ParetoRow* row) { return row->time_s; });
  const ParetoRow& fast = *best.front();
  const ParetoRow& cheap = *best.back();
  const double fast_price = *(fast.*price.number);
  const double cheap_price = *(cheap.*price.number);
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(chart.rows, [&](const ParetoRow& row) { return (row.*price.number).has_value(); }));
  if (all == 1) return tr("{} takes {} and {}.", model.named(*fast.one), duration(fast.time_s), price.text(fast_price));
  if (const std::string text = by_chance(model, chart, price, best.size()); !text.empty()) return text;
  if (!(cheap_price < fast_price))
    return both_text(model, price, fast, others_text(chart, price, fast, best.size(), all));
  const double longer = cheap.time_s / fast.time_s;
  const std::string less = percent(1.0 - cheap_price / fast_price);
  return best_text(model, Best::fastest, fast, price) + tr(".") + between_sentences() +
         best_text(model, price.best(), cheap, price) +
         (longer < small_factor ? tr(", {} less for {} more time", less, percent(longer - 1.0))
                                : tr(", {} less for {} the time", less, times(longer))) +
         tr(".") + between_sentences() + front_text(price, false, best.size(), all);
}

Table table(const ReportModel& model, const Pareto& chart) {
  Table table;
  table.columns = {{"strategy"},
                   {"parameters"},
                   {chart.time_is == Measure::time_to_target ? "time to target" : "simulated time", "s"},
                   {"cost", "$"},
                   {"energy", "J"},
                   {"on the front of cost"},
                   {"on the front of energy"}};
  for (const ParetoRow& row : chart.rows)
    table.rows.push_back({model.label(*row.one), model.text(*row.one), row.time_s, row.cost_usd, row.energy_j,
                          row.front ? tr("yes") : tr("no"), row.front_energy ? tr("yes") : tr("no")});
  return table;
}

}  // namespace

std::vector<bool> front(const std::vector<std::pair<double, double>>& pairs) {
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pairs[i]; });
  std::vector<bool> on(pairs.size(), false);
  double least = std::numeric_limits<double>::infinity();
  const std::pair<double, double>* last = nullptr;
  for (const std::size_t i : order) {
    // Equal pairs do not beat each other.
    on[i] = pairs[i].second < least || (last != nullptr && pairs[i] == *last);
    if (!on[i]) continue;
    least = pairs[i].second;
    last = &pairs[i];
  }
  return on;
}

namespace {

/// Sets the flag of the rows that have the price.
void add_front(std::vector<ParetoRow>& rows, std::optional<double> ParetoRow::*price, bool ParetoRow::*flag) {
  std::vector<ParetoRow*> priced;
  std::vector<std::pair<double, double>> pairs;
  for (ParetoRow& row : rows) {
    if (!(row.*price)) continue;
    priced.push_back(&row);
    pairs.emplace_back(row.time_s, *(row.*price));
  }
  const std::vector<bool> on = front(pairs);
  for (std::size_t i = 0; i < on.size(); ++i) priced[i]->*flag = on[i];
}

}  // namespace

std::optional<Pareto> pareto(const ReportModel& model) {
  if (!model.has_cost && !model.has_energy) return std::nullopt;
  const bool costs =
      std::ranges::any_of(model.cases, [](const Case& one) { return one.row.cost_usd.value_or(0.0) > 0.0; });
  const ParetoPrice price = costs || !model.has_energy
                                ? ParetoPrice{&ParetoRow::cost_usd, &ParetoRow::front, dollars, true}
                                : ParetoPrice{&ParetoRow::energy_j, &ParetoRow::front_energy, joules, false};
  Pareto chart;
  chart.time_is = best_measure(model);
  chart.rows = rows_of(model, chart.time_is);
  const auto priced = [&](const ParetoRow& row) { return (row.*price.number).has_value(); };
  if (std::ranges::none_of(chart.rows, priced)) return std::nullopt;
  add_front(chart.rows, &ParetoRow::cost_usd, &ParetoRow::front);
  add_front(chart.rows, &ParetoRow::energy_j, &ParetoRow::front_energy);
  chart.sentence = sentence(model, chart, price);
  chart.table = table(model, chart);
  return chart;
}

void write(Writer& writer, const Pareto& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "rows", chart.rows, [&](const ParetoRow& row) {
    writer.member("strategy", row.one->strategy);
    writer.member("point", row.one->point);
    writer.member("time_s", row.time_s);
    writer.member("cost_usd", row.cost_usd);
    writer.member("energy_j", row.energy_j);
    writer.member("front", row.front);
    writer.member("front_energy", row.front_energy);
  });
  writer.member("time_is", chart.time_is == Measure::time_to_target ? "time_to_target" : "simulated");
  writer.end_object();
}

}  // namespace simgrad::outputs::report
