#include "capacity/unread.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "capacity/step_times.h"
#include "capacity/workload.h"

namespace simgrad::capacity {

namespace {

/// Whether any training is simulated, of a step or of a checkpoint.
bool simulates(const experiment::Settings& settings) {
  return !hosts_to_simulate(settings.capacity).empty() || simulates_checkpoints(settings);
}

/// Whether the scenario, as a training, is one of a job's: its workers are then right, though no fleet reads them.
bool is_a_job(const experiment::Settings& settings) {
  const experiment::CapacitySection& capacity = settings.capacity;
  std::set<std::int64_t> hosts{1};
  for (const experiment::CapacityJob& job : capacity.jobs) hosts.insert(job.hosts);
  for (const experiment::CapacityArrivals& job : capacity.arrivals)
    for (const double number : job.hosts) hosts.insert(std::llround(number));
  hosts.insert(capacity.training.hosts.value_or(1));
  const std::int64_t workers = settings.cluster.workers;
  const std::int64_t a_server = capacity.workers_of_server(settings.cluster);
  return workers % a_server == 0 && hosts.contains(workers / a_server);
}

/// The reason why a key of [cluster] is not read; empty: it is.
std::string reason(const std::string& key, const experiment::Settings& settings, bool simulated) {
  const bool classes = !settings.cluster.host_classes.empty();
  if (key == "failures") return "servers fail by capacity.failures, and are repaired by capacity.repair";
  if (key == "workers" && !classes && !is_a_job(settings))
    return "a job has its number of hosts times capacity.workers_per_host workers, by default the devices of a host";
  const bool priced = key == "workers" || key == "hosts" || key == "device" || key == "platform";
  if (!simulated && !priced) return "each job has its size as a time, so that no step of a training is simulated";
  return {};
}

}  // namespace

std::vector<std::string> unread_keys(const experiment::Plan& plan) {
  const experiment::Settings& settings = *plan.runs.front().settings;
  const bool simulated = simulates(settings);
  std::map<std::string, scenario::Position> keys;  // an option of a component is its component's
  for (const auto& [key, position] : plan.document->written("cluster"))
    keys.emplace(key.substr(0, key.find_first_of(".[")), position);
  std::vector<std::string> lines;
  for (const auto& [key, position] : keys)
    if (const std::string why = reason(key, settings, simulated); !why.empty())
      lines.push_back(fmt::format("{}: cluster.{} is not read: {}", position.text(), key, why));
  return lines;
}

}  // namespace simgrad::capacity
