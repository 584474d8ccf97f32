/// The comparison on a terminal: columns fitted to its width, then lines.
///
/// A table that is too wide loses columns or parts of them, step by step, until it fits. Remaining room goes to the
/// labels, then to the bar. The columns of grid point, workers, time to target and speed-up to the target always stay:
/// if even these do not fit, lines are cut. Where many options of a grid would leave no room for the simulated time,
/// the points are numbered, and listed below.
#include <algorithm>

#include "outputs/terminal/columns.h"
#include "outputs/terminal/table_footer.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

using Columns = std::vector<Column>;

constexpr std::size_t gap = 2;

std::size_t total_width(const Columns& columns) {
  std::size_t sum = gap * (columns.size() - 1);
  for (const Column& column : columns) sum += column.width();
  return sum;
}

struct Step {
  Column::Kind kind;
  std::size_t size;  ///< the remaining width; 0: the column goes
};
/// Returns the steps in their order.
std::vector<Step> steps(bool has_target) {
  std::vector<Step> all = {{Column::messages, 0},
                           {Column::metric, 0},
                           {Column::bar, 12},
                           {Column::label, 24},
                           {Column::efficiency, 0},
                           {Column::bar, 10},
                           {Column::bytes, 0},
                           {Column::label, 14},
                           {Column::energy, 0},
                           {Column::loss, 0},
                           {Column::bar, 8},
                           {Column::bar, 0},
                           {Column::label, 10},
                           {Column::throughput, 0},
                           {Column::memory, 0},
                           {Column::mfu, 0},
                           {Column::tokens, 0},
                           {Column::simulated, 0},
                           {Column::cost, 0},
                           {Column::tpot_tail, 0},
                           {Column::tpot_median, 0},
                           {Column::ttft_median, 0},
                           {Column::million_tokens, 0},
                           {Column::ttft_tail, 0}};
  // Without a target only the final loss shows how well a strategy learns, so it goes late.
  const auto loss = std::ranges::find(all, Column::loss, &Step::kind);
  if (!has_target) std::rotate(loss, loss + 1, std::ranges::find(all, Column::simulated, &Step::kind));
  return all;
}

Columns::iterator find(Columns& columns, Column::Kind kind) {
  return std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.kind == kind; });
}

/// Gives the remaining room to one column that was narrowed before.
template <class CellsOf>
void widen(Columns& columns, Column::Kind kind, const std::vector<Row>& rows, std::size_t width, CellsOf cells_of) {
  const auto column = find(columns, kind);
  const std::size_t total = total_width(columns);
  if (column != columns.end() && total < width) column->cells = cells_of(rows, column->width() + width - total);
}

void fit(Columns& columns, const std::vector<Row>& rows, bool has_target, std::size_t width) {
  for (const Step& step : steps(has_target)) {
    if (total_width(columns) <= width) break;
    const auto column = find(columns, step.kind);
    if (column == columns.end()) continue;
    if (step.size == 0) {
      columns.erase(column);
      name_lone_speedup(columns);
    } else {
      column->cells = step.kind == Column::bar ? bar_cells(rows, step.size) : label_cells(rows, step.size);
    }
  }
  widen(columns, Column::label, rows, width, label_cells);
  widen(columns, Column::bar, rows, width,
        [](const std::vector<Row>& all, std::size_t size) { return bar_cells(all, std::min(size, bar_cells_most)); });
}

/// Numbers the points of a grid, in place of a column for each of its options.
void number_points(Columns& columns, const std::vector<Row>& rows) {
  std::vector<std::string> cells;
  std::size_t number = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r == 0 || rows[r].parameters != rows[r - 1].parameters) ++number;
    cells.push_back(std::to_string(number));
  }
  std::erase_if(columns, [](const Column& column) { return column.kind == Column::parameter; });
  columns.insert(columns.begin() + 1, {Column::parameter, "", tr("point"), std::move(cells)});
}

