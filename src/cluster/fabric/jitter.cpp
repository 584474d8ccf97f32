#include "cluster/fabric/jitter.h"

#include <cmath>

namespace simgrad::cluster {

using base::Bounds;
using base::Stream;

void Jitter::describe(base::Describer& d) {
  d.number("latency", latency,
           "how much latencies vary: the standard deviation of their logarithm (log_normal), or the mean extra time as "
           "a multiple of the latency (exponential)",
           Bounds::between(0, 5));
  d.number("transfer", transfer,
           "how much the times of the bytes vary: the standard deviation of their logarithm (log_normal), or the mean "
           "extra time as a multiple of the nominal one (exponential)",
           Bounds::between(0, 5));
  if (latency == 0.0 && transfer == 0.0)
    d.refuse("latency", "latency = 0 and transfer = 0 vary nothing; set one of them, or jitter = \"none\"");
}

double LogNormalJitter::multiple(double variation, Stream& stream) const {
  return variation > 0.0 ? std::exp(variation * stream.normal() - 0.5 * variation * variation) : 1.0;
}

double ExponentialJitter::multiple(double variation, Stream& stream) const {
  return 1.0 - variation * std::log(1.0 - stream.uniform());
}

const base::Registry<Jitter>& jitters() {
  static const base::Registry<Jitter> table({
      base::entry<Jitter, NoJitter>(),
      base::entry<Jitter, LogNormalJitter>(),
      base::entry<Jitter, ExponentialJitter>(),
  });
  return table;
}

}  // namespace simgrad::cluster
