#include "outputs/report/charts/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/ranking.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

/// The price of the sentence: money, or energy if nothing costs money.
struct ParetoPrice {
  std::optional<double> ParetoRow::*number;
  bool ParetoRow::*front;
  std::string (*text)(double);
  const char* less;
  const char* what;
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
  if (all == 1)
    return fmt::format("{} takes {} and {}.", model.named(*fast.one), duration(fast.time_s), price.text(fast_price));
  if (!(cheap_price < fast_price))
    return fmt::format("{} is both the fastest and the {}: {}, {}; {}.", model.named(*fast.one), price.less,
                       duration(fast.time_s), price.text(fast_price),
                       best.size() == all ? "every other case is equal"
                       : best.size() > 1
                           ? counted(best.size() - 1, "other case") + (best.size() == 2 ? " is" : " are") + " equal"
                           : "every other case is worse in one of the two");
  return fmt::format(
      "{} is the fastest: {} for {}. {} is the {}: {} for {}, {} less for {} the time. On the Pareto front of time and "
      "{}: {} of {} cases.",
      model.named(*fast.one), duration(fast.time_s), price.text(fast_price), model.named(*cheap.one), price.less,
      duration(cheap.time_s), price.text(cheap_price), percent(1.0 - cheap_price / fast_price),
      times(cheap.time_s / fast.time_s), price.what, best.size(), all);
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
                          row.front ? "yes" : "no", row.front_energy ? "yes" : "no"});
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
  const ParetoPrice price =
      costs || !model.has_energy
          ? ParetoPrice{&ParetoRow::cost_usd, &ParetoRow::front, dollars, "cheapest", "cost"}
          : ParetoPrice{&ParetoRow::energy_j, &ParetoRow::front_energy, joules, "most frugal", "energy"};
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
