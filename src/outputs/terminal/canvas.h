/// A canvas of terminal cells on which curves are drawn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::outputs {

/// A curve is drawn as a letter in each cell that it crosses, or, in colour, as dots of Braille patterns, two by four
/// in a cell. If several curves cross a cell, they alternate from column to column.
class Canvas {
 public:
  /// colours: an ANSI code per curve; empty: letters.
  Canvas(std::size_t columns, std::size_t rows, std::size_t curves, std::vector<std::string_view> colours);

  /// Draws a line between two places, given as 0 .. 1 from the left and from the bottom. Parts outside are not drawn.
  void draw(std::size_t curve, double from_x, double from_y, double to_x, double to_y);
  /// Returns the row, from the top, of a height.
  std::size_t row(double y) const;
  std::size_t column(double x) const;
  /// Returns one row; cells without a curve are `filling`.
  std::string line(std::size_t row, std::string_view filling) const;
  /// Returns the sign of a curve for the legend.
  std::string sample(std::size_t curve) const;

 private:
  void dot(std::size_t curve, double column, double row);
  std::size_t dots_across() const { return colours_.empty() ? columns_ : 2 * columns_; }
  std::size_t dots_down() const { return colours_.empty() ? rows_ : 4 * rows_; }
  std::string painted(std::size_t curve, std::string_view text) const;

  std::size_t columns_, rows_;
  std::vector<std::string_view> colours_;
  std::vector<std::vector<unsigned char>> dots_;  ///< per curve: a byte per cell
};

}  // namespace simgrad::outputs
