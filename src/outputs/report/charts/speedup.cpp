#include "outputs/report/charts/speedup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "outputs/report/data/phrases.h"
#include "outputs/seed_means.h"
#include "outputs/statistics.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double equal_speedup_within = 0.005;
constexpr double as_fast_below = 1.005;  ///< speed-ups that are called none

std::string other_parameters(const ReportModel& model, const Case& one) {
  nlohmann::ordered_json rest = model.points[one.point].parameters;
  rest.erase(workers_key);
  return point_text(rest);
}

/// Returns the cases in which no run failed or diverged.
std::vector<const Case*> sound_cases(const ReportModel& model) {
  std::vector<const Case*> cases = model.ran();
  std::erase_if(cases, [](const Case* one) { return !one->row.sound(); });
  return cases;
}

Interval of(const Case& one, Measure measure) {
  return measure == Measure::throughput ? speedup_throughput(one.runs) : speedup_to_target(one.runs);
}

/// Returns whether the law, with a serial share within (0, 1), is near every point and the speed-up never falls.
bool follows_amdahl(const SpeedupSeries& series, double share) {
  constexpr double near = 0.1;
  if (!(share > 0.0) || !(share < 1.0)) return false;
  for (std::size_t i = 0; i < series.workers.size(); ++i) {
    if (i > 0 && series.speedup[i] < series.speedup[i - 1]) return false;
    const double fitted = amdahl_speedup(share, series.workers[i]);
    if (!(std::abs(fitted - series.speedup[i]) <= near * series.speedup[i])) return false;
  }
  return true;
}

void add_amdahl(SpeedupSeries& series) {
  const double share = amdahl_serial_share(series.workers, series.speedup);
  if (!follows_amdahl(series, share)) return;
  Amdahl amdahl{.serial = share, .workers = {}, .speedup = {}};
  const double most = series.workers.back();
  constexpr int steps = 48;
  for (int k = 0; k <= steps; ++k) {
    const double workers = k == steps ? most : std::exp(std::log(most) * k / steps);
    amdahl.workers.push_back(workers);
    amdahl.speedup.push_back(amdahl_speedup(share, workers));
  }
  series.amdahl = std::move(amdahl);
}

std::vector<SpeedupSeries> all_series(const ReportModel& model, Measure measure) {
  std::vector<SpeedupSeries> all;
  std::vector<const Case*> cases = sound_cases(model);
  std::ranges::stable_sort(cases, {}, [](const Case* one) { return one->workers; });
  for (const Case* one : cases) {
    const Interval number = of(*one, measure);
    if (!std::isfinite(number.mean)) continue;
    const std::string text = other_parameters(model, *one);
    auto series = std::ranges::find_if(
        all, [&](const SpeedupSeries& each) { return each.strategy == one->strategy && each.text == text; });
    if (series == all.end()) {
      series = all.insert(all.end(), SpeedupSeries());
      series->strategy = one->strategy;
      series->text = text;
    }
    const auto workers = static_cast<double>(one->workers);
    series->workers.push_back(workers);
    series->speedup.push_back(number.mean);
    series->low.push_back(number.low);
    series->high.push_back(number.high);
    series->efficiency.push_back(number.mean / workers);
    series->cases.push_back(one);
  }
  std::ranges::stable_sort(all, {}, &SpeedupSeries::strategy);
  for (SpeedupSeries& series : all) {
    if (std::ranges::none_of(series.low, [](double x) { return std::isfinite(x); })) {
      series.low.clear();
      series.high.clear();
    }
    add_amdahl(series);
  }
  return all;
}

std::size_t best_of(const SpeedupSeries& series) {
  return static_cast<std::size_t>(std::ranges::max_element(series.speedup) - series.speedup.begin());
}

std::string named(const ReportModel& model, const SpeedupSeries& series) {
  return printable(model.label(*series.cases.front())) + (series.text.empty() ? "" : tr(" at {}", series.text));
}

std::string reached_text(const ReportModel& model, const SpeedupSeries& series, std::size_t i, Measure measure) {
  const std::string workers = counted(static_cast<std::size_t>(series.cases[i]->workers), "{} worker", "{} workers");
  if (series.speedup[i] < as_fast_below && series.workers[i] > 1.0)
    return tr("{} with {} is {}", named(model, series), workers, against_one(series.speedup[i]));
  const std::string name = named(model, series), speedup = times(series.speedup[i]);
  const std::string efficiency = percent(series.efficiency[i]);
  return measure == Measure::throughput
             ? tr("{} reaches a speed-up of {} with {} (efficiency {})", name, speedup, workers, efficiency)
             : tr("{} reaches a speed-up to target of {} with {} (efficiency to target {})", name, speedup, workers,
                  efficiency);
}

