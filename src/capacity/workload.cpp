#include "capacity/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/errors.h"
#include "base/random.h"
#include "base/units.h"
#include "training/checkpoints/checkpoint_clock.h"

namespace simgrad::capacity {

using experiment::CapacityArrivals;
using experiment::CapacityJob;
using experiment::CapacitySection;
using experiment::JobSize;

namespace {

constexpr std::size_t most_jobs = 1'000'000;

bool needs_simulation(const JobSize& size) { return size.samples || size.tokens || (size.steps && !size.step_s); }

double exponential(double mean, base::Stream& stream) { return -mean * std::log(1.0 - stream.uniform()); }

/// A job under a rule of checkpoints.
Job job_of(int hosts, double arrival_s, const Amount& amount, const std::optional<std::string>& rule,
           const CapacitySection& capacity, const Checkpoints& checkpoints) {
  Job job{.hosts = hosts, .arrival_s = arrival_s, .work_s = amount.work_s};
  if (const auto found = checkpoints.find(hosts); found != checkpoints.end()) job.checkpoint = found->second;
  job.interval_s = interval_s(rule, hosts, amount.step_s, capacity, job.checkpoint);
  return job;
}

void add(Work& work, const std::string& name, const Job& job) {
  if (work.jobs.size() >= most_jobs)
    throw base::ScenarioError(
        "more than 1,000,000 jobs arrive; shorten capacity.horizon, or let fewer come (every, rate)");
  work.jobs.push_back(job);
  work.names.push_back(name);
}

void add_arrivals(Work& work, const CapacitySection& capacity, std::size_t list, const std::map<int, Step>& steps,
                  std::uint64_t seed, const Checkpoints& checkpoints) {
  const CapacityArrivals& arrivals = capacity.arrivals[list];
  const std::string name = arrivals.name.value_or(fmt::format("arrivals {}", list + 1));
  const double gap_s = arrivals.mean_gap_s();
  double at_s = 0.0;
  for (std::uint64_t count = 0;; ++count) {
    base::Stream stream(
        {.seed = seed, .purpose = base::Purpose::clients, .step = count, .rank = static_cast<std::uint32_t>(list)});
    at_s += exponential(gap_s, stream);
    if (at_s > capacity.horizon_s) return;
    const int hosts = static_cast<int>(arrivals.hosts[stream.below(arrivals.hosts.size())]);
    Amount amount = amount_of(arrivals, hosts, steps);
    if (arrivals.spread == experiment::Spread::exponential) amount.work_s = exponential(amount.work_s, stream);
    Job job = job_of(hosts, at_s, amount, capacity.checkpoint_every, capacity, checkpoints);
    job.priority = arrivals.priority;
    add(work, name, job);
  }
}

/// The jobs in the order of arrival; those of one moment in the order of the scenario.
Work sorted(const Work& work) {
  std::vector<std::size_t> order(work.jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return work.jobs[j].arrival_s; });
  Work all;
  for (const std::size_t j : order) {
    all.jobs.push_back(work.jobs[j]);
    all.names.push_back(work.names[j]);
  }
  return all;
}

}  // namespace

std::vector<int> hosts_to_simulate(const CapacitySection& capacity) {
  std::set<int> all;
  for (const CapacityJob& job : capacity.jobs)
    if (needs_simulation(job)) all.insert(static_cast<int>(job.hosts));
  for (const CapacityArrivals& arrivals : capacity.arrivals)
    for (const double hosts : arrivals.hosts)
      if (needs_simulation(arrivals)) all.insert(static_cast<int>(hosts));
  if (capacity.training.hosts && needs_simulation(capacity.training))
    all.insert(static_cast<int>(*capacity.training.hosts));
  return {all.begin(), all.end()};
}

