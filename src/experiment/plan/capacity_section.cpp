#include "experiment/plan/capacity_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/units.h"
#include "cluster/topologies/topology.h"
#include "experiment/plan/capacity_of_plan.h"
#include "experiment/plan/places.h"

namespace simgrad::experiment {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr Bounds durations{.least = 0.0, .most = 1e12, .positive = true};
constexpr Bounds delays{.least = 0.0, .most = 1e9};
constexpr Bounds host_numbers{.least = 1, .most = static_cast<double>(cluster::most_ranks)};

void describe_priority(base::Describer& d, std::int64_t& priority) {
  d.integer("priority", priority, "jobs of higher priority come first in the queue, but do not interrupt a running job",
            Bounds::between(-1e6, 1e6));
}

constexpr std::array spreads{Choice{"none", "every job has the size that is given"},
                             Choice{"exponential", "sizes are exponential, and the given size is their mean"}};

bool whole(const std::vector<double>& numbers) {
  for (const double number : numbers)
    if (number != std::floor(number)) return false;
  return true;
}

bool twice(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) != numbers.end();
}

/// Seconds between two jobs at a rate.  Errors: std::invalid_argument.
double gap_of_rate_s(const std::string& rate) {
  const std::size_t slash = rate.find('/');
  double jobs = 0.0;
  const char *const first = rate.data(), *const last = first + std::min(slash, rate.size());
  const auto [end, error] = std::from_chars(first, last, jobs);
  const std::string unit = slash == std::string::npos ? "" : rate.substr(slash + 1);
  constexpr std::array<std::string_view, 4> units{"s", "min", "h", "d"};
  const bool known = std::ranges::find(units, unit) != units.end();
  if (error != std::errc() || end != last || !known || !(jobs > 0.0) || !std::isfinite(jobs))
    throw std::invalid_argument(
        fmt::format("rate must be jobs a time, above 0 and by s, min, h or d, as in \"6/h\"; found \"{}\"", rate));
  return base::parse_quantity("1" + unit, Unit::seconds) / jobs;
}

bool by_rule(const std::string& every) { return every == "young" || every == "daly"; }

}  // namespace

void JobSize::describe(base::Describer& d) {
  d.quantity("work", work_s, Unit::seconds, "its size as a time of computing, without checkpoints and failures",
             durations);
  d.integer("steps", steps, "its size in steps of the scenario's training", Bounds::between(1, 1e12));
  d.number("samples", samples, "its size in samples", Bounds::between(1, 1e18));
  d.number("tokens", tokens, "its size in tokens, where samples are text", Bounds::between(1, 1e18));
  d.quantity("step", step_s, Unit::seconds,
             "the time of a step; default: a timing-only run of the scenario's training on its hosts", durations);
  const int sizes =
      int{work_s.has_value()} + int{steps.has_value()} + int{samples.has_value()} + int{tokens.has_value()};
  if (sizes > 1) d.refuse("work", "its size is given twice; expected one of work, steps, samples, tokens");
  if (work_s && step_s) d.refuse("step", "\"work\" is a time already; leave \"step\" out");
}

void CapacityJob::describe(base::Describer& d) {
  d.text("name", name, "its name in the results; default: its number");
  d.integer("hosts", hosts, "the number of servers that it occupies", host_numbers);
  d.quantity("arrival", arrival_s, Unit::seconds, "the time of its arrival", Bounds::between(0, 1e12));
  describe_priority(d, priority);
  JobSize::describe(d);
}

void CapacityArrivals::describe(base::Describer& d) {
  d.text("name", name, "their name in the results; default: their number");
  d.numbers("hosts", hosts, "the number of servers that a job occupies: one of these numbers, all equally likely",
            host_numbers);
  d.quantity("every", every_s, Unit::seconds,
             "the mean time between two arrivals, which is exponential; default: \"1d\", if there is no rate",
             durations);
  d.text("rate", rate,
         "in place of every: the number of arrivals per second, minute, hour or day, as in \"6/h\" or \"20/d\"");
  d.choice("spread", spread, spreads, "how the sizes of the jobs differ");
  describe_priority(d, priority);
  JobSize::describe(d);
  if (hosts.empty() || !whole(hosts)) d.refuse("hosts", "expected a list of whole numbers from 1 on");
  if (!rate) return;
  if (every_s) d.refuse("rate", "rate and every say the same; leave one of them out");
  try {
    gap_of_rate_s(*rate);
  } catch (const std::invalid_argument& fault) {
    d.refuse("rate", fault.what());
  }
}

