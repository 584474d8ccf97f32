#include "outputs/paper/latex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/paper/latex_text.h"
#include "outputs/paper/matrix.h"
#include "outputs/paper/methods.h"
#include "outputs/point_summary.h"
#include "outputs/terminal/columns.h"

namespace simgrad::outputs::paper {
namespace {

using Json = nlohmann::ordered_json;

/// A unit as LaTeX, and its size in the unit of results.json.
struct PaperUnit {
  double size;
  const char* text;
};
constexpr std::array<PaperUnit, 7> seconds{
    {{1e-9, "ns"}, {1e-6, "$\\mu$s"}, {1e-3, "ms"}, {1.0, "s"}, {60.0, "min"}, {3600.0, "h"}, {86400.0, "d"}}};
constexpr std::array<PaperUnit, 6> bytes{
    {{1.0, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}}};
constexpr std::array<PaperUnit, 5> joules{{{1.0, "J"}, {1e3, "kJ"}, {1e6, "MJ"}, {1e9, "GJ"}, {1e12, "TJ"}}};
constexpr std::array<PaperUnit, 4> counts{{{1.0, ""}, {1e3, "$10^3$"}, {1e6, "$10^6$"}, {1e9, "$10^9$"}}};
constexpr std::array<PaperUnit, 1> dollars{{{1.0, "\\$"}}};
constexpr std::array<PaperUnit, 1> percent{{{0.01, "\\%"}}};
constexpr std::array<PaperUnit, 1> plain{{{1.0, ""}}};

/// The numbers of a column: those of the summary by their name, with intervals, or else those of the rows.
struct Quantity {
  Column::Kind kind;
  const char* name;
  std::optional<double> Row::*number;
  std::span<const PaperUnit> units;
};
const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = {
      {Column::simulated, "simulated_s", nullptr, seconds},
      {Column::outcome, "time_to_target_s", nullptr, seconds},
      {Column::throughput, "speedup_throughput", nullptr, plain},
      {Column::to_target, "speedup_time_to_target", nullptr, plain},
      {Column::efficiency, "efficiency", nullptr, percent},
      {Column::tokens, nullptr, &Row::tokens_per_s, counts},
      {Column::ttft_median, nullptr, &Row::ttft_s_median, seconds},
      {Column::ttft_tail, nullptr, &Row::ttft_s_p99, seconds},
      {Column::tpot_median, nullptr, &Row::tpot_s_median, seconds},
      {Column::tpot_tail, nullptr, &Row::tpot_s_p99, seconds},
      {Column::million_tokens, nullptr, &Row::dollars_per_million_tokens, dollars},
      {Column::mfu, nullptr, &Row::mfu, percent},
      {Column::memory, nullptr, &Row::memory_bytes, bytes},
      {Column::cost, "cost_usd", nullptr, dollars},
      {Column::energy, "energy_j", nullptr, joules},
      {Column::loss, "final_loss", nullptr, plain},
      {Column::metric, nullptr, &Row::final_metric, plain}};
  return all;
}

double or_nan(const Json& value) { return value.is_number() ? value.get<double>() : nan; }

Interval interval_of(const Quantity& quantity, const Row& row, const Json& summary) {
  if (quantity.number) return {(row.*quantity.number).value_or(nan), nan, nan};
  const std::string name = quantity.name;
  return {or_nan(summary[name]), or_nan(summary[name + "_low"]), or_nan(summary[name + "_high"])};
}

/// Returns the largest unit in which at least half of the numbers are 1 or more; the smallest if there is none.
PaperUnit unit_of(std::span<const PaperUnit> units, const std::vector<Interval>& numbers) {
  std::vector<double> sizes;
  for (const Interval& each : numbers)
    if (std::isfinite(each.mean) && each.mean != 0.0) sizes.push_back(std::abs(each.mean));
  if (sizes.empty()) return units.front();
  std::ranges::sort(sizes);
  const double median = sizes[sizes.size() / 2];
  PaperUnit best = units.front();
  for (const PaperUnit& each : units)
    if (each.size <= median) best = each;
  return best;
}

/// A cell of the terminal's table decides whether a number is shown: it has a sign or a word where there is none.
std::string number_cell(const Quantity& quantity, const Row& row, const Interval& number, const PaperUnit& unit,
                        const std::string& of_terminal) {
  const bool outcome = quantity.kind == Column::outcome;
  if (of_terminal == "-") return "--";
  if (!std::isfinite(number.mean) || (outcome && row.reached == 0)) return latex_text(of_terminal);
  std::string text = latex_number(number.mean / unit.size, (number.high - number.mean) / unit.size);
  if (outcome && !row.all_reached()) text += fmt::format(" ({} of {})", row.reached, row.seeds);
  return text;
}

/// Puts LaTeX into the cells of a column, and the unit into its header.
void typeset(Column& column, const Comparison& all, const std::vector<Json>& summaries) {
  const auto quantity = std::ranges::find(quantities(), column.kind, &Quantity::kind);
  column.above = latex_text(column.above);
  column.header = latex_text(column.header);
  if (quantity == quantities().end()) {
    for (std::string& cell : column.cells) cell = latex_text(cell);
    return;
  }
  std::vector<Interval> numbers;
  for (std::size_t r = 0; r < all.rows.size(); ++r)
    numbers.push_back(interval_of(*quantity, all.rows[r], summaries[r]));
  const PaperUnit unit = unit_of(quantity->units, numbers);
  const bool any = std::ranges::any_of(numbers, [](const Interval& each) { return std::isfinite(each.mean); });
  if (any && *unit.text != '\0') column.header += fmt::format(" [{}]", unit.text);
  for (std::size_t r = 0; r < column.cells.size(); ++r)
    column.cells[r] = number_cell(*quantity, all.rows[r], numbers[r], unit, column.cells[r]);
}

/// The header's two lines; neighbours with one title share it over a rule.
std::string header_lines(const std::vector<Column>& columns) {
  std::string titles, rules, names;
  for (std::size_t i = 0; i < columns.size();) {
    const std::string& title = columns[i].above;
    std::size_t next = i + 1;
    while (next < columns.size() && !title.empty() && columns[next].above == title) ++next;
    if (i > 0) titles += " & ";
    if (next - i > 1) {
      titles += fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", next - i, title);
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", i + 1, next);
    } else {
      titles += title;
    }
    i = next;
  }
  for (const Column& column : columns) names += (names.empty() ? "" : " & ") + column.header;
  const bool titled = std::ranges::any_of(columns, [](const Column& column) { return !column.above.empty(); });
  return (titled ? titles + " \\\\\n" + rules + (rules.empty() ? "" : "\n") : "") + names + " \\\\\n";
}

std::string caption_of_table(const Results& results) {
  std::string text = results.title.empty() ? results.name : results.title;
  if (!text.empty() && text.back() != '.') text += '.';
  const std::string seeds = seeds_text(results), target = target_text(results);
  const bool several =
      std::ranges::any_of(results.runs, [&](const Run& run) { return run.seed != results.runs.front().seed; });
  std::string caption = latex_text(text + (several ? " Means over " + seeds + "; " : " Results of " + seeds + "."));
  if (several) caption += "$\\pm$: half of the 95\\,\\% interval, left out where it rounds to 0.";
  if (!target.empty()) caption += latex_text(" Target: " + target + ".");
  return caption;
}

std::string table_of_means(const Results& results, const Comparison& all) {
  std::vector<Column> columns = all_columns(all);
  std::erase_if(columns, [](const Column& column) {
    return column.kind == Column::bar || column.kind == Column::bytes || column.kind == Column::messages;
  });
  const std::vector<Json> summaries = point_summaries(results);
  std::string alignment;
  for (Column& column : columns) {
    typeset(column, all, summaries);
    alignment += column.align() == Align::left ? 'l' : 'r';
  }
  std::string text = "\\begin{table}[htbp]\n\\centering\n\\small\n";
  text += fmt::format("\\caption{{{}}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n", caption_of_table(results), alignment);
  text += header_lines(columns) + "\\midrule\n";
  for (std::size_t r = 0; r < all.rows.size(); ++r) {
    if (r > 0 && all.rows[r].parameters != all.rows[r - 1].parameters) text += "\\midrule\n";
    text += "{}";  // no label is taken for an option of the line's end before it
    for (std::size_t k = 0; k < columns.size(); ++k) text += (k > 0 ? " & " : "") + columns[k].cells[r];
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace

std::string latex(const Results& results) {
  const Comparison all = comparison(results);
  const std::string body = (all.rows.empty() ? std::string() : table_of_means(results, all)) + matrices(results) +
                           "\n\\paragraph{Simulation.} " + latex_text(methods(results)) + '\n';
  std::string head(beginning_of_latex);
  head += " Needs \\usepackage{booktabs}.";
  if (std::ranges::any_of(body, [](char c) { return static_cast<unsigned char>(c) > 127; }))
    head += " Has characters beyond ASCII: compile with lualatex or xelatex, and a font that has them.";
  return head + '\n' + body;
}

}  // namespace simgrad::outputs::paper
