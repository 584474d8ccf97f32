/// Cells of a terminal in which curves are drawn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::outputs {

/// A curve is a letter in each cell it goes through, or, in colour, dots of Braille patterns: two by four in a cell.
/// Where several go through one cell they take turns from column to column.
class Canvas {
 public:
  /// colours: an ANSI code a curve; empty: letters.
  Canvas(std::size_t columns, std::size_t rows, std::size_t curves, std::vector<std::string_view> colours);

  /// A line between two places, each 0 .. 1 from the left and from the bottom; what lies outside is not drawn.
  void draw(std::size_t curve, double from_x, double from_y, double to_x, double to_y);
  /// The row, from the top, in which a height lies.
  std::size_t row(double y) const;
  std::size_t column(double x) const;
  /// One row; where no curve is, `filling`.
  std::string line(std::size_t row, std::string_view filling) const;
  /// How a curve is drawn, for the legend.
  std::string sample(std::size_t curve) const;

 private:
  void dot(std::size_t curve, double column, double row);
  std::size_t dots_across() const { return colours_.empty() ? columns_ : 2 * columns_; }
  std::size_t dots_down() const { return colours_.empty() ? rows_ : 4 * rows_; }
  std::string painted(std::size_t curve, std::string_view text) const;

  std::size_t columns_, rows_;
  std::vector<std::string_view> colours_;
  std::vector<std::vector<unsigned char>> dots_;  ///< of each curve, a byte a cell
};

}  // namespace simgrad::outputs
