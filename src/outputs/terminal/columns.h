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
    throughput,  ///< from here on: left out if no row has anything to show
    to_target,
    efficiency,
    tokens,
    ttft_median,
    ttft_tail,
    tpot_median,
    tpot_tail,
    million_tokens,
    mfu,
    memory,
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
  std::vector<std::string> cells;              ///< one per row
  std::vector<std::string_view> colours = {};  ///< ANSI codes, one per row; empty: none

  /// Returns the width in columns of the terminal, without a title that is shared by neighbours.
  std::size_t width() const;
  Align align() const { return kind == label || kind == bar ? Align::left : Align::right; }
};

inline constexpr std::size_t bar_cells_most = 16;

/// Returns all columns with something to show, in the order of reading.
std::vector<Column> all_columns(const Comparison& comparison);

/// Renames the speed-up to the target if it stands alone: the two speed-ups share a title.
void name_lone_speedup(std::vector<Column>& columns);

/// Returns the cells of the two kinds of column that can be narrowed: labels are cut, bars are redrawn.
std::vector<std::string> label_cells(const std::vector<Row>& rows, std::size_t width);
std::vector<std::string> bar_cells(const std::vector<Row>& rows, std::size_t width);

}  // namespace simgrad::outputs
