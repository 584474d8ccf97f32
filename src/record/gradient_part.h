/// The parts of the time of gradients on a device, by the kind of its work.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace simgrad::record {

enum class GradientPart : unsigned char {
  products,     ///< by parameters: dense layers, projections, convolutions
  attention,    ///< of two factors that both follow from the sample: scores, and their sums of values
  elementwise,  ///< activation functions, norms, softmax, residuals: bytes of the device's memory
  count
};
inline constexpr auto gradient_parts = static_cast<std::size_t>(GradientPart::count);

/// Seconds by part; none where they are not known.
class GradientTimes {
 public:
  const std::optional<double>& operator[](GradientPart part) const { return seconds_[static_cast<std::size_t>(part)]; }
  std::optional<double>& operator[](GradientPart part) { return seconds_[static_cast<std::size_t>(part)]; }
  bool known() const { return seconds_.front().has_value(); }
  friend bool operator==(const GradientTimes&, const GradientTimes&) = default;

 private:
  std::array<std::optional<double>, gradient_parts> seconds_{};
};

/// "gradient_products_s"
constexpr std::string_view field_name(GradientPart part) {
  constexpr std::array<std::string_view, gradient_parts> names{"gradient_products_s", "gradient_attention_s",
                                                               "gradient_elementwise_s"};
  return names.at(static_cast<std::size_t>(part));
}

}  // namespace simgrad::record
