#include "outputs/terminal/axis.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace simgrad::outputs {
namespace {

/// Returns the smallest 1, 2, 5 or 10 times a power of ten that is not below `step`.
double round_up(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1.0 - 1e-9)) return factor * power;
  return 10.0 * power;
}

std::vector<double> linear_ticks(const Axis& axis, std::size_t most) {
  const double step = round_up((axis.to - axis.from) / static_cast<double>(most));
  std::vector<double> ticks;
  const double slack = 1e-9 * step;
  const double first = std::ceil((axis.from - slack) / step);
  // A counter, because `first + 1` equals `first` if a step is smaller than an ulp.
  for (std::size_t k = 0; k <= most + 1; ++k) {
    const double tick = (first + static_cast<double>(k)) * step + 0.0;  // no -0
    if (!(tick <= axis.to + slack)) break;
    if (ticks.empty() || tick > ticks.back()) ticks.push_back(tick);
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(const Axis& axis, std::size_t most, std::initializer_list<double> factors) {
  const int first = static_cast<int>(std::floor(std::log10(axis.from)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.to)));
  const int every = std::max(1, (last - first) / static_cast<int>(most));
  std::vector<double> ticks;
  for (int power = first; power <= last; power += every)
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= axis.from * (1.0 - 1e-9) && tick <= axis.to * (1.0 + 1e-9)) ticks.push_back(tick);
    }
  return ticks;
}

}  // namespace

double Axis::place(double value) const {
  if (logarithmic) return std::log(value / from) / std::log(to / from);
  return (value - from) / (to - from);
}

std::vector<double> Axis::ticks(std::size_t most) const {
  if (!logarithmic) return linear_ticks(*this, most);
  const std::vector<double> decades = logarithmic_ticks(*this, most, {1.0});
  return decades.size() > 2 ? decades : logarithmic_ticks(*this, most, {1.0, 2.0, 5.0});
}

}  // namespace simgrad::outputs