std::vector<int> hosts_with_checkpoints(const CapacitySection& capacity) {
  std::set<int> all;
  if (capacity.checkpoint_every) {
    for (const CapacityJob& job : capacity.jobs) all.insert(static_cast<int>(job.hosts));
    for (const CapacityArrivals& arrivals : capacity.arrivals)
      for (const double hosts : arrivals.hosts) all.insert(static_cast<int>(hosts));
  }
  if (capacity.training.hosts) all.insert(static_cast<int>(*capacity.training.hosts));
  return {all.begin(), all.end()};
}

Amount amount_of(const JobSize& size, int hosts, const std::map<int, Step>& steps) {
  if (size.work_s) return {.work_s = *size.work_s};
  const Step step = needs_simulation(size) ? steps.at(hosts) : Step{};
  double count = size.steps ? static_cast<double>(*size.steps) : 0.0;
  if (size.samples) count = std::ceil(*size.samples / step.samples);
  if (size.tokens && !(step.tokens > 0.0))
    throw base::ScenarioError(
        "a job's size is in tokens, but the samples of the scenario's model are no text; give samples or "
        "steps");
  if (size.tokens) count = std::ceil(*size.tokens / step.tokens);
  const double step_s = size.step_s.value_or(step.duration_s);
  return {.work_s = count * step_s, .step_s = step_s};
}

std::optional<double> mtbf_s(const CapacitySection& capacity) { return capacity.failures->mtbf_s(); }

double interval_of_rule_s(const std::optional<std::string>& rule, const std::optional<double>& job_mtbf_s,
                          const CheckpointTimes& checkpoint, double step_s) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (!rule) return never;
  double interval_s = never;
  if (*rule == "young" || *rule == "daly") {
    if (!job_mtbf_s) return never;
    interval_s = *rule == "young" ? training::young_interval_s(*job_mtbf_s, checkpoint.held_up_s)
                                  : training::daly_interval_s(*job_mtbf_s, checkpoint.held_up_s);
    interval_s = std::max(interval_s, checkpoint.write_s);
  } else {
    interval_s = base::parse_quantity(*rule, base::Unit::seconds);
  }
  return step_s > 0.0 ? std::max(1.0, std::ceil(interval_s / step_s * (1.0 - 1e-12))) * step_s : interval_s;
}

double interval_s(const std::optional<std::string>& rule, int hosts, double step_s, const CapacitySection& capacity,
                  const std::optional<CheckpointTimes>& checkpoint) {
  const auto of_host_s = mtbf_s(capacity);
  return interval_of_rule_s(rule, of_host_s ? std::optional(*of_host_s / hosts) : std::nullopt,
                            checkpoint.value_or(CheckpointTimes{.held_up_s = capacity.checkpoint_s.value_or(0.0),
                                                                .write_s = capacity.checkpoint_write_s.value_or(0.0)}),
                            step_s);
}

Work workload(const CapacitySection& capacity, const std::map<int, Step>& steps, std::uint64_t seed,
              const Checkpoints& checkpoints) {
  Work work;
  for (std::size_t j = 0; j < capacity.jobs.size(); ++j) {
    const CapacityJob& listed = capacity.jobs[j];
    const int hosts = static_cast<int>(listed.hosts);
    Job job = job_of(hosts, listed.arrival_s, amount_of(listed, hosts, steps), capacity.checkpoint_every, capacity,
                     checkpoints);
    job.priority = listed.priority;
    add(work, listed.name.value_or(fmt::format("job {}", j + 1)), job);
  }
  for (std::size_t list = 0; list < capacity.arrivals.size(); ++list)
    add_arrivals(work, capacity, list, steps, seed, checkpoints);
  return sorted(work);
}

Job training_job(const CapacitySection& capacity, const std::map<int, Step>& steps,
                 const std::optional<std::string>& rule, const Checkpoints& checkpoints) {
  const int hosts = static_cast<int>(*capacity.training.hosts);
  return job_of(hosts, 0.0, amount_of(capacity.training, hosts, steps), rule, capacity, checkpoints);
}

}  // namespace simgrad::capacity
