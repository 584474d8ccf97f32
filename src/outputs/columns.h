/// The columns of the comparison, before they are fitted to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {

struct Column {
  enum Kind {
    label,
    parameter,
    workers,
    seeds,
    simulated,
    outcome,
    throughput,  ///< from here on: left out where no row has anything to show
    to_target,
    efficiency,
    bar,
    cost,
    energy,
    bytes,
    messages,
    loss,
    metric
  };

  Kind kind;
  std::string above;  ///< the header's first line; equal neighbours share it
  std::string header;
  std::vector<std::string> cells;              ///< a row each
  std::vector<std::string_view> colours = {};  ///< ANSI codes, a row each; empty: none

  /// A title that neighbours share takes room from both: it is not counted here.
  std::size_t width() const;
  Align align() const { return kind == label || kind == bar ? Align::left : Align::right; }
};

inline constexpr std::size_t bar_cells_most = 16;

/// All there is to show, in the order of reading.
std::vector<Column> all_columns(const Comparison& comparison);

/// The two speed-ups share a title; the one to the target, left alone, needs a header that says all.
void name_lone_speedup(std::vector<Column>& columns);

/// The cells of the two kinds of column that can give way without going: labels cut, bars redrawn.
std::vector<std::string> label_cells(const std::vector<Row>& rows, std::size_t width);
std::vector<std::string> bar_cells(const std::vector<Row>& rows, std::size_t width);

}  // namespace simgrad::outputs
