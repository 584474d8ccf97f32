#include "outputs/report/charts/staleness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

constexpr double ages_alike_within = 0.05;  ///< mean ages that are not told apart

using Counts = std::map<std::int64_t, std::int64_t>;

Counts counts_of(const Case& one) {
  Counts counts;
  for (const Run* run : one.runs)
    for (const auto& [value, count] : run->record.staleness_counts) counts[value] += count;
  return counts;
}

StalenessRow staleness_of(const Case& one) {
  const Counts counts = counts_of(one);
  const std::int64_t first = counts.begin()->first;
  const std::int64_t range = counts.rbegin()->first - first + 1;
  const std::int64_t width =
      counts.size() <= most_bars_a_row ? 1 : (range - 1) / static_cast<std::int64_t>(most_bars_a_row) + 1;
  StalenessRow row;
  row.one = &one;
  for (const auto& [value, count] : counts) {
    const std::int64_t low = first + (value - first) / width * width;
    if (row.values.empty() || row.values.back() != low) {
      row.values.push_back(low);
      row.counts.push_back(0);
    }
    row.counts.back() += count;
  }
  return row;
}

double mean(const Case& one) {
  double sum = 0.0;
  double gradients = 0.0;
  for (const auto& [value, count] : counts_of(one)) {
    sum += static_cast<double>(value) * static_cast<double>(count);
    gradients += static_cast<double>(count);
  }
  return gradients > 0.0 ? sum / gradients : 0.0;
}

std::string ages(const Case& one) {
  return tr("{} updates old on average, {} at most", three_digits(mean(one)), counts_of(one).rbegin()->first);
}

/// Explains a mean near P - 1: with P equally fast workers of a server, the P - 1 others update between a pull and its
/// push.
std::string expected(const Case& one) {
  const auto& ranks = one.runs.front()->record.ranks;
  const bool serves = std::ranges::any_of(ranks, [](const auto& rank) { return rank.role != "worker"; });
  if (one.workers < 2 || !serves) return "";
  const auto others = static_cast<double>(one.workers - 1);
  const double off = std::abs(mean(one) - others) / others;
  if (!(off < 0.1)) return "";
  return one.workers == 2 ? tr(", because the other worker updates between a pull and its push")
                          : tr(", because the other {} workers update between a pull and its push", one.workers - 1);
}

std::int64_t oldest(const Staleness& chart) {
  std::int64_t most = 0;
  for (const StalenessRow& row : chart.rows) most = std::max(most, counts_of(*row.one).rbegin()->first);
  return most;
}

std::string sentence(const ReportModel& model, const Staleness& chart) {
  const auto mean_of_row = [](const StalenessRow& row) { return mean(*row.one); };
  const auto most = std::ranges::max_element(chart.rows, {}, mean_of_row);
  const auto least = std::ranges::min_element(chart.rows, {}, mean_of_row);
  if (mean(*most->one) == 0.0) return tr("No gradient is stale: each is applied before any other update.");
  if (chart.rows.size() > 1 && mean(*least->one) >= (1.0 - ages_alike_within) * mean(*most->one))
    return tr(
        "The gradients of all {} cases are alike in age, within 5 %: {} to {} updates old on average, {} at most.",
        chart.rows.size(), three_digits(mean(*least->one)), three_digits(mean(*most->one)), oldest(chart));
  std::string text =
      tr("{} applies the oldest gradients: {}{}.", model.named(*most->one), ages(*most->one), expected(*most->one));
  if (mean(*least->one) < mean(*most->one))
    text += tr(" {} applies the freshest: {}.", model.named(*least->one), ages(*least->one));
  return text;
}

}  // namespace

std::optional<Staleness> staleness(const ReportModel& model) {
  Staleness chart;
  chart.table.columns = {{"strategy"}, {"parameters"}, {"staleness", "updates"}, {"gradients"}};
  for (const Case* one : model.ran()) {
    if (counts_of(*one).empty()) continue;
    chart.rows.push_back(staleness_of(*one));
    const StalenessRow& row = chart.rows.back();
    for (std::size_t i = 0; i < row.values.size(); ++i)
      chart.table.rows.push_back({model.label(*one), model.text(*one), row.values[i], row.counts[i]});
  }
  if (chart.rows.empty()) return std::nullopt;
  chart.sentence = sentence(model, chart);
  chart.about = subject_of(
      *std::ranges::max_element(chart.rows, {}, [](const StalenessRow& row) { return mean(*row.one); })->one);
  return chart;
}

void write(Writer& writer, const Staleness& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "rows", chart.rows, [&](const StalenessRow& row) {
    writer.member("strategy", row.one->strategy);
    writer.member("point", row.one->point);
    writer.member("values", row.values);
    writer.member("counts", row.counts);
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
