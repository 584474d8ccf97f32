/// The section [capacity]: a fleet of servers over a long time, which `simgrad capacity` simulates. No run of the
/// scenario depends on it. `simgrad plan` takes parts of it (capacity_of_plan.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "cluster/failures/process.h"
#include "cluster/options.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// The size of a job, said in one of four ways, and the time of its steps.
struct JobSize : base::Described {
  std::optional<double> work_s;  ///< computing, without checkpoints and failures
  std::optional<std::int64_t> steps;
  std::optional<double> samples;
  std::optional<double> tokens;
  std::optional<double> step_s;  ///< none: that of the scenario's training on so many hosts

  void describe(base::Describer& d) override;
};

/// One [[capacity.job]].
struct CapacityJob : JobSize {
  std::optional<std::string> name;
  std::int64_t hosts = 1;
  double arrival_s = 0.0;
  std::int64_t priority = 0;  ///< of jobs that wait those with more are first

  void describe(base::Describer& d) override;
};

enum class Spread {
  none,         ///< each has the same size
  exponential,  ///< exponential, around the mean that is given
};

/// One [[capacity.arrivals]]: jobs that arrive at random.
/// Source: the Poisson process, as in L. Kleinrock, Queueing Systems, volume 1, 1975.
struct CapacityArrivals : JobSize {
  std::optional<std::string> name;
  std::vector<double> hosts{1};
  std::optional<double> every_s;    ///< mean time between two arrivals
  std::optional<std::string> rate;  ///< jobs a time, "6/h", in place of it; default of both: a job a day
  Spread spread = Spread::exponential;
  std::int64_t priority = 0;

  void describe(base::Describer& d) override;
  /// every_s, or 1 / rate.
  double mean_gap_s() const;
};

/// [capacity.training]: one long training.
struct CapacityTraining : JobSize {
  std::optional<std::int64_t> hosts;  ///< absent: there is no such training
  double fixed_s = 3600.0;            ///< the interval of checkpoints that the rules are compared with
  double limit_s = 3650.0 * 86400.0;  ///< a seed that takes longer has not finished

  void describe(base::Describer& d) override;
};

struct CapacitySection : base::Described {
  std::optional<std::int64_t> hosts;  ///< that jobs may occupy at a time; absent: there is no such section
  std::vector<double> spares{0};
  double horizon_s = 90.0 * 86400.0;
  double warm_up_s = 0.0;
  base::Slot<cluster::FailureProcess> failures{cluster::failure_processes(), "none"};
  base::Slot<cluster::Repair> repair{cluster::repairs(), "never"};
  double detection_s = 0.0;
  double restart_s = 0.0;
  std::optional<double> checkpoint_s;            ///< absent: none, or with storage that of the scenario's training
  std::optional<double> checkpoint_write_s;      ///< after that, while the job computes, until the checkpoint is safe
  std::optional<std::string> checkpoint_every;   ///< work between two checkpoints: a time, "young" or "daly"
  std::optional<std::int64_t> workers_per_host;  ///< absent: the devices of a host
  std::int64_t simulated_steps = 5;
  bool backfill = false;
  std::vector<CapacityJob> jobs;
  std::vector<CapacityArrivals> arrivals;
  CapacityTraining training;

  void describe(base::Describer& d) override;
  bool any() const { return hosts.has_value(); }
  /// Whether any job writes checkpoints.
  bool checkpoints() const { return checkpoint_every || training.hosts; }
  /// Workers of the scenario's training on one server.
  std::int64_t workers_of_server(const cluster::Options& cluster) const;
  /// Servers of the largest job.
  int most_hosts_of_a_job() const;
  /// Servers with the largest number of spares.
  std::int64_t most_servers() const;
};

/// Adds a fault for a section without jobs and without a plan that takes it, for jobs with more hosts than the fleet,
/// for servers that never come back, and for rules of checkpoints that lack a number.  Faults of a trace of failures
/// are not found here.
void check_capacity(const CapacitySection& capacity, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment
