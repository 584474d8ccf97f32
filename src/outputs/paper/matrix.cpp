#include "outputs/paper/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/pairs.h"
#include "outputs/paper/latex.h"
#include "outputs/paper/latex_text.h"

namespace simgrad::outputs::paper {
namespace {

bool is_tested(const Pair& pair) { return !std::isnan(pair.p); }

std::string caption_of_matrix(const PointPairs& point, Compared by) {
  const auto [least, most] = std::ranges::minmax(point.pairs, {}, &Pair::seeds);
  const std::string seeds =
      least.seeds == most.seeds ? fmt::format("{}", most.seeds) : fmt::format("{} to {}", least.seeds, most.seeds);
  const auto tested = std::ranges::count_if(point.pairs, is_tested);
  const std::string at = point_text(point.rows.front()->parameters);
  std::string text = fmt::format(
      "Differences in {}{}: p-values of paired t tests over {} seeds, corrected by Holm's method for {}. In "
      "bold: below 0.05. Strategies are in the order of their means, the fastest first",
      by.to_target ? "time to target" : "time per sample", at.empty() ? "" : " at " + at, seeds,
      tested == 1 ? "1 pair" : fmt::format("{} pairs", tested));
  if (point.rows.size() > most_in_matrix) text += fmt::format("; the first {} are shown", most_in_matrix);
  text += ".";
  if (!std::ranges::all_of(point.pairs, is_tested))
    text += " A dash: the difference is the same with every seed, so no test is needed.";
  return latex_text(text);
}

double p_value_of(const PointPairs& point, std::size_t first, std::size_t second) {
  const auto found =
      std::ranges::find_if(point.pairs, [&](const Pair& pair) { return pair.first == first && pair.second == second; });
  return found == point.pairs.end() ? nan : found->p_holm;
}

std::string matrix_of(const PointPairs& point, Compared by) {
  const std::size_t size = std::min(point.rows.size(), most_in_matrix);
  std::string text = "\\begin{table}[htbp]\n\\centering\n";
  text += fmt::format("\\caption{{{}}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\n", caption_of_matrix(point, by),
                      std::string(size - 1, 'r'));
  for (std::size_t j = 1; j < size; ++j) text += fmt::format(" & ({})", j);
  text += " \\\\\n\\midrule\n";
  for (std::size_t i = 0; i < size; ++i) {
    text += fmt::format("{{}}({}) {}", i + 1, latex_text(point.rows[i]->label));
    for (std::size_t j = 0; j + 1 < size; ++j)
      text += j < i ? " & " + latex_p_value(p_value_of(point, j, i)) : std::string(" &");
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace

std::string matrices(const Results& results) {
  const Comparison all = comparison(results);
  const Compared by = pairs_compared_by(all);
  std::string text;
  std::size_t written = 0, left_out = 0;
  for (const auto& rows : rows_by_point(all)) {
    const PointPairs point = compared_in_pairs(rows, by);
    if (point.pairs.empty()) continue;
    if (written == most_matrices) {
      ++left_out;
      continue;
    }
    text += '\n' + matrix_of(point, by);
    ++written;
  }
  if (left_out > 0) text += fmt::format("% The pairs of {} more grid points are in pairs.csv.\n", left_out);
  return text;
}

}  // namespace simgrad::outputs::paper
