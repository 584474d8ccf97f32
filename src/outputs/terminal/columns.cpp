#include "outputs/terminal/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/leaders.h"
#include "outputs/terminal/table_footer.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs {
namespace {

using Cells = std::vector<std::string>;

template <class Text>
Cells cells_of(const std::vector<Row>& rows, Text text) {
  Cells cells;
  for (const Row& row : rows) cells.push_back(text(row));
  return cells;
}

/// Returns the cells of a number; "-" for rows without it.
template <class Text>
Cells number_cells(const std::vector<Row>& rows, std::optional<double> Row::*number, Text text) {
  return cells_of(rows, [&](const Row& row) { return row.*number ? std::string(text(*(row.*number))) : "-"; });
}

/// Returns a number of all rows; NaN for rows without it.
std::vector<double> numbers_of(const std::vector<Row>& rows, std::optional<double> Row::*number) {
  std::vector<double> numbers;
  for (const Row& row : rows) numbers.push_back((row.*number).value_or(nan));
  return numbers;
}

/// Returns the cells of a number in one unit; "-" for rows without it.
Cells number_cells(const std::vector<Row>& rows, std::optional<double> Row::*number, Quantity quantity) {
  return column_texts(quantity, numbers_of(rows, number));
}

std::string steps_done(double steps) {
  return steps == 1.0 ? tr("{} step done", count(steps)) : tr("{} steps done", count(steps));
}

/// title: the header, or its two lines with a bar between them.
Column titled(Column::Kind kind, const std::string& title, Cells cells) {
  const std::size_t bar = title.find('|');
  if (bar == std::string::npos) return {kind, "", title, std::move(cells)};
  return {kind, title.substr(0, bar), title.substr(bar + 1), std::move(cells)};
}

/// unit: of the times to the target.
std::string outcome_text(const Row& row, bool has_target, const ColumnUnit& unit) {
  if (row.reached > 0) {
    const std::string text = with_margin(*row.time_to_target_s, row.time_to_target_margin_s.value_or(nan),
                                         [&](double seconds) { return unit.text(seconds); });
    // A mean over some of the seeds must not pass for one over all.
    return row.all_reached() ? text : tr("{}, {} of {}", text, row.reached, row.seeds);
  }
  if (row.failed > 0) return row.failed == row.seeds ? tr("failed") : tr("{} of {} failed", row.failed, row.seeds);
  if (row.diverged > 0)
    return row.diverged == row.seeds ? tr("diverged") : tr("{} of {} diverged", row.diverged, row.seeds);
  if (has_target) return tr("not reached");
  if (row.ttft_s_median) return tr("answered");
  return row.steps ? steps_done(*row.steps) : tr("done");
}

/// best: the rows that no other is clearly ahead of.
std::string_view outcome_colour(const Row& row, const std::vector<const Row*>& best) {
  if (std::ranges::find(best, &row) != best.end()) return "\033[1;32m";
  if (!row.sound()) return "\033[31m";
  return row.reached > 0 ? "\033[32m" : "";
}

Column outcome_column(const Comparison& c) {
  const ColumnUnit unit(Quantity::time, numbers_of(c.rows, &Row::time_to_target_s));
  Column column = titled(Column::outcome, c.has_target ? tr("time to|target") : tr("outcome"),
                         cells_of(c.rows, [&](const Row& row) { return outcome_text(row, c.has_target, unit); }));
  const std::vector<const Row*> to_target = ranked(c, by_time_to_target);
  std::vector<const Row*> best;
  for (const std::size_t i : leaders(to_target, by_time_to_target).all) best.push_back(to_target[i]);
  for (const Row& row : c.rows) column.colours.push_back(outcome_colour(row, best));
  return column;
}

void add_grid_columns(std::vector<Column>& columns, const Comparison& c) {
  for (const std::string& key : c.parameters) {
    if (key == "cluster.workers") continue;  // has a column of its own
    const auto value = [&](const Row& row) { return value_text(row.parameters.value(key, nlohmann::ordered_json())); };
    columns.push_back({Column::parameter, "", short_name(key, c.parameters), cells_of(c.rows, value)});
  }
}

}  // namespace

std::size_t Column::width() const {
  const bool shares_title = kind == throughput || kind == to_target || (kind >= ttft_median && kind <= tpot_tail);
  std::size_t most = std::max(display_width(header), shares_title ? 0 : display_width(above));
  for (const std::string& cell : cells) most = std::max(most, display_width(cell));
  return most;
}

Cells label_cells(const std::vector<Row>& rows, std::size_t width) {
  return cells_of(rows, [&](const Row& row) { return cut_middle(printable(row.label), width); });
}

Cells bar_cells(const std::vector<Row>& rows, std::size_t width) {
  return cells_of(rows, [&](const Row& row) {
    const auto cells = apportioned(row.parts_s.value_or(std::array<double, 4>{}), static_cast<int>(width));
    std::string bar;
    for (std::size_t k = 0; k < cells.size(); ++k) bar += repeated(shades[k], static_cast<std::size_t>(cells[k]));
    return bar.empty() ? "-" : bar;
  });
}

