#include "cluster/failures/processes.h"

#include <cmath>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

namespace {

/// In (0, 1]: its logarithm is finite.
double positive_uniform(base::Stream& stream) { return 1.0 - stream.uniform(); }

Outage outage(double down_s, base::Stream& stream, const Repair& repair) {
  const auto duration_s = repair.duration(stream);
  return {down_s, duration_s ? std::optional(down_s + *duration_s) : std::nullopt};
}

constexpr Bounds duration_bounds{.least = 0.0, .most = 1e12, .positive = true};

}  // namespace

void ConstantRepair::describe(base::Describer& d) {
  d.quantity("time", time_s, Unit::seconds, "time from a failure to the end of the repair", Bounds::between(0, 1e12));
}

void ExponentialRepair::describe(base::Describer& d) {
  d.quantity("mean", mean, Unit::seconds, "the mean time from a failure to the end of the repair", duration_bounds);
}

std::optional<double> ExponentialRepair::duration(base::Stream& stream) const {
  return -mean * std::log(positive_uniform(stream));
}

const base::Registry<Repair>& repairs() {
  static const base::Registry<Repair> table({base::entry<Repair, NoRepair>(), base::entry<Repair, ConstantRepair>(),
                                             base::entry<Repair, ExponentialRepair>()});
  return table;
}

void FailureProcess::describe_class(base::Describer& d) {
  d.text("class", only_class, "the class of hosts or links that fail; empty: all");
}

void ExponentialFailures::describe(base::Describer& d) {
  d.quantity("mtbf", mean_s, Unit::seconds,
             "mean time between failures of one host, with all of its devices, or of one link", duration_bounds);
  describe_class(d);
}

std::optional<Outage> ExponentialFailures::next(int, std::int64_t, double up_since_s, const base::Stream::Key& draws,
                                                const Repair& repair) const {
  base::Stream stream(draws);
  const double down_s = up_since_s - mean_s * std::log(positive_uniform(stream));
  return outage(down_s, stream, repair);
}

void WeibullFailures::describe(base::Describer& d) {
  d.quantity("mtbf", mean_s, Unit::seconds,
             "mean time between failures of one host, with all of its devices, or of one link", duration_bounds);
  d.number("shape", shape,
           "the shape of the Weibull distribution: 1 is exponential, and about 0.7 fits failures of computers",
           Bounds::between(0.1, 100));
  describe_class(d);
}

std::optional<Outage> WeibullFailures::next(int, std::int64_t, double up_since_s, const base::Stream::Key& draws,
                                            const Repair& repair) const {
  const double scale_s = mean_s / std::tgamma(1.0 + 1.0 / shape);
  base::Stream stream(draws);
  const double down_s = up_since_s + scale_s * std::pow(-std::log(positive_uniform(stream)), 1.0 / shape);
  return outage(down_s, stream, repair);
}

const base::Registry<FailureProcess>& failure_processes() {
  static const base::Registry<FailureProcess> table(
      {base::entry<FailureProcess, NoFailures>(), base::entry<FailureProcess, ExponentialFailures>(),
       base::entry<FailureProcess, WeibullFailures>(), base::entry<FailureProcess, TracedFailures>()});
  return table;
}

}  // namespace simgrad::cluster
