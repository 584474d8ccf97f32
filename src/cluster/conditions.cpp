/// The answers that a cluster's options give about its hosts and its network.
#include <algorithm>
#include <limits>

#include "cluster/against_computing.h"
#include "cluster/fabric/slow_start.h"
#include "cluster/options.h"

namespace simgrad::cluster {

const Device* Options::device_of(int host) const {
  if (!platform.empty()) return nullptr;
  const HostClass* host_class = class_of(host_classes, workers, host);
  if (host_class && host_class->device->there()) return &*host_class->device;
  return device->there() && !(host_class && host_class->speed_flops_per_s) ? &*device : nullptr;
}

double Options::speed(int host) const {
  if (const Device* const its_device = device_of(host)) return its_device->additions_per_s();
  const HostClass* host_class = class_of(host_classes, workers, host);
  return host_class && host_class->speed_flops_per_s ? *host_class->speed_flops_per_s : host_spec.speed_flops_per_s;
}

bool Options::inside_host(int from, int to) const {
  return platform.empty() && topology->inside_host(from, to, static_cast<int>(workers));
}

int Options::nic(int host) const { return platform.empty() ? topology->nic(host, static_cast<int>(workers)) : 0; }

int Options::devices_of_host() const {
  const auto most = static_cast<int>(most_ranks);
  int devices = 1;
  while (platform.empty() && devices < most && topology->inside_host(0, devices, most)) ++devices;
  return devices;
}

double Options::flow_limit(int from, int to) const {
  constexpr double none = std::numeric_limits<double>::infinity();
  return flow_limit_bytes_per_s && !inside_host(from, to) ? *flow_limit_bytes_per_s : none;
}

bool Options::shares_fairly() const {
  return network_model == NetworkModel::ideal || network_model == NetworkModel::ethernet;
}

bool Options::starts_slowly() const {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const double longest_s = platform.empty() ? topology->longest_latency_s(host_spec, workers) : unknown;
  return cluster::starts_slowly(*this, longest_s);
}

bool Options::undisturbed() const {
  return relative_speeds.empty() && host_classes.empty() && platform.empty() && !failures.any() &&
         (!stragglers || !stragglers->disturbs());
}

bool Options::constant_network() const {
  return network_model == NetworkModel::ideal && platform.empty() && background.empty() && !jitter->disturbs() &&
         !failures.any() && !protocol->there();
}

namespace {

/// failures: whether they are against it.
std::string_view against_computing(const Options& options, bool failures) {
  if (!options.shares_fairly()) return "network_model";
  if (options.protocol->there()) return "protocol";
  if (options.starts_slowly()) return "initial_window";
  if (!options.platform.empty()) return "platform";
  if (!options.background.empty()) return "background";
  if (options.jitter->disturbs()) return "jitter";
  if (failures) return "failures";
  if (options.link_bins != 0) return "link_bins";
  if (options.stragglers->varies()) return "stragglers";
  if (options.overlap_slowdown > 0.0) return "overlap_slowdown";
  return {};
}

/// Whether some may fail while others go on without them.
bool others_go_on(const FailureOptions& failures) {
  return failures.links->happens() || (failures.hosts_fail() && failures.recovery == Recovery::keep_going);
}

}  // namespace

std::string_view against_computing(const Options& options) {
  return against_computing(options, options.failures.any());
}

std::string_view against_computing_with_crashes(const Options& options) {
  return against_computing(options, others_go_on(options.failures));
}

bool Options::computes_collectives() const {
  return collectives == Collectives::automatic && against_computing_with_crashes(*this).empty();
}

bool Options::alike_routes() const { return slow_links.empty() && !topology->disturbs(); }

}  // namespace simgrad::cluster