/// Returns whether the case with more workers is slower, and not by chance.
bool falls(const Case& best, const Case& last, Measure measure) {
  const Compared by = number_of(measure);
  const auto fast = compared(best.row, by), slow = compared(last.row, by);
  if (!fast || !slow || !(*fast < *slow)) return false;
  const Lead lead = difference(best.row, last.row, by).lead;
  return lead == Lead::clear || lead == Lead::one_seed;
}

/// Returns a sentence about larger numbers of workers: a speed-up that falls, or the bound by Amdahl's law.
std::string outlook(const ReportModel& model, const SpeedupSeries& series, Measure measure) {
  const std::size_t best = best_of(series);
  const std::size_t last = series.speedup.size() - 1;
  std::string text;
  if (best < last && falls(*series.cases[best], *series.cases[last], measure))
    text += tr(" More workers make {} slower: {} with {}.", named(model, series), times(series.speedup[last]),
               series.cases[last]->workers);
  else if (series.amdahl)
    text += tr(" Amdahl's law fits {} with a serial share of {}: at most {} with any number of workers.",
               named(model, series), percentage(series.amdahl->serial), times(1.0 / series.amdahl->serial));
  return text;
}

std::string sentence(const ReportModel& model, const Speedup& chart) {
  const auto by_best = [](const SpeedupSeries& each) { return each.speedup[best_of(each)]; };
  const auto most = std::ranges::max_element(chart.series, {}, by_best);
  const auto least = std::ranges::min_element(chart.series, {}, [](const auto& each) { return each.speedup.back(); });
  const std::size_t best = best_of(*most);
  std::string text = reached_text(model, *most, best, chart.measure);
  const auto because = [](const Case& one) {
    const std::string reason = overhead_text(one);
    return reason.empty() ? "" : tr(": ") + reason;
  };
  const double of_ideal = most->speedup[best] / most->workers[best];
  if (of_ideal < 0.95) text += because(*most->cases[best]);
  if (of_ideal > 1.0 + 1e-6 && chart.measure == Measure::time_to_target) text += tr(", more than ideal");
  const std::size_t end = least->speedup.size() - 1;
  const bool lower = most->speedup[best] - least->speedup[end] > equal_speedup_within * most->speedup[best];
  if (least != most && lower)
    text += tr(". The line that ends lowest: {}", reached_text(model, *least, end, chart.measure)) +
            because(*least->cases[end]);
  return text + tr(".") + outlook(model, *most, chart.measure);
}

Table table(const ReportModel& model, const Speedup& chart) {
  const std::string to = chart.measure == Measure::time_to_target ? " to target" : "";
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"workers"},         {"speed-up" + to},
                   {"low"},      {"high"},       {"efficiency" + to}, {"Amdahl's serial share"}};
  const auto finite = [](const std::vector<double>& numbers, std::size_t i) {
    return numbers.empty() || !std::isfinite(numbers[i]) ? std::nullopt : std::optional(numbers[i]);
  };
  for (const SpeedupSeries& series : chart.series)
    for (std::size_t i = 0; i < series.workers.size(); ++i)
      table.rows.push_back({model.label(*series.cases[i]), series.text, series.workers[i], series.speedup[i],
                            finite(series.low, i), finite(series.high, i), finite(series.efficiency, i),
                            series.amdahl ? std::optional(series.amdahl->serial) : std::nullopt});
  return table;
}

}  // namespace

std::optional<Speedup> speedup(const ReportModel& model) {
  const auto cases = sound_cases(model);
  const bool targets = std::ranges::all_of(
      cases, [](const Case* one) { return one->row.all_reached() && one->row.speedup_time_to_target; });
  Speedup chart;
  chart.measure = targets && !cases.empty() ? Measure::time_to_target : Measure::throughput;
  chart.series = all_series(model, chart.measure);
  if (chart.series.empty()) return std::nullopt;
  chart.sentence = sentence(model, chart);
  chart.table = table(model, chart);
  return chart;
}

void write(Writer& writer, const Amdahl& amdahl) {
  writer.begin_object();
  writer.member("serial", amdahl.serial);
  writer.rounded_member("workers", amdahl.workers);
  writer.rounded_member("speedup", amdahl.speedup);
  writer.end_object();
}

void write(Writer& writer, const Speedup& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "series", chart.series, [&](const SpeedupSeries& series) {
    writer.member("strategy", series.strategy);
    writer.member("text", series.text);
    writer.member("workers", series.workers);
    writer.member("speedup", series.speedup);
    writer.rounded_or_null("low", series.low);
    writer.rounded_or_null("high", series.high);
    writer.member("efficiency", series.efficiency);
    writer.member("amdahl", series.amdahl);
  });
  writer.member("measure", chart.measure == Measure::throughput ? "throughput" : "time_to_target");
  writer.end_object();
}

}  // namespace simgrad::outputs::report
