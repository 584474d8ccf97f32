#include "outputs/terminal/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/terminal/table_footer.h"
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

std::string outcome_text(const Row& row, bool has_target) {
  if (row.reached > 0) {
    std::string text = duration(*row.time_to_target_s);
    if (row.time_to_target_spread) text += fmt::format(" ± {:.0f}%", 100.0 * *row.time_to_target_spread);
    // A mean over some of the seeds must not pass for one over all.
    return row.all_reached() ? text : fmt::format("{}, {} of {}", text, row.reached, row.seeds);
  }
  const auto partly = [&](std::string_view outcome, std::int64_t some) {
    return some == row.seeds ? std::string(outcome) : fmt::format("{} of {} {}", some, row.seeds, outcome);
  };
  if (row.failed > 0) return partly("failed", row.failed);
  if (row.diverged > 0) return partly("diverged", row.diverged);
  return has_target ? "not reached" : "stopped";
}

std::string_view outcome_colour(const Row& row, const Row* best) {
  if (&row == best) return "\033[1;32m";
  if (!row.sound()) return "\033[31m";
  return row.reached > 0 ? "\033[32m" : "";
}

Column outcome_column(const Comparison& c) {
  Column column{Column::outcome, "", "outcome",
                cells_of(c.rows, [&](const Row& row) { return outcome_text(row, c.has_target); })};
  if (c.has_target) {
    column.above = "time to";
    column.header = "target";
  }
  const Row* best = fastest(c);
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
  const bool shares_title = kind == throughput || kind == to_target;
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
    lone->header = "to target";
}

std::vector<Column> all_columns(const Comparison& c) {
  const std::vector<Row>& rows = c.rows;
  const auto times = [](double x) { return three_digits(x) + "x"; };
  const auto percent = [](double x) { return fmt::format("{:.0f}%", 100.0 * x); };
  const auto plain = [](double x) { return fmt::format("{:.4g}", x); };

  std::vector<Column> columns;
  columns.push_back({Column::label, "", "strategy", label_cells(rows, std::string::npos)});
  add_grid_columns(columns, c);
  columns.push_back(
      {Column::workers, "", "workers", cells_of(rows, [](const Row& row) { return std::to_string(row.workers); })});
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.seeds > 1; })) {
    columns.push_back(
        {Column::seeds, "", "seeds", cells_of(rows, [](const Row& row) { return std::to_string(row.seeds); })});
  }
  columns.push_back({Column::simulated, "simulated", "time", number_cells(rows, &Row::simulated_s, duration)});
  columns.push_back(outcome_column(c));
  columns.push_back({Column::throughput, "speed-up", "samples/s", number_cells(rows, &Row::speedup_throughput, times)});
  columns.push_back({Column::to_target, "speed-up", "target", number_cells(rows, &Row::speedup_time_to_target, times)});
  columns.push_back({Column::efficiency, "", "efficiency", number_cells(rows, &Row::efficiency, percent)});
  columns.push_back({Column::bar, "time", "went to", bar_cells(rows, bar_cells_most)});
  columns.push_back({Column::cost, "", "cost", number_cells(rows, &Row::cost_usd, dollars)});
  columns.push_back({Column::energy, "", "energy", number_cells(rows, &Row::energy_j, joules)});
  columns.push_back({Column::bytes, "bytes", "sent", number_cells(rows, &Row::bytes, byte_count)});
  columns.push_back({Column::messages, "", "messages", number_cells(rows, &Row::messages, count)});
  columns.push_back({Column::loss, "final", "loss", number_cells(rows, &Row::final_loss, plain)});
  const std::string metric = c.metric_name.empty() ? "metric" : printable(c.metric_name);
  columns.push_back({Column::metric, "final", metric, number_cells(rows, &Row::final_metric, plain)});
  // A column without any cell to show goes: there is no baseline, no target, or no numbers.
  std::erase_if(columns, [](const Column& column) {
    const auto& cells = column.cells;
    return column.kind >= Column::throughput &&
           std::all_of(cells.begin(), cells.end(), [](const auto& x) { return x == "-"; });
  });
  name_lone_speedup(columns);
  return columns;
}

}  // namespace simgrad::outputs