void name_lone_speedup(std::vector<Column>& columns) {
  const auto is = [](Column::Kind kind) { return [kind](const Column& column) { return column.kind == kind; }; };
  const auto lone = std::find_if(columns.begin(), columns.end(), is(Column::to_target));
  if (lone != columns.end() && std::none_of(columns.begin(), columns.end(), is(Column::throughput)))
    lone->header = tr("to target");
}

namespace {

void add_answer_columns(std::vector<Column>& columns, const std::vector<Row>& rows) {
  columns.push_back(
      titled(Column::ttft_median, tr("first token|median"), number_cells(rows, &Row::ttft_s_median, Quantity::time)));
  columns.push_back(
      titled(Column::ttft_tail, tr("first token|99 %"), number_cells(rows, &Row::ttft_s_p99, Quantity::time)));
  columns.push_back(
      titled(Column::tpot_median, tr("each token|median"), number_cells(rows, &Row::tpot_s_median, Quantity::time)));
  columns.push_back(
      titled(Column::tpot_tail, tr("each token|99 %"), number_cells(rows, &Row::tpot_s_p99, Quantity::time)));
  columns.push_back(
      titled(Column::million_tokens, tr("1 M|tokens"), number_cells(rows, &Row::dollars_per_million_tokens, dollars)));
}

}  // namespace

std::vector<Column> all_columns(const Comparison& c) {
  const std::vector<Row>& rows = c.rows;
  const auto percent = [](double x) { return whole(100.0 * x) + "%"; };
  const auto tenths_of_percent = [](double x) { return fmt::format("{:.1f}%", 100.0 * x); };
  const auto plain = [](double x) { return number_text(x, 4); };

  std::vector<Column> columns;
  columns.push_back(titled(Column::label, tr("strategy"), label_cells(rows, std::string::npos)));
  add_grid_columns(columns, c);
  columns.push_back(titled(Column::workers, tr("workers"),
                           cells_of(rows, [](const Row& row) { return whole(static_cast<double>(row.workers)); })));
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.seeds > 1; })) {
    columns.push_back(
        titled(Column::seeds, tr("seeds"), cells_of(rows, [](const Row& row) { return std::to_string(row.seeds); })));
  }
  columns.push_back(
      titled(Column::simulated, tr("simulated|time"), number_cells(rows, &Row::simulated_s, Quantity::time)));
  columns.push_back(outcome_column(c));
  columns.push_back(
      titled(Column::throughput, tr("speed-up|samples/s"), number_cells(rows, &Row::speedup_throughput, speedup_text)));
  columns.push_back(
      titled(Column::to_target, tr("speed-up|target"), number_cells(rows, &Row::speedup_time_to_target, speedup_text)));
  columns.push_back(titled(Column::efficiency, tr("efficiency"), number_cells(rows, &Row::efficiency, percent)));
  columns.push_back(titled(Column::tokens, tr("tokens/s"), number_cells(rows, &Row::tokens_per_s, Quantity::count)));
  add_answer_columns(columns, rows);
  columns.push_back(titled(Column::mfu, tr("MFU"), number_cells(rows, &Row::mfu, tenths_of_percent)));
  columns.push_back(titled(Column::memory, tr("peak|memory"), number_cells(rows, &Row::memory_bytes, Quantity::bytes)));
  columns.push_back(titled(Column::bar, tr("time|went to"), bar_cells(rows, bar_cells_most)));
  columns.push_back(titled(Column::cost, tr("cost"), number_cells(rows, &Row::cost_usd, dollars)));
  columns.push_back(titled(Column::energy, tr("energy"), number_cells(rows, &Row::energy_j, Quantity::energy)));
  columns.push_back(titled(Column::bytes, tr("bytes|sent"), number_cells(rows, &Row::bytes, Quantity::bytes)));
  columns.push_back(titled(Column::messages, tr("messages"), number_cells(rows, &Row::messages, Quantity::count)));
  columns.push_back(titled(Column::loss, tr("final|loss"), number_cells(rows, &Row::final_loss, plain)));
  columns.push_back(titled(Column::metric, tr("final|metric"), number_cells(rows, &Row::final_metric, plain)));
  if (!c.metric_name.empty()) columns.back().header = printable(c.metric_name);
  // A column without any cell to show goes: there is no baseline, no target, or no numbers.
  std::erase_if(columns, [](const Column& column) {
    const auto& cells = column.cells;
    return column.kind >= Column::throughput &&
           std::all_of(cells.begin(), cells.end(), [](const auto& x) { return x == "-"; });
  });
  // Where no run has a target, and all did as many steps, the outcome tells nothing.
  std::erase_if(columns, [&](const Column& column) {
    const bool alike = std::ranges::all_of(column.cells, [&](const auto& x) { return x == column.cells.front(); });
    return column.kind == Column::outcome && !c.has_target && rows.size() > 1 && alike && rows.front().sound();
  });
  name_lone_speedup(columns);
  return columns;
}

}  // namespace simgrad::outputs
