/// One run, from its plan to its record.
#pragma once

#include <memory>

#include "cluster/fabric/cluster.h"
#include "cluster/recording/timeline_recorder.h"
#include "data/dataset.h"
#include "experiment/plan.h"
#include "record/record.h"
#include "training/learning/learning.h"

namespace simgrad::experiment {

/// The training rows' and test rows' place: null in a timing-only run.
using Data = std::shared_ptr<const data::Split>;

/// Loads what the run learns from; null in a timing-only run.  Errors: ScenarioError, EnvironmentError.
Data load_data(const RunPlan& run);

/// What the model is fitted to.
models::Problem problem_of(const data::Split& data);

/// What its ranks learn; data as loaded for it.
training::Learning::Setup learning_setup(const RunPlan& run, const Data& data);

/// Runs it in this process, which must not have simulated anything before. A run that fails (a deadlock, an exception
/// in a rank, the watchdog) is a record that says so.
/// threads: for the numbers, 0 inline.  progress: 0 .. 1, written as the run goes on; may be null.  tapes: timelines to
/// record.
record::Record simulate(const RunPlan& run, const Data& data, int threads, double* progress,
                        const std::vector<cluster::TimelineLimits>& tapes = {});

/// The same for a job, beside the others of its run.
record::Record simulate_jobs(const RunPlan& run, const Data& data, int threads, double* progress,
                             const std::vector<cluster::TimelineLimits>& tapes = {});

/// Nominal, of each worker's host, where `shares = "speed"` goes by them; else none.  places: the workers' hosts, and
/// maybe more.
std::vector<double> speeds(const RunPlan& run, const cluster::Cluster& cluster, const std::vector<int>& places);

}  // namespace simgrad::experiment
