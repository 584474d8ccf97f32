#include "outputs/report/charts/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

bool is_tested(const Pair& pair) { return !std::isnan(pair.p); }
bool is_significant(const Pair& pair) { return is_tested(pair) && pair.p_holm < significant_below; }

/// Numbers of pairs.
struct PairCounts {
  std::size_t tested = 0;
  std::size_t significant = 0;
  std::size_t constant = 0;  ///< the difference is the same with every seed

  void add(const std::vector<Pair>& pairs) {
    for (const Pair& pair : pairs) {
      ++(is_tested(pair) ? tested : constant);
      significant += is_significant(pair) ? 1 : 0;
    }
  }
};

/// A grid point with pairs, and the labels of its strategies for sentences.
struct PointOfPairs {
  PointPairs found;
  std::vector<std::string> labels;
  std::size_t competing = 0;  ///< strategies with a mean, of which the first are compared
  std::size_t unsound = 0;    ///< strategies that missed the target, diverged or failed with some seed
  Compared by = by_time_to_target;
};

/// Returns whether a difference in a pair, of this size, is more than rounding.
bool is_more_than_rounding(const PointOfPairs& point, const Pair& pair, double difference) {
  constexpr double rounding = 1e-12;
  return difference > rounding * *compared(*point.found.rows[pair.second], point.by);
}

/// Returns whether the second strategy of a pair is behind by more than chance; a difference that is the same with
/// every seed is no chance, unless it is rounding.
bool is_surely_behind(const PointOfPairs& point, const Pair& pair) {
  if (is_tested(pair)) return is_significant(pair) && pair.behind.mean > 0.0;
  return is_more_than_rounding(point, pair, pair.behind.mean);
}

/// The labels of the strategies that are compared with the fastest.
struct Others {
  std::vector<std::string> behind;   ///< by more than chance
  std::vector<std::string> level;    ///< not behind by more than chance
  std::vector<std::string> unknown;  ///< with fewer than two seeds in common
};

Others others_of(const PointOfPairs& point) {
  Others others;
  for (std::size_t j = 1; j < point.found.rows.size(); ++j) {
    const auto pair =
        std::ranges::find_if(point.found.pairs, [&](const Pair& each) { return each.first == 0 && each.second == j; });
    auto& labels = pair == point.found.pairs.end()  ? others.unknown
                   : is_surely_behind(point, *pair) ? others.behind
                                                    : others.level;
    labels.push_back(point.labels[j]);
  }
  return others;
}

std::string seeds_text(const PairsRow& row) {
  if (row.least_seeds == row.most_seeds) return fmt::format("{}", row.most_seeds);
  return tr("{} to {}", row.least_seeds, row.most_seeds);
}

/// Tells of a grid point's only pair which strategy is faster. Over the seeds in common it may be the one with the
/// greater mean.
std::string pair_in_words(const PointOfPairs& point, const Pair& pair, const std::string& seeds) {
  std::string first = point.labels[pair.first], second = point.labels[pair.second];
  if (pair.behind.mean < 0.0) std::swap(first, second);
  if (is_tested(pair))
    return is_significant(pair)
               ? tr("{} is faster than {} by more than chance (p below 0.05, {} seeds).", first, second, seeds)
               : tr("{} and {} do not differ by more than chance (p of 0.05 or more, {} seeds).", first, second, seeds);
  return is_more_than_rounding(point, pair, std::abs(pair.behind.mean))
             ? tr("{} is faster than {} by the same time with every seed, so no test is needed.", first, second)
             : tr("{} and {} take the same time with every seed, so no test is needed.", first, second);
}

/// Tells how many pairs of a grid point differ by more than chance.
std::string pairs_in_words(const PointOfPairs& point, const PairsRow& row) {
  PairCounts counts;
  counts.add(point.found.pairs);
  const std::string seeds = seeds_text(row);
  if (point.found.pairs.size() == 1) return pair_in_words(point, point.found.pairs[0], seeds);
  std::string text;
  if (counts.tested > 0)
    text = tr("Pairs of strategies that differ by more than chance: {} of {} (corrected p below 0.05, {} seeds).",
              counts.significant, counts.tested, seeds);
  if (counts.constant > 0) {
    if (!text.empty()) text += between_sentences();
    text += tr("Pairs whose difference is the same with every seed, so that no test is needed: {}.", counts.constant);
  }
  return text;
}

/// Tells of whom the fastest is ahead, where there are several others.
std::string fastest_in_words(const PointOfPairs& point) {
  if (point.found.rows.size() < 3) return "";
  const Others others = others_of(point);
  const std::string& fastest = point.labels[0];
  const std::size_t known = others.behind.size() + others.level.size();
  std::string text;
  if (known == 1 && point.found.pairs.size() > 1)
    text = others.level.empty()
               ? tr(" The fastest, {}, is ahead of {} by more than chance.", fastest, others.behind[0])
               : tr(" The fastest, {}, is not ahead of {} by more than chance.", fastest, others.level[0]);
  else if (known > 1 && others.level.empty())
    text = tr(" The fastest, {}, is ahead of all {} others by more than chance.", fastest, known);
  else if (known > 1 && others.behind.empty())
    text = tr(" The fastest, {}, is ahead of none of the {} others by more than chance.", fastest, known);
  else if (known > 1)
    text = tr(" The fastest, {}, is ahead of {} of {} others by more than chance, but not of {}.", fastest,
              others.behind.size(), known, listed(others.level));
  if (!others.unknown.empty())
    text += tr(" {} has fewer than two seeds in common with {}.", fastest, listed(others.unknown));
  return text;
}

