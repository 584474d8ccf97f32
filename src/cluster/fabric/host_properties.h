/// Prices and power of a platform's host: <prop id="price" value="2.48$/h"/>, watts_idle, watts_busy.
#pragma once

#include <optional>

namespace simgrid::s4u {
class Host;
}

namespace simgrad::cluster {

struct HostProperties {
  std::optional<double> price_usd_per_h;
  std::optional<double> idle_w;
  std::optional<double> busy_w;
};

/// Errors: base::ScenarioError with the host's name for a value without its unit or below 0, and for a host that draws
/// less while it computes than while it is idle.
HostProperties properties_of(const simgrid::s4u::Host& host);

}  // namespace simgrad::cluster