/// Whether the options of a grid take the room of the simulated time.
bool crowded(Columns columns, const std::vector<Row>& rows, bool has_target, std::size_t width) {
  constexpr auto many = 3;
  const auto options = [](const Column& column) { return column.kind == Column::parameter; };
  if (std::ranges::count_if(columns, options) < many) return false;
  fit(columns, rows, has_target, width);
  return find(columns, Column::simulated) == columns.end() || total_width(columns) > width;
}

/// The points behind their numbers.
std::string numbered_points(const std::vector<Row>& rows, std::size_t width) {
  std::string text;
  std::size_t number = 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (r == 0 || rows[r].parameters != rows[r - 1].parameters)
      text += wrapped(tr("Point {}: {}.", ++number, point_text(rows[r].parameters)), width);
  return text + '\n';
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

template <class Cell>
std::string line_of(const Columns& columns, Cell cell) {
  std::string line;
  for (const Column& column : columns) line += (line.empty() ? "" : std::string(gap, ' ')) + cell(column);
  return without_trailing_spaces(line);
}

/// Returns the first line of the header; neighbours of one group share a centred title.
std::string group_line(const Columns& columns) {
  std::string line;
  for (std::size_t i = 0; i < columns.size();) {
    const std::string& title = columns[i].above;
    std::size_t next = i + 1;
    std::size_t width = columns[i].width();
    for (; next < columns.size() && !title.empty() && columns[next].above == title; ++next) {
      width += gap + columns[next].width();
    }
    if (i > 0) line += std::string(gap, ' ');
    line +=
        next - i > 1 ? padded(" " + title + " ", width, Align::centre, "─") : padded(title, width, columns[i].align());
    i = next;
  }
  return without_trailing_spaces(line);
}

std::string row_line(const Columns& columns, std::size_t row, const TableStyle& style, std::size_t width) {
  const auto plain = [&](const Column& column) { return padded(column.cells[row], column.width(), column.align()); };
  const auto painted = [&](const Column& column) {
    if (column.colours.empty() || column.colours[row].empty()) return plain(column);
    return std::string(column.colours[row]) + plain(column) + "\033[0m";
  };
  const std::string line = line_of(columns, plain);
  // A line that must be cut stays without colour: a cut within a colour would leave that colour switched on.
  if (display_width(line) > width) return cut(line, width);
  return style.colour ? line_of(columns, painted) : line;
}

std::string rendered(const Columns& columns, const std::vector<Row>& rows, const TableStyle& style, std::size_t width) {
  const std::string rule = repeated("─", std::min(total_width(columns), width)) + '\n';
  const auto header = [](const Column& column) { return padded(column.header, column.width(), column.align()); };
  std::string text = cut(group_line(columns), width) + '\n' + cut(line_of(columns, header), width) + '\n' + rule;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r > 0 && rows[r].parameters != rows[r - 1].parameters) text += rule;
    text += row_line(columns, r, style, width) + '\n';
  }
  return text;
}

}  // namespace

std::string table(const Results& results, const TableStyle& style) {
  const auto width = static_cast<std::size_t>(std::max(style.width, 0));
  const Comparison c = comparison(results);
  const std::string title = cut(printable(results.title.empty() ? results.name : results.title), width);
  std::string text = (style.colour ? "\033[1m" + title + "\033[0m" : title) + "\n\n";
  bool bars_shown = false;
  if (!c.rows.empty()) {
    Columns columns = all_columns(c);
    const bool numbered = crowded(columns, c.rows, c.has_target, width);
    if (numbered) number_points(columns, c.rows);
    fit(columns, c.rows, c.has_target, width);
    bars_shown = find(columns, Column::bar) != columns.end();
    text += rendered(columns, c.rows, style, width) + '\n';
    if (numbered) text += numbered_points(c.rows, width);
  }
  return text + table_footer(results, c, width, bars_shown);
}

}  // namespace simgrad::outputs