/// Tells which strategies are not compared.
std::string left_out_in_words(const PointOfPairs& point) {
  std::string text;
  if (point.competing > point.found.rows.size())
    text += tr(" Only the {} fastest of {} strategies are compared.", point.found.rows.size(), point.competing);
  if (point.unsound == 0) return text;
  if (point.by.to_target)
    return text + counted(point.unsound, " {} more strategy is not compared: it missed the target with some seed.",
                          " {} more strategies are not compared: they missed the target with some seed.");
  return text + counted(point.unsound, " {} more strategy is not compared: it diverged or failed with some seed.",
                        " {} more strategies are not compared: they diverged or failed with some seed.");
}

/// Tells of all grid points together.
std::string sentence_on_points(const std::vector<PointOfPairs>& points) {
  PairCounts counts;
  std::size_t ahead_of_all = 0;
  for (const PointOfPairs& point : points) {
    counts.add(point.found.pairs);
    ahead_of_all += others_of(point).behind.size() + 1 == point.found.rows.size() ? 1 : 0;
  }
  std::string text;
  if (counts.tested > 0)
    text =
        tr("Over {} grid points, pairs of strategies that differ by more than chance: {} of {} (p below 0.05, "
           "corrected at each grid point).",
           points.size(), counts.significant, counts.tested);
  if (counts.constant > 0) {
    if (!text.empty()) text += between_sentences();
    text += tr("Pairs whose difference is the same with every seed, so that no test is needed: {}.", counts.constant);
  }
  return text + tr(" Grid points at which the fastest is ahead of all others by more than chance: {} of {}.",
                   ahead_of_all, points.size());
}

PointOfPairs point_of_pairs(const ReportModel& model, const std::vector<const Row*>& rows) {
  PointOfPairs point;
  point.by = pairs_compared_by(model.comparison);
  point.found = compared_in_pairs(rows, point.by);
  for (const Row* row : point.found.rows) point.labels.push_back(printable(row->label));
  for (const Row* row : rows) {
    point.competing += compared(*row, point.by) ? 1 : 0;
    point.unsound += (point.by.to_target ? row->all_reached() : row->sound()) ? 0 : 1;
  }
  return point;
}

PairsRow pairs_row(const ReportModel& model, const PointOfPairs& point) {
  const auto case_of = [&](const Row* row) -> const Case& {
    return model.cases[static_cast<std::size_t>(row - model.comparison.rows.data())];
  };
  PairsRow made;
  const std::size_t size = std::min(point.found.rows.size(), most_in_matrix);
  for (std::size_t i = 0; i < size; ++i) {
    made.strategies.push_back(case_of(point.found.rows[i]).strategy);
    made.means.push_back(*compared(*point.found.rows[i], point.by));
  }
  made.fastest = subject_of(case_of(point.found.rows.front()));
  made.left_out = point.found.rows.size() - size;
  const auto [least, most] = std::ranges::minmax(point.found.pairs, {}, &Pair::seeds);
  made.least_seeds = least.seeds;
  made.most_seeds = most.seeds;
  for (const Pair& pair : point.found.pairs) {
    made.tested += is_tested(pair) ? 1 : 0;
    if (pair.second < size) made.cells.push_back(pair);
  }
  made.sentence = pairs_in_words(point, made) + fastest_in_words(point) + left_out_in_words(point);
  return made;
}

void add_rows(Table& table, const PointOfPairs& point, const std::string& at) {
  for (const Pair& pair : point.found.pairs)
    table.rows.push_back({point.found.rows[pair.first]->label, point.found.rows[pair.second]->label, at,
                          static_cast<std::int64_t>(pair.seeds), pair.behind.mean, pair.behind.low, pair.behind.high,
                          pair.p, pair.p_holm});
}

}  // namespace

std::optional<Pairs> pairs(const ReportModel& model) {
  if (model.cases.empty() || model.cases.front().conditions.jobs) return std::nullopt;
  Pairs chart;
  chart.to_target = pairs_compared_by(model.comparison).to_target;
  chart.table.columns = {{"strategy"},
                         {"other strategy"},
                         {"parameters"},
                         {"seeds"},
                         {"difference", "s"},
                         {"difference, low", "s"},
                         {"difference, high", "s"},
                         {"p"},
                         {"corrected p"}};
  std::vector<PointOfPairs> points;
  for (const auto& rows : rows_by_point(model.comparison)) {
    PointOfPairs point = point_of_pairs(model, rows);
    if (point.found.pairs.empty()) continue;
    chart.rows.push_back(pairs_row(model, point));
    add_rows(chart.table, point, model.points[chart.rows.back().fastest.point].text);
    points.push_back(std::move(point));
  }
  if (points.empty()) return std::nullopt;
  chart.sentence = points.size() > 1 ? sentence_on_points(points) : chart.rows.front().sentence;
  return chart;
}

void write(Writer& writer, const Pairs& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  writer.member("to_target", chart.to_target);
  write_objects(writer, "rows", chart.rows, [&](const PairsRow& row) {
    writer.member("strategy", row.fastest.strategy);
    writer.member("point", row.fastest.point);
    writer.member("sentence", row.sentence);
    writer.member("strategies", row.strategies);
    writer.member("means", row.means);
    writer.member("left_out", row.left_out);
    writer.member("tested", row.tested);
    writer.member("seeds", std::vector{row.least_seeds, row.most_seeds});
    write_objects(writer, "cells", row.cells, [&](const Pair& pair) {
      writer.member("first", pair.first);
      writer.member("second", pair.second);
      writer.member("seeds", pair.seeds);
      writer.member("difference", pair.behind.mean);
      writer.member("low", pair.behind.low);
      writer.member("high", pair.behind.high);
      writer.member("p", pair.p_holm);
    });
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
