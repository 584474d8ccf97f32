#include "experiment/checks/hosts_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiment/plan/places.h"
#include "training/learning/layer_times.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

void check_servers(const Settings& settings, const Document& document, Faults& faults) {
  std::int64_t given = 0;
  for (const cluster::HostClass& each : settings.cluster.host_classes)
    if (each.role == cluster::HostRole::server) given += each.count;
  if (const std::int64_t most = settings.hosts_needed() - settings.cluster.workers; given > most)
    faults.add(
        place(document, "cluster.hosts"),
        fmt::format("the classes have {} hosts for servers, but no strategy has more than {}; expected at most as "
                    "many",
                    given, most));
}

/// Refuses a precision for whose products a worker's device has no peak.
void check_precision(const Settings& settings, const Document& document, Faults& faults) {
  const cluster::Options& cluster = settings.cluster;
  const cluster::ProductFormat format = training::multiplies_in(settings.training.precision);
  if (settings.training.precision != training::Precision::float64 && settings.model.model &&
      settings.model.model->takes_sparse_rows())
    faults.add(place(document, "training.precision"),
               fmt::format("{} changes rows of its tables where they are, in float64; leave precision out, or take "
                           "another model",
                           settings.model.model.kind()));
  if (settings.training.wire != training::Wire::as_precision && settings.model.model &&
      settings.model.model->takes_sparse_rows())
    faults.add(
        place(document, "training.wire"),
        fmt::format("{} sends rows of its tables with their keys, as the strategy's option values says; leave wire "
                    "out, or take another model",
                    settings.model.model.kind()));
  std::set<const cluster::Device*> seen;
  for (int host = 0; host < cluster.workers; ++host) {
    const cluster::Device* const device = cluster.device_of(host);
    if (!device || device->peak(format) || !seen.insert(device).second) continue;
    const cluster::HostClass* const host_class = cluster::class_of(cluster.host_classes, cluster.workers, host);
    const bool of_class = host_class && &*host_class->device == device;
    const std::string_view kind = of_class ? host_class->device.kind() : cluster.device.kind();
    faults.add(place(document, "training.precision"),
               fmt::format("precision = \"{}\" multiplies {} numbers, but the device \"{}\"{} has no peak for them; it "
                           "has peaks for {}: choose one of these, another device, or give {} a number, as in device = "
                           "{{ kind = \"{}\", {} = \"100TF\" }}",
                           training::name(settings.training.precision), name(format), kind,
                           of_class ? fmt::format(" of the class \"{}\"", host_class->name) : "", device->formats(),
                           name(format), kind, name(format)));
  }
}

/// Refuses cluster.overlap_slowdown where it is not simulated: ranks that share cores, several jobs, serving.
void check_overlap(const Settings& settings, const Document& document, Faults& faults) {
  if (!(settings.cluster.overlap_slowdown > 0.0)) return;
  const auto refuse = [&](const std::string& what) {
    faults.add(place(document, "cluster.overlap_slowdown"),
               fmt::format("overlap_slowdown is not simulated with {}; leave one of them out", what));
  };
  if (!settings.jobs.empty()) return refuse("several jobs ([[job]])");
  if (settings.serving.any()) return refuse("[serving]");
  const auto P = static_cast<int>(settings.cluster.workers);
  for (const StrategyEntry& entry : settings.strategies) {
    if (!entry.strategy) continue;
    const training::Traits traits = entry.as_run()->traits(P);
    if (traits.servers > 0 && traits.hosts_needed(P) < P + traits.servers)
      return refuse(fmt::format("\"{}\", whose servers share the cores of workers", entry.name()));
  }
}

}  // namespace

bool devices_multiply(const Settings& settings) {
  const cluster::ProductFormat format = training::multiplies_in(settings.training.precision);
  for (int host = 0; host < settings.cluster.workers; ++host)
    if (const cluster::Device* const device = settings.cluster.device_of(host); device && !device->peak(format))
      return false;
  return true;
}

void check_hosts(const Settings& settings, const Document& document, Faults& faults) {
  if (settings.cluster.platform.empty())
    if (const std::string why = settings.cluster.topology->refusal(settings.cluster.host_spec, settings.hosts_needed());
        !why.empty())
      faults.add(place(document, "cluster.topology"), why);
  check_servers(settings, document, faults);
  check_overlap(settings, document, faults);
  if (settings.jobs.empty()) check_precision(settings, document, faults);
  for (const Settings& of_job : settings.trainings) check_precision(of_job, document, faults);
}

