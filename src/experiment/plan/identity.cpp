#include "experiment/plan/identity.h"

#include <utility>

#include "base/hash.h"
#include "experiment/plan/job_training.h"
#include "experiment/plan/places.h"
#include "outputs/results.h"
#include "strategies/single.h"

namespace simgrad::experiment {

using nlohmann::ordered_json;

namespace {

/// Half of the hash is plenty for the runs of one experiment, and short enough for file names.
std::string name_of(const ordered_json& identity) { return base::hash(identity.dump()).substr(0, 16); }

/// The identity without prices, which do not change the simulation.
std::string work_name(ordered_json identity) {
  leave_out(identity, "prices");
  return name_of(identity);
}

/// The data as the run sees them: a file counts by its contents, wherever it is.
ordered_json data_identity(const Settings& settings, std::uint64_t seed) {
  ordered_json data = scenario::echo(settings)["data"];
  for (const char* key : {"path", "labels_path"}) data.erase(option_key(std::string("data.") + key).substr(5));
  data["contents"] = settings.data_contents;
  data["task"] = data::name(settings.task());
  data["bias"] = settings.model.model->constant_feature();
  if (settings.model.model->takes_sparse_rows()) data["sparse"] = true;
  data["shuffled"] = settings.training.partition->shuffled();
  data["seed"] = seed;
  return data;
}

ordered_json identity(const RunPlan& run) {
  ordered_json all = scenario::echo(*run.settings);
  for (const char* key : {"title", "strategy", "seed", "expect"}) leave_out(all, key);
  for (ordered_json& job : all["job"])  // the settings of each job have them resolved
    for (const std::string& table : own_tables()) job.erase(table);
  all["cluster"]["platform"] = run.settings->platform_contents;
  if (!run.settings->cluster.stragglers->files().empty())
    all["cluster"]["stragglers"]["file"] = run.settings->trace_contents;
  if (!run.settings->failure_contents.empty())
    all["cluster"]["failures"]["hosts"]["path"] = run.settings->failure_contents;
  all["data"] = data_identity(*run.settings, run.seed);
  all["kind"] = run.kind;
  all["options"] = run.options;
  for (auto& option : all["options"])  // a file counts by its contents
    if (option.is_object() && option.contains("path"))
      option["path"] = base::hash(outputs::read_file(option["path"].get<std::string>()));
  all["seed"] = run.seed;
  all["results"] = results_number;
  return all;
}

/// The settings of one worker without network: only the worker's speed is kept of the cluster.
std::shared_ptr<const Settings> alone(const RunPlan& run) {
  auto settings = std::make_shared<Settings>(*run.settings);
  const cluster::Options& cluster = run.settings->cluster;
  settings->strategies.clear();  // they are for more workers
  settings->jobs.clear();
  settings->cluster = {};
  settings->cluster.workers = 1;
  settings->cluster.host_spec.speed_flops_per_s = settings->nominal_flops_per_s;
  settings->platform_contents.clear();
  settings->failure_contents.clear();
  settings->trace_contents.clear();
  // The price is that of the first worker's host.
  if (const cluster::HostClass* first = cluster::class_of(cluster.host_classes, cluster.workers, 0)) {
    settings->cluster.host_classes = {*first};
    settings->cluster.host_classes.front().count = 1;
  }
  settings->cluster.charge_reductions = cluster.charge_reductions;
  settings->cluster.watchdog = cluster.watchdog;
  if (settings->training.batch_size_per_worker) {
    settings->training.learning_rate = settings->training.scaled_learning_rate(run.settings->batch(0));
    settings->training.learning_rate_scaling = training::RateScaling::none;
    settings->training.batch_size = run.settings->batch(0);  // the sum of the workers' shares
    settings->training.batch_size_per_worker.reset();
  }
  settings->training.checkpoint_every_steps = 0;
  settings->training.checkpoint_every.reset();
  return settings;
}

}  // namespace

std::string RunPlan::data_key() const { return data_identity(*settings, seed).dump(); }

RunPlan plan_run(const std::shared_ptr<const Settings>& settings, std::size_t index, const ordered_json& parameters,
                 std::uint64_t seed) {
  const StrategyEntry& entry = settings->strategies.at(index);
  RunPlan run;
  run.settings = settings;
  run.label = entry.name();
  run.kind = entry.strategy.kind();
  run.strategy = entry.strategy.shared();
  run.options = scenario::echo(*entry.strategy);
  if (entry.recovery) run.options["recovery"] = name(*entry.recovery);
  run.recovery = entry.effective(settings->cluster);
  run.parameters = parameters;
  run.seed = seed;
  run.workers = run.strategy->workers(settings->cluster.workers);
  ordered_json named = identity(run);
  run.work = work_name(named);
  named["label"] = run.label;  // two rows of a table are two runs, even of equal work
  run.id = name_of(named);
  // The strategy `single` does the baseline's work, unless the cluster disturbs it.
  if (run.kind == strategies::Single::about.kind && settings->cluster.undisturbed()) run.work = plan_baseline(run).work;
  return run;
}

namespace {

RunPlan training_of(const std::shared_ptr<const Settings>& settings, const JobPlan& placed,
                    const ordered_json& parameters, std::uint64_t seed) {
  const JobEntry& entry = settings->jobs.at(placed.job);
  RunPlan run = plan_run(settings, placed.strategy, parameters, seed);
  run.fabric = settings;
  run.settings = std::make_shared<const Settings>(settings->trainings.at(placed.job));
  run.label = entry.name;
  run.workers = entry.workers;
  run.job = placed.job;
  return run;
}

}  // namespace

RunPlan plan_job(const std::shared_ptr<const Settings>& settings, const std::vector<JobPlan>& together, std::size_t job,
                 bool by_itself, const ordered_json& parameters, std::uint64_t seed) {
  RunPlan run = training_of(settings, together.at(job), parameters, seed);
  run.jobs = by_itself ? std::vector{together.at(job)} : together;
  ordered_json named = identity(run);
  named["label"] = run.label;
  named["fabric"] = settings->cluster.workers;
  named["by_itself"] = by_itself;
  for (const JobPlan& other : run.jobs)
    if (other.job != run.job) named["beside"].push_back(identity(training_of(settings, other, parameters, seed)));
  run.id = run.work = name_of(named);
  return run;
}

RunPlan plan_baseline(const RunPlan& run) {
  RunPlan baseline;
  baseline.settings = alone(run);
  baseline.label = "baseline";
  baseline.kind = strategies::Single::about.kind;
  baseline.strategy = run.strategy->alone();
  baseline.options = ordered_json::object();
  if (!baseline.strategy->traits(1).optimizes) baseline.options["job"] = "k_means";
  baseline.seed = run.seed;
  baseline.workers = 1;
  const ordered_json named = identity(baseline);
  baseline.id = name_of(named);
  baseline.work = work_name(named);
  return baseline;
}

}  // namespace simgrad::experiment