double CapacityArrivals::mean_gap_s() const {
  constexpr double day_s = 86400.0;
  return rate ? gap_of_rate_s(*rate) : every_s.value_or(day_s);
}

void CapacityTraining::describe(base::Describer& d) {
  d.integer("hosts", hosts, "the number of servers that it occupies", host_numbers);
  d.quantity("fixed", fixed_s, Unit::seconds,
             "a fixed interval of checkpoints, with which the intervals of Young and of Daly are compared", durations);
  d.quantity("limit", limit_s, Unit::seconds,
             "the most time of the training; a seed that takes longer counts as not finished", durations);
  JobSize::describe(d);
  for (const char* key : {"work", "steps", "samples", "tokens", "step", "fixed", "limit"})
    if (!hosts && d.given(key)) return d.refuse(key, "a training needs servers: give capacity.training.hosts");
}

void CapacitySection::describe(base::Describer& d) {
  d.integer("hosts", hosts, "the number of servers of the fleet, all of which jobs may occupy", host_numbers);
  d.numbers("spares", spares,
            "the number of further servers, which replace failed ones; each number of the list is simulated on the "
            "same failures",
            Bounds::between(0, static_cast<double>(cluster::most_ranks)));
  d.quantity("horizon", horizon_s, Unit::seconds, "the time of the fleet that is simulated", durations);
  d.quantity("warm_up", warm_up_s, Unit::seconds,
             "the time before the horizon, in which servers already fail and are repaired; without it all servers are "
             "up in the beginning",
             Bounds::between(0, 1e12));
  d.component("failures", failures, "failure process of each server");
  d.component("repair", repair, "time until a failed server is back; a trace has these times itself");
  d.quantity("detection", detection_s, Unit::seconds,
             "time from a failure until the job notices it and asks for another server", delays);
  d.quantity("restart", restart_s, Unit::seconds,
             "time from when a job has all its servers until it computes again, loading the checkpoint included",
             delays);
  d.quantity("checkpoint_time", checkpoint_s, Unit::seconds,
             "time of a checkpoint, in which a job does not compute; default: with cluster.storage_bandwidth the "
             "simulated time of the scenario's training on as many hosts as the job has, else 0s",
             delays);
  d.quantity("checkpoint_write", checkpoint_write_s, Unit::seconds,
             "time after checkpoint_time until the checkpoint is safe on storage, in which the job computes; the next "
             "checkpoint waits for it",
             delays);
  d.text("checkpoint_every", checkpoint_every,
         "work between two checkpoints: a time (\"30min\"), or \"young\" or \"daly\": the best interval for the job's "
         "hosts; default: no checkpoints");
  d.integer("workers_per_host", workers_per_host,
            "workers of the scenario's training on one server; default: the devices of a host", host_numbers);
  d.integer("simulated_steps", simulated_steps,
            "the number of steps of the timing-only run that gives the time of a step", Bounds::between(1, 1e6));
  d.flag("backfill", backfill,
         "whether a later job may start first if, without failures, it does not delay the first job of the queue");
  d.list("job", jobs, "jobs that arrive at given times");
  d.list("arrivals", arrivals, "jobs that arrive at random");
  d.section("training", training, "one long training by itself: the time to its end under several intervals");
  if (spares.empty() || !whole(spares)) d.refuse("spares", "expected a list of whole numbers from 0 on");
  if (twice(spares)) d.refuse("spares", "a number of spares is there twice; name it once");
  for (const char* key : {"job", "arrivals", "training"})
    if (!hosts && d.given(key)) d.refuse(key, "a fleet needs a number of servers: give capacity.hosts");
  if (checkpoint_every && !by_rule(*checkpoint_every)) try {
      if (!(base::parse_quantity(*checkpoint_every, Unit::seconds) > 0.0))
        d.refuse("checkpoint_every", "checkpoint_every must be above 0s");
    } catch (const std::invalid_argument& fault) {
      d.refuse("checkpoint_every", fmt::format("{}; or \"young\" or \"daly\"", fault.what()));
    }
}

std::int64_t CapacitySection::workers_of_server(const cluster::Options& cluster) const {
  return workers_per_host ? *workers_per_host : cluster.devices_of_host();
}

