#include "planner/learning_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simgrad::planner {

namespace {

constexpr double surprise = 2.0;      ///< times the steepest rate
constexpr double flat_factor = 10.0;  ///< times the samples so far, of a loss that does not fall
constexpr std::size_t stretches = 4;  ///< of the last half

/// -d ln(loss) / d samples between two moments.
double rate(const Moment& from, const Moment& to) {
  const double samples = to.samples - from.samples;
  if (!(samples > 0.0) || !from.loss || !to.loss || !(*from.loss > 0.0) || !(*to.loss > 0.0)) return 0.0;
  return std::log(*from.loss / *to.loss) / samples;
}

/// The first moment at or behind so many samples.
const Moment& at(const std::vector<Moment>& curve, double samples) {
  const auto found = std::ranges::find_if(curve, [&](const Moment& each) { return each.samples >= samples; });
  return found == curve.end() ? curve.back() : *found;
}

}  // namespace

SamplesToTarget samples_to_target(const std::vector<Moment>& curve, double target) {
  const Moment& last = curve.back();
  const double all = last.samples;
  const double loss = last.loss.value_or(std::numeric_limits<double>::infinity());
  const auto part = [&](std::size_t k) {
    return all * (0.5 + 0.5 * static_cast<double>(k) / static_cast<double>(stretches));
  };
  double steepest = 0.0;
  for (std::size_t k = 0; k < stretches; ++k)
    steepest = std::max(steepest, rate(at(curve, part(k)), at(curve, part(k + 1))));
  const double mean = rate(at(curve, part(0)), last);
  // A mean of replicas may be at the target before the average that reaches it.
  const double to_go = target > 0.0 ? std::max(0.0, std::log(loss / target)) : std::numeric_limits<double>::infinity();
  const double flat = flat_factor * all;
  SamplesToTarget result;
  result.least = all + (steepest > 0.0 ? std::min(to_go / (surprise * steepest), 0.5 * flat) : 0.5 * flat);
  result.expected = all + (mean > 0.0 ? std::min(to_go / mean, flat) : flat);
  result.expected = std::max(result.expected, result.least);
  return result;
}

}  // namespace simgrad::planner
