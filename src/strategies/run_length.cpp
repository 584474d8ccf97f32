#include "strategies/run_length.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "strategies/circumstances.h"

namespace simgrad::strategies {

std::optional<std::int64_t> steps_of_run(const Circumstances& of) {
  const auto batch = static_cast<double>(of.batch);
  double least = std::numeric_limits<double>::infinity();
  if (of.stop.steps) least = static_cast<double>(*of.stop.steps);
  if (of.stop.samples) least = std::min(least, std::ceil(static_cast<double>(*of.stop.samples) / batch));
  if (of.stop.epochs) least = std::min(least, std::ceil(*of.stop.epochs * static_cast<double>(of.rows) / batch));
  return std::isfinite(least) ? std::optional(static_cast<std::int64_t>(least)) : std::nullopt;
}

}  // namespace simgrad::strategies
