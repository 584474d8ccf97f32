#include "data/zipf.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace simgrad::data {

Zipf::Zipf(double exponent, std::int64_t ranks) : s_(exponent), n_(ranks) {
  base::check(exponent >= 0.0 && ranks >= 1, "ranks by Zipf's law");
  area_first_ = area(1.5) - 1.0;
  area_last_ = area(static_cast<double>(ranks) + 0.5);
  surely_ = 2.0 - inverse_area(area(2.5) - height(2.0));
}

/// (x^(1-s) - 1) / (1 - s), which becomes log x as s comes to 1.
double Zipf::area(double x) const {
  const double log_x = std::log(x), t = (1.0 - s_) * log_x;
  return log_x * (std::abs(t) > 1e-8 ? std::expm1(t) / t : 1.0 + t / 2.0);
}

double Zipf::inverse_area(double y) const {
  const double t = std::max(-1.0, y * (1.0 - s_));
  return std::exp(y * (std::abs(t) > 1e-8 ? std::log1p(t) / t : 1.0 - t / 2.0));
}

double Zipf::height(double x) const { return std::exp(-s_ * std::log(x)); }

std::int64_t Zipf::operator()(base::Stream& stream) const {
  for (;;) {
    const double u = area_last_ + stream.uniform() * (area_first_ - area_last_);
    const double x = inverse_area(u);
    const auto rank = std::clamp<std::int64_t>(std::llround(x), 1, n_);
    const auto k = static_cast<double>(rank);
    if (k - x <= surely_ || u >= area(k + 0.5) - height(k)) return rank;
  }
}

}  // namespace simgrad::data
