#include "experiment/plan/assumed.h"

#include <algorithm>

#include "experiment/plan/changed_options.h"
#include "scenario/json.h"

namespace simgrad::experiment {

using base::Unit;
using nlohmann::ordered_json;

namespace {

/// A device's table with its assumed numbers `factor` times as good.
void change_device(ordered_json& device, double factor) {
  if (!device.is_object() || !device.contains("efficiency")) return;
  scale(device, Unit::bytes_per_second, factor);
  device["efficiency"] = std::min(1.0, factor * device.at("efficiency").get<double>());
  device["half_size"] = device.at("half_size").get<double>() / factor;
}

std::vector<std::string> changed(const ordered_json& cluster, double factor) {
  const auto bandwidths = scaled(Unit::bytes_per_second, factor);
  const auto latencies = scaled(Unit::seconds, 1.0 / factor);
  return ChangedOptions(cluster, "cluster")
      .option("device", [&](ordered_json& device) { change_device(device, factor); })
      .option("hosts",
              [&](ordered_json& classes) {
                for (ordered_json& each : classes) {
                  if (each.contains("device")) change_device(each["device"], factor);
                  if (each.contains("bandwidth")) bandwidths(each["bandwidth"]);
                  if (each.contains("latency")) latencies(each["latency"]);
                }
              })
      .option("topology",
              [&](ordered_json& topology) {
                bandwidths(topology);
                latencies(topology);
              })
      .option("bandwidth", bandwidths)
      .option("latency", latencies)
      .option("flow_limit", bandwidths)
      .sets();
}

}  // namespace

std::optional<AssumedOff> assumed_off(const RunPlan& run) {
  const cluster::Options& options = run.settings->cluster;
  if (!options.device_of(0) || !options.platform.empty() || options.failures.any()) return {};
  const ordered_json cluster = scenario::echo(options);
  return AssumedOff{.worse = changed(cluster, 1.0 - assumed_off_by), .better = changed(cluster, 1.0 + assumed_off_by)};
}

}  // namespace simgrad::experiment
