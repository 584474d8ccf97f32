#include "capacity/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/units.h"
#include "cluster/usage/planned_hosts.h"
#include "outputs/prices.h"

namespace simgrad::capacity {

using experiment::CapacitySection;

namespace {

FleetOptions options_of(const CapacitySection& capacity, int hosts, int spares) {
  return {.hosts = hosts,
          .spares = spares,
          .horizon_s = capacity.horizon_s,
          .until_done = false,
          .detection_s = capacity.detection_s,
          .restart_s = capacity.restart_s,
          .checkpoint_s = capacity.checkpoint_s.value_or(0.0),
          .checkpoint_write_s = capacity.checkpoint_write_s.value_or(0.0),
          .backfill = capacity.backfill};
}

Outages outages_of(const CapacitySection& capacity, std::uint64_t seed) {
  return {.failures = *capacity.failures, .repair = *capacity.repair, .seed = seed, .warm_up_s = capacity.warm_up_s};
}

void simulate_fleet(Study& study) {
  const CapacitySection& capacity = study.capacity;
  for (const std::uint64_t seed : study.seeds)
    study.work.push_back(workload(capacity, study.steps, seed, study.checkpoints));
  for (const double spares : capacity.spares) {
    WithSpares& with = study.fleet.emplace_back(WithSpares{.spares = static_cast<int>(spares), .of_seed = {}});
    const FleetOptions options = options_of(capacity, static_cast<int>(*capacity.hosts), with.spares);
    for (std::size_t s = 0; s < study.seeds.size(); ++s)
      with.of_seed.push_back(simulate(options, outages_of(capacity, study.seeds[s]), study.work[s].jobs));
  }
}

void simulate_training(Study& study) {
  const CapacitySection& capacity = study.capacity;
  study.undisturbed = training_job(capacity, study.steps, {}, study.checkpoints);
  const std::vector<std::string> rules{"daly", "young",
                                       base::format_quantity(capacity.training.fixed_s, base::Unit::seconds)};
  for (const double spares : capacity.spares) {
    FleetOptions options = options_of(capacity, study.undisturbed->hosts, static_cast<int>(spares));
    options.horizon_s = capacity.training.limit_s;
    options.until_done = true;
    for (const std::string& rule : rules) {
      const Job job = training_job(capacity, study.steps, rule, study.checkpoints);
      WithRule& with = study.trainings.emplace_back(
          WithRule{.spares = options.spares, .rule = rule, .interval_s = job.interval_s, .of_seed = {}});
      for (const std::uint64_t seed : study.seeds)
        with.of_seed.push_back(simulate(options, outages_of(capacity, seed), {job}));
    }
  }
}

/// Dollars an hour of all workers' hosts, by their classes; none if one of them has no price, or if the hosts are those
/// of a platform's file.
std::optional<double> classes_usd_per_h(const experiment::Settings& settings, const outputs::Prices& prices) {
  record::Record hour;
  hour.simulated_s = 3600.0;
  const auto price = [&](std::vector<record::HostUse> hosts) {
    hour.hosts = std::move(hosts);
    return outputs::bill(hour, prices).cost_usd;
  };
  std::vector<record::HostUse> hosts = cluster::planned_hosts(settings.cluster, settings.cluster.workers);
  for (record::HostUse& host : hosts) {
    host.spot = false;
    if (!price({host})) return {};
  }
  return price(std::move(hosts));
}

/// A server costs what prices.host says where no class has a price of its own, else as much as
/// as many of the scenario's workers do in the mean as it has.
std::optional<double> server_usd_per_h(const experiment::Settings& settings) {
  outputs::Prices of_classes = settings.prices;
  of_classes.host_usd_per_h.reset();
  if (settings.prices.host_usd_per_h && !classes_usd_per_h(settings, of_classes)) return settings.prices.host_usd_per_h;
  const auto a_server = static_cast<double>(settings.capacity.workers_of_server(settings.cluster));
  if (const auto all = classes_usd_per_h(settings, settings.prices))
    return *all * (a_server / static_cast<double>(settings.cluster.workers));
  const auto& worker = of_classes.worker_usd_per_h ? of_classes.worker_usd_per_h : of_classes.device_usd_per_h;
  return worker ? std::optional(*worker * a_server) : std::nullopt;
}

}  // namespace

Study study(const experiment::Plan& plan, const std::vector<std::uint64_t>& seeds, int jobs, int threads) {
  const experiment::Settings& settings = *plan.runs.front().settings;
  CapacitySection capacity = settings.capacity;
  Checkpoints checkpoints;
  if (simulates_checkpoints(settings)) {
    checkpoints = simulated_checkpoints(plan, hosts_with_checkpoints(capacity), jobs, threads);
    capacity.checkpoint_s = checkpoints.rbegin()->second.held_up_s;
    capacity.checkpoint_write_s = checkpoints.rbegin()->second.write_s;
  }
  Study study{.scenario = plan.name,
              .resolved = plan.scenario.at("capacity"),
              .capacity = capacity,
              .checkpoints = std::move(checkpoints),
              .price_usd_per_h = server_usd_per_h(settings),
              .mtbf_s = mtbf_s(settings.capacity),
              .seeds = seeds,
              .steps = simulated_steps(plan, hosts_to_simulate(settings.capacity), jobs, threads),
              .work = {},
              .fleet = {},
              .undisturbed = {},
              .trainings = {}};
  try {
    if (!study.capacity.jobs.empty() || !study.capacity.arrivals.empty()) simulate_fleet(study);
    if (study.capacity.training.hosts) simulate_training(study);
  } catch (const base::ScenarioError& fault) {  // of the section as a whole
    throw base::ScenarioError(fmt::format("{}: {}", plan.document->position("capacity").text(), fault.what()));
  }
  return study;
}

double quantile(std::vector<double> numbers, double q) {
  if (numbers.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(numbers);
  const double place = q * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, numbers.size() - 1);
  return numbers[below] + (place - std::floor(place)) * (numbers[above] - numbers[below]);
}

std::vector<double> waits_s(const Work& work, const FleetOutcome& outcome) {
  std::vector<double> all;
  for (std::size_t j = 0; j < work.jobs.size(); ++j)
    if (work.jobs[j].arrival_s <= outcome.end_s)
      all.push_back(outcome.jobs[j].start_s.value_or(outcome.end_s) - work.jobs[j].arrival_s);
  return all;
}

std::optional<double> usd_per_useful_host_hour(const HostTime& time, const std::optional<double>& price_usd_per_h) {
  if (!price_usd_per_h) return {};
  return *price_usd_per_h * time.total_s() / time.useful_s;
}

}  // namespace simgrad::capacity