int CapacitySection::most_hosts_of_a_job() const {
  double most = static_cast<double>(training.hosts.value_or(1));
  for (const CapacityJob& job : jobs) most = std::max(most, static_cast<double>(job.hosts));
  for (const CapacityArrivals& each : arrivals) most = std::max(most, std::ranges::max(each.hosts));
  return static_cast<int>(most);
}

std::int64_t CapacitySection::most_servers() const {
  return hosts.value_or(0) + static_cast<std::int64_t>(spares.empty() ? 0.0 : std::ranges::max(spares));
}

namespace {

/// Checks one job's table, at the key `table` of the document.
void check_job(const JobSize& size, double hosts, const CapacitySection& capacity, const std::string& table,
               const scenario::Document& document, scenario::Faults& faults) {
  if (!size.work_s && !size.steps && !size.samples && !size.tokens)
    faults.add(place(document, table + ".work"), "a job needs a size; expected one of work, steps, samples, tokens");
  if (hosts > static_cast<double>(*capacity.hosts))
    faults.add(place(document, table + ".hosts"),
               fmt::format("a job of {} hosts never starts on a fleet of {}; expected at most capacity.hosts", hosts,
                           *capacity.hosts));
}

}  // namespace

void check_capacity(const CapacitySection& capacity, const scenario::Document& document, scenario::Faults& faults) {
  // The training of a plan needs no job here.
  const bool planned = document.contains("plan") && !writes(document, "stop.loss") && disturbs_plans(capacity);
  if (!capacity.any() && !planned) return;
  if (!has_work(capacity) && !planned)
    faults.add(place(document, "capacity.hosts"),
               "a fleet without work; expected [[capacity.job]], [[capacity.arrivals]], or [capacity.training] with "
               "hosts");
  for (std::size_t j = 0; j < capacity.jobs.size(); ++j)
    check_job(capacity.jobs[j], static_cast<double>(capacity.jobs[j].hosts), capacity,
              fmt::format("capacity.job.{}", j), document, faults);
  for (std::size_t a = 0; a < capacity.arrivals.size(); ++a)
    for (const double hosts : capacity.arrivals[a].hosts)
      check_job(capacity.arrivals[a], hosts, capacity, fmt::format("capacity.arrivals.{}", a), document, faults);
  if (capacity.training.hosts)
    check_job(capacity.training, static_cast<double>(*capacity.training.hosts), capacity, "capacity.training", document,
              faults);
  if (const double most = capacity.spares.empty() ? 0.0 : std::ranges::max(capacity.spares);
      capacity.any() && most > static_cast<double>(*capacity.hosts))
    faults.add(place(document, "capacity.spares"),
               fmt::format("{} spares for {} hosts; expected at most as many", most, *capacity.hosts));
  if (capacity.checkpoint_write_s && !capacity.checkpoint_s)
    faults.add(place(document, "capacity.checkpoint_write"),
               "checkpoint_write is the time behind capacity.checkpoint_time; give both, or neither: then they follow "
               "from cluster.storage_bandwidth and training.checkpoint_async");
  const cluster::FailureProcess& failures = *capacity.failures;
  if (failures.happens() && !failures.repairs() && !capacity.repair->mean_s())
    faults.add(place(document, "capacity.failures"),
               "servers fail and are never repaired; give capacity.repair = \"constant\" or \"exponential\"");
  const bool rule =
      capacity.training.hosts || (capacity.checkpoint_every ? by_rule(*capacity.checkpoint_every) : planned);
  if (rule && !failures.happens())
    faults.add(place(document, {"capacity.checkpoint_every", "capacity.training.hosts"}),
               "the intervals of Young and of Daly follow from failures; give capacity.failures");
  const bool free_copy = writes(document, "training.checkpoint_async") &&
                         !writes(document, "cluster.host_memory_bandwidth") && !writes(document, "cluster.device");
  const bool told_by_training = writes(document, "cluster.storage_bandwidth") && !capacity.checkpoint_s && !free_copy;
  if (rule && !(capacity.checkpoint_s.value_or(0.0) > 0.0) && !told_by_training)
    faults.add(place(document, {"capacity.checkpoint_time", "capacity.checkpoint_every", "capacity.training.hosts"}),
               "the intervals of Young and of Daly follow from the time of a checkpoint; give "
               "capacity.checkpoint_time above 0s, or cluster.storage_bandwidth, from which the training's follows");
}

}  // namespace simgrad::experiment
