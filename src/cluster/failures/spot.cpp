#include "cluster/failures/spot.h"

#include <cmath>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

void SpotMarket::describe(base::Describer& d) {
  constexpr Bounds durations{.least = 0.0, .most = 1e12, .positive = true};
  d.quantity("interruption", interruption_s, Unit::seconds,
             "mean time until a host, with all of its devices, is taken away, each independently of the others",
             durations);
  d.quantity("replacement", replacement_s, Unit::seconds, "time until another host has taken its place",
             Bounds::between(0, 1e12));
  describe_class(d);
}

std::optional<Outage> SpotMarket::next(int, std::int64_t, double up_since_s, const base::Stream::Key& draws,
                                       const Repair&) const {
  base::Stream stream(draws);
  const double down_s = up_since_s - interruption_s * std::log(1.0 - stream.uniform());
  return Outage{down_s, down_s + replacement_s};
}

}  // namespace simgrad::cluster
