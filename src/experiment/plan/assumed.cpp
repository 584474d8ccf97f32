#include "experiment/plan/assumed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "cluster/fabric/device.h"
#include "experiment/plan/changed_options.h"
#include "outputs/counterfactual.h"
#include "scenario/json.h"

namespace simgrad::experiment {

using base::Unit;
using nlohmann::ordered_json;

namespace {

/// Changes a device's table, if there is a device.
void of_device(ordered_json& device, std::initializer_list<const char*> bandwidths, double factor) {
  for (const char* key : bandwidths)
    if (device.is_object() && device.contains(key)) scale(device[key], Unit::bytes_per_second, factor);
}

/// Returns the options of the cluster in which `of_host` has changed the tables of hosts and their devices.
ChangedOptions with_hosts(const ordered_json& cluster, const std::function<void(ordered_json& host)>& of_host) {
  ChangedOptions changed(cluster, "cluster");
  changed.option("device", [&](ordered_json& device) {
    ordered_json host = {{"device", device}};
    of_host(host);
    device = host.at("device");
  });
  changed.option("hosts", [&](ordered_json& classes) {
    for (ordered_json& each : classes) of_host(each);
  });
  return changed;
}

std::vector<std::string> efficiency(const ordered_json& cluster, double factor) {
  const auto of_host = [&](ordered_json& host) {
    const auto device = host.find("device");
    if (device == host.end() || !device->is_object() || !device->contains("efficiency")) return;
    of_device(*device, {"memory_bandwidth", "host_link"}, factor);
    if (const ordered_json& word = device->at("efficiency"); word.is_string())  // the largest product's
      (*device)["efficiency"] = *cluster::devices().find(device->at("kind").get<std::string>())->make()->peak_product;
    for (const char* const share : {"efficiency", "attention_efficiency", "float8_efficiency"})
      if (const auto found = device->find(share); found != device->end() && found->is_number())
        *found = std::min(1.0, factor * found->get<double>());
    (*device)["half_size"] = device->at("half_size").get<double>() / factor;
    scale((*device)["launch"], Unit::seconds, 1.0 / factor);
  };
  return with_hosts(cluster, of_host).sets();
}

std::vector<std::string> bandwidth(const ordered_json& cluster, double factor) {
  const auto all = scaled(Unit::bytes_per_second, factor);
  const auto of_host = [&](ordered_json& host) {
    if (host.contains("device")) of_device(host["device"], {"nvlink_bandwidth", "nic_bandwidth"}, factor);
    if (host.contains("bandwidth")) all(host["bandwidth"]);
  };
  return with_hosts(cluster, of_host).option("topology", all).option("bandwidth", all).option("flow_limit", all).sets();
}

std::vector<std::string> latency(const ordered_json& cluster, double factor) {
  const auto all = scaled(Unit::seconds, 1.0 / factor);
  const auto of_host = [&](ordered_json& host) {
    if (host.contains("latency")) all(host["latency"]);
  };
  return with_hosts(cluster, of_host).option("topology", all).option("latency", all).sets();
}

}  // namespace

std::vector<AssumedOff> assumed_off(const RunPlan& run) {
  const cluster::Options& options = run.settings->cluster;
  if (!options.device_of(0) || !options.platform.empty() || options.failures.any()) return {};
  std::vector<AssumedOff> all;
  for (const std::string_view kind : outputs::assumed_kinds)
    for (const auto& [side, factor] :
         {std::pair("worse", 1.0 - assumed_off_by), std::pair("better", 1.0 + assumed_off_by)})
      if (std::vector<std::string> sets = assumed_times(options, kind, factor); !sets.empty())
        all.push_back({.name = fmt::format("{}_{}", kind, side), .sets = std::move(sets)});
  return all;
}

std::vector<std::string> assumed_times(const cluster::Options& options, std::string_view kind, double factor) {
  const ordered_json cluster = scenario::echo(options);
  constexpr std::array changes{efficiency, bandwidth, latency};
  const auto at = std::ranges::find(outputs::assumed_kinds, kind) - outputs::assumed_kinds.begin();
  return changes[static_cast<std::size_t>(at)](cluster, factor);
}

}  // namespace simgrad::experiment
