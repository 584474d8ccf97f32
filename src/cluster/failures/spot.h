/// Machines of the spot market: cheap, and taken away now and then.
#pragma once

#include <optional>
#include <string>

#include "cluster/failures/process.h"

namespace simgrad::cluster {

enum class Market { on_demand, spot };

/// The section [cluster.failures.spot]: interruptions of workers' hosts while market = "spot". Servers are rented on
/// demand. An interruption comes after an exponential time; another machine takes the place after a constant one.
class SpotMarket final : public FailureProcess {
 public:
  double interruption_s = 4.0 * 3600.0;  ///< mean, of one machine
  double replacement_s = 120.0;

  void describe(base::Describer& d) override;
  bool repairs() const override { return true; }
  bool concerns_servers() const override { return false; }
  bool is_memoryless() const override { return true; }
  std::optional<double> mtbf_s() const override { return interruption_s; }
  std::optional<Outage> next(int which, std::int64_t count, double up_since_s, const base::Stream::Key& draws,
                             const Repair& repair) const override;
};

}  // namespace simgrad::cluster
