/// Several trainings in one engine; the record of one of them.
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "cluster/ranks/gang_schedule.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "experiment/simulate.h"
#include "training/training.h"

namespace simgrad::experiment {

namespace {

/// One job as it runs.
struct Placed {
  RunPlan run;
  std::unique_ptr<training::Learning> learning;
  std::unique_ptr<training::Training> training;
};

/// What the jobs learn from: equal data once.
class JobData {
 public:
  JobData(const RunPlan& run, Data data) { by_key_.emplace(run.data_key(), std::move(data)); }

  const Data& of(const RunPlan& run) {
    const auto [at, fresh] = by_key_.try_emplace(run.data_key());
    if (fresh) at->second = load_data(run);
    return at->second;
  }

 private:
  std::map<std::string, Data> by_key_;
};

std::unique_ptr<training::Training> train(cluster::Cluster& cluster, const Placed& placed, const JobPlan& plan,
                                          cluster::GangSchedule* turns) {
  const Settings& own = *placed.run.settings;
  training::Program program = strategies::program(placed.run.strategy);
  program.hosts = [hosts = plan.hosts](int) { return hosts; };
  training::Training::Setup setup{
      .options = own.training, .stop = own.stop, .evaluate = own.evaluate, .recovery = placed.run.recovery};
  setup.turns = turns;
  setup.job = static_cast<int>(plan.job);  // by itself, too: it meets the same stragglers then
  return std::make_unique<training::Training>(cluster, *placed.learning, std::move(program), std::move(setup),
                                              static_cast<int>(placed.run.workers));
}

}  // namespace

record::Record simulate_jobs(const RunPlan& run, const Data& data, int threads, double* progress,
                             const std::vector<cluster::TimelineLimits>& tapes) {
  const Settings& all = *run.fabric;
  values::Dispatcher dispatcher({.threads = threads, .numbers = data != nullptr, .label = {}});
  cluster::Cluster cluster(all.cluster, static_cast<int>(all.cluster.workers), true, run.seed);
  std::unique_ptr<cluster::GangSchedule> turns;
  if (all.cluster.sharing == cluster::Sharing::gang)
    turns = std::make_unique<cluster::GangSchedule>(static_cast<int>(all.jobs.size()), all.cluster.quantum);
  JobData data_of_jobs(run, data);
  std::vector<Placed> jobs;
  std::set<int> taken, shared;
  std::size_t mine = 0;
  for (const JobPlan& plan : run.jobs) {
    if (plan.job == run.job) mine = jobs.size();
    Placed& placed = jobs.emplace_back();
    placed.run = run;
    const JobEntry& job = all.jobs[plan.job];
    placed.run.settings = std::make_shared<const Settings>(all.trainings[plan.job]);
    placed.run.strategy = all.strategies[plan.strategy].strategy.shared();
    placed.run.workers = job.workers;
    training::Learning::Setup learning = learning_setup(placed.run, data_of_jobs.of(placed.run));
    learning.speeds = speeds(placed.run, cluster, plan.hosts);
    placed.learning = std::make_unique<training::Learning>(std::move(learning), dispatcher);
    placed.training = train(cluster, placed, plan, turns.get());
    for (const int host : std::set<int>(plan.hosts.begin(), plan.hosts.end()))
      if (!taken.insert(host).second) shared.insert(host);
  }
  if (!turns)
    for (const Placed& placed : jobs)
      for (const int host : shared) placed.training->world().ranks().share_cores(host);
  jobs[mine].training->show_progress_in(progress);
  jobs[mine].training->world().recording().start(tapes);
  std::string error;
  try {
    for (std::size_t j = 0; j < jobs.size(); ++j)
      cluster.start_at(all.jobs[run.jobs[j].job].start_s, [job = jobs[j].training.get()] { job->start(); });
    cluster.run();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  training::Training& own = *jobs[mine].training;
  const bool complete = own.world().ended();
  if (!complete && error.empty()) error = "every rank has ended, but the training has not: a strategy stopped early";
  for (const Placed& placed : jobs) placed.training->world().end();
  record::Record record = own.take_record();
  if (!complete) {
    record.status = record::Status::failed;
    record.error = error;
    record.goodput.reset();
  }
  return record;
}

}  // namespace simgrad::experiment
