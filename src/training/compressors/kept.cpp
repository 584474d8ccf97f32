#include "training/compressors/kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simgrad::training {

void Kept::describe(base::Describer& d) {
  d.integer("k", k, "the count of numbers sent of all parameters; a shard or bucket sends its share, but at least one",
            base::Bounds::at_least(1));
  d.number("fraction", fraction, "k as a share of the parameters, if k is left out; default: 0.01",
           base::Bounds{.least = 0.0, .most = 1.0, .positive = true});
  if (k && fraction) d.refuse("k", "k and fraction both decide how many numbers are sent; leave one of them out");
}

std::int64_t Kept::of(std::int64_t n, const Occasion& occasion) const {
  if (n == 0) return 0;
  const double part = k ? static_cast<double>(*k) / static_cast<double>(occasion.parameters) : fraction.value_or(0.01);
  const auto before = [&](std::int64_t place) { return std::llround(part * static_cast<double>(place)); };
  return std::clamp<std::int64_t>(before(occasion.first + n) - before(occasion.first), 1, n);
}

std::string Kept::refusal(std::int64_t parameters) const {
  if (!k || *k <= parameters) return {};
  return fmt::format("k = {}, but the model has {} parameter{}; expected at most as many", *k, parameters,
                     parameters == 1 ? "" : "s");
}

}  // namespace simgrad::training
