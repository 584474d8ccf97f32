#include "planner/pace.h"

#include <algorithm>
#include <cmath>

namespace simgrad::planner {

namespace {

/// Times of equal stretches that differ by less are one.
constexpr double repeated_within = 1e-9;

double a_sample_s(const Moment& from, const Moment& to) {
  return to.samples > from.samples ? (to.time_s - from.time_s) / (to.samples - from.samples) : 0.0;
}

}  // namespace

Pace::Pace(const Outcome& outcome, std::int64_t period) : outcome_(outcome) {
  const std::vector<Moment>& curve = outcome.curve;
  if (curve.size() < 2) return;
  const std::size_t last = curve.size() - 1, every = static_cast<std::size_t>(period);
  if (last >= 2 * every) {
    const double newer = a_sample_s(curve[last - every], curve[last]);
    const double older = a_sample_s(curve[last - 2 * every], curve[last - every]);
    repeats_ = std::abs(newer - older) <= repeated_within * newer;
    if (repeats_) {
      mean_s_ = least_s_ = newer;
      return;
    }
  }
  const std::size_t half = last / 2, quarter = last - (last - half) / 2;
  mean_s_ = a_sample_s(curve[half], curve[last]);
  least_s_ = mean_s_;
  if (quarter > half && last > quarter)
    least_s_ = std::min({mean_s_, a_sample_s(curve[half], curve[quarter]), a_sample_s(curve[quarter], curve[last])});
}

bool Pace::covers(double samples) const { return samples <= outcome_.samples; }

Measures Pace::after(double samples, double sample_s) const {
  double time_s = outcome_.time_s;
  if (covers(samples)) {
    const auto at = std::ranges::find_if(outcome_.curve, [&](const Moment& each) { return each.samples >= samples; });
    if (at != outcome_.curve.end()) time_s = at->time_s;
  } else {
    time_s += (samples - outcome_.samples) * sample_s;
  }
  // Hosts are paid by time; a little of the bill goes by bytes, which go with time as well.
  const double part = outcome_.time_s > 0.0 ? time_s / outcome_.time_s : 1.0;
  const auto times = [&](const std::optional<double>& all) { return all ? std::optional(*all * part) : all; };
  return {.time_s = time_s, .usd = times(outcome_.usd), .energy_j = times(outcome_.energy_j)};
}

}  // namespace simgrad::planner