namespace {

/// The option by which shares are sized to memory, as a text of what it does; nothing if none is.
std::string sized_to_memory(const Settings& settings) {
  if (settings.training.partition->by_speed()) return "shares = \"speed\" assigns rows";
  const strategies::Parallel& parallel = settings.parallel;
  if (parallel.tensor_shares == strategies::TensorShares::speed) return "tensor_shares = \"speed\" sizes shares";
  if (parallel.automatic) return "parallel.automatic sizes parts";
  if (parallel.pipeline == 1) return {};
  const bool written = !parallel.stages.empty() && parallel.found.empty();
  if (written) return {};
  if (parallel.balance == strategies::Balance::memory) return "balance = \"memory\" sizes stages";
  return parallel.balance == strategies::Balance::time ? "balance = \"time\" sizes stages" : std::string();
}

/// Refuses a class of workers without memory beside others that have some: its share would have no bound.
void check_memory_of_classes(const Settings& settings, const Document& document, Faults& faults) {
  const std::string sized = sized_to_memory(settings);
  if (sized.empty()) return;
  const cluster::Options& cluster = settings.cluster;
  if (cluster.memory_bytes || settings.training.memory == training::MemoryCheck::ignore) return;
  const auto has_memory = [&](std::int64_t host) {
    const cluster::Device* const device = cluster.device_of(static_cast<int>(host));
    return device && device->memory_bytes > 0.0;
  };
  bool any = false;
  for (std::int64_t host = 0; host < cluster.workers; ++host) any = any || has_memory(host);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < cluster.host_classes.size() && any; ++i) {
    const cluster::HostClass& host_class = cluster.host_classes[i];
    if (host_class.role != cluster::HostRole::worker) continue;
    if (!has_memory(first))
      faults.add(document.position(fmt::format("{}.{}", option_key("cluster.hosts"), i)),
                 fmt::format("class \"{}\" has no memory, but {} within the memory that other classes have; give its "
                             "device a memory, as in device = {{ kind = \"custom\", memory = \"16GiB\", ... }}, or set "
                             "cluster.memory or training.memory = \"ignore\"",
                             host_class.name, sized));
    first += host_class.count;
  }
}

}  // namespace

void check_shares(const Settings& settings, const Document& document, Faults& faults) {
  check_memory_of_classes(settings, document, faults);
  if (!settings.training.partition->by_speed()) return;
  const strategies::Parallel& parallel = settings.parallel;
  if (parallel.cuts() && settings.cluster.workers == parallel.ranks_a_replica())
    faults.add(settings.places.partition,
               fmt::format(
                   "shares = \"speed\" splits a batch among replicas, but all {} workers are one replica; leave shares "
                   "out, size stages by balance = \"time\", or the shares of tensor ranks by tensor_shares = \"speed\"",
                   settings.cluster.workers));
  if (parallel.automatic || (parallel.balance == strategies::Balance::time && parallel.pipeline > 1))
    faults.add(settings.places.partition,
               fmt::format("shares = \"speed\" gives replicas different numbers of rows, but {} predicts steps with "
                           "equal shares; give the sizes, or stages, or set shares = \"equal\"",
                           parallel.automatic ? "parallel.automatic" : "balance = \"time\""));
  const bool any_fail = settings.cluster.failures.any();
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const cluster::Recovery recovery = settings.strategies[i].effective(settings.cluster);
    if (any_fail && (recovery == cluster::Recovery::shrink || recovery == cluster::Recovery::elastic))
      faults.add(settings.places.partition,
                 fmt::format("shares = \"speed\" splits the batch among all ranks for the whole run, but recovery = "
                             "\"{}\" goes on with fewer; set recovery = \"restart\", or shares = \"equal\"",
                             name(recovery)));
    if (!settings.strategies[i].strategy) continue;
    const std::string taken =
        settings.strategies[i].as_run()->traits(static_cast<int>(settings.cluster.workers)).free_workers_take;
    if (!taken.empty())
      faults.add(settings.places.strategies.at(i).table,
                 fmt::format("shares = \"speed\" splits the batch by the ranks' speeds, but {} are taken by the next "
                             "free worker; set splits = 1, or shares = \"equal\"",
                             taken));
  }
}

}  // namespace simgrad::experiment
