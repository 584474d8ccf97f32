#include "cluster/usage/planned_hosts.h"

#include <algorithm>

namespace simgrad::cluster {

std::int64_t host_of_device(const Options& options, std::int64_t device) {
  const std::int64_t devices = options.devices_of_host();
  if (device < options.workers) return device / devices;
  return (options.workers + devices - 1) / devices + device - options.workers;
}

bool rented_on_spot(const FailureOptions& failures, const std::string& host_class) {
  return failures.market == Market::spot &&
         (failures.spot.only_class.empty() || failures.spot.only_class == host_class);
}

record::HostUse planned_host(const Options& options, int host) {
  record::HostUse use;
  use.host_number = host_of_device(options, host);
  use.serves = true;
  use.host_class = plain_host_class;
  if (const HostClass* host_class = class_of(options.host_classes, options.workers, host)) {
    use.host_class = host_class->name;
    use.price_usd_per_h = host_class->price_dollars_per_hour;
    use.idle_w = host_class->idle_watts;
    use.busy_w = host_class->busy_watts;
  }
  return use;
}

void add_spares(std::vector<record::HostUse>& hosts, const Options& options) {
  if (hosts.empty() || options.failures.spares == 0) return;
  record::HostUse spare = hosts.front();
  spare.busy_s = spare.down_s = 0.0;
  const std::int64_t devices = std::min<std::int64_t>(options.devices_of_host(), options.workers);
  const std::int64_t next = std::ranges::max(hosts, {}, &record::HostUse::host_number).host_number + 1;
  for (std::int64_t k = 0; k < options.failures.spares; ++k) {
    spare.host_number = next + k;
    hosts.insert(hosts.end(), static_cast<std::size_t>(devices), spare);
  }
}

std::vector<record::HostUse> planned_hosts(const Options& options, std::int64_t hosts) {
  std::vector<record::HostUse> all;
  if (!options.platform.empty()) return all;
  for (std::int64_t host = 0; host < hosts; ++host) {
    record::HostUse use = planned_host(options, static_cast<int>(host));
    if (host < options.workers) {
      use.serves = false;
      use.spot = rented_on_spot(options.failures, use.host_class);
    }
    all.push_back(std::move(use));
  }
  add_spares(all, options);
  return all;
}

}  // namespace simgrad::cluster
