#include "outputs/terminal/canvas.h"

#include <algorithm>
#include <cmath>

namespace simgrad::outputs {
namespace {

/// Returns the Braille pattern of eight dots: U+2800 plus one bit per dot.
std::string braille(unsigned char dots) {
  const unsigned code = 0x2800U + dots;
  return {static_cast<char>(0xE0U | code >> 12), static_cast<char>(0x80U | (code >> 6 & 0x3FU)),
          static_cast<char>(0x80U | (code & 0x3FU))};
}

unsigned char bit(std::size_t across, std::size_t down) {
  static constexpr unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return bits[down][across];
}

}  // namespace

Canvas::Canvas(std::size_t columns, std::size_t rows, std::size_t curves, std::vector<std::string_view> colours)
    : columns_(columns),
      rows_(rows),
      colours_(std::move(colours)),
      dots_(curves, std::vector<unsigned char>(columns * rows)) {}

void Canvas::dot(std::size_t curve, double column, double row) {
  const auto across = static_cast<double>(dots_across()), down = static_cast<double>(dots_down());
  if (!(column >= 0.0 && column < across && row >= 0.0 && row < down)) return;
  const auto x = static_cast<std::size_t>(column), y = static_cast<std::size_t>(row);
  if (colours_.empty())
    dots_[curve][y * columns_ + x] = 1;
  else
    dots_[curve][y / 4 * columns_ + x / 2] |= bit(x % 2, y % 4);
}

void Canvas::draw(std::size_t curve, double from_x, double from_y, double to_x, double to_y) {
  const auto right = static_cast<double>(dots_across() - 1), bottom = static_cast<double>(dots_down() - 1);
  const double x = from_x * right, y = (1.0 - from_y) * bottom;
  const double dx = to_x * right - x, dy = (1.0 - to_y) * bottom - y;
  // A line that leaves the canvas needs no more dots than a line from edge to edge and back.
  const double dots = std::clamp(std::ceil(std::max(std::abs(dx), std::abs(dy))), 1.0, 4.0 * (right + bottom + 1.0));
  for (double k = 0.0; k <= dots; k += 1.0) dot(curve, std::round(x + k / dots * dx), std::round(y + k / dots * dy));
}

std::size_t Canvas::row(double y) const {
  const auto bottom = static_cast<double>(dots_down() - 1);
  const auto dots = static_cast<std::size_t>(std::round(std::clamp(1.0 - y, 0.0, 1.0) * bottom));
  return colours_.empty() ? dots : dots / 4;
}

std::size_t Canvas::column(double x) const {
  const auto right = static_cast<double>(dots_across() - 1);
  const auto dots = static_cast<std::size_t>(std::round(std::clamp(x, 0.0, 1.0) * right));
  return colours_.empty() ? dots : dots / 2;
}

std::string Canvas::painted(std::size_t curve, std::string_view text) const {
  return std::string(colours_[curve]) + std::string(text) + "\033[0m";
}

std::string Canvas::line(std::size_t row, std::string_view filling) const {
  std::string text;
  for (std::size_t x = 0; x < columns_; ++x) {
    std::vector<std::size_t> here;
    unsigned char dots = 0;
    for (std::size_t curve = 0; curve < dots_.size(); ++curve) {
      const unsigned char own = dots_[curve][row * columns_ + x];
      if (own != 0) here.push_back(curve);
      dots |= own;
    }
    if (here.empty())
      text += filling;
    else if (const std::size_t curve = here[x % here.size()]; colours_.empty())
      text += sample(curve);
    else
      text += painted(curve, braille(dots));
  }
  return text;
}

std::string Canvas::sample(std::size_t curve) const {
  if (!colours_.empty()) return painted(curve, "━━");
  return {static_cast<char>('a' + curve)};
}

}  // namespace simgrad::outputs
