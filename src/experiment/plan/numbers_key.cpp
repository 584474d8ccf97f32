#include "experiment/plan/numbers_key.h"

#include "base/hash.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/places.h"

namespace simgrad::experiment {

namespace {

/// Whether no clock, no failure and no neighbour in the cluster changes a number of the run.
bool numbers_without_time(const RunPlan& run) {
  const Settings& settings = *run.settings;
  const training::Options& training = settings.training;
  const training::Traits traits = run.strategy->traits(static_cast<int>(run.workers));
  // The clock decides which splits a faulty worker maps.
  if (settings.cluster.faulty->there() && !traits.free_workers_take.empty()) return false;
  // An overflow of float16 is seen by reading the numbers.
  // Numbers that are known have no parameters that could be kept.
  return training.numbers && !settings.save_model && !settings.model.proxied() &&
         training.precision != training::Precision::float16 && run.jobs.empty() && traits.lockstep() &&
         !times_follow_numbers(run) && !traits.numbers_follow_times && !settings.cluster.failures.any() &&
         !settings.stop.time_s && !settings.evaluate.every_s && settings.evaluate.on != training::EvaluationSet::next &&
         !training.partition->by_speed() && !training.partition->inflow() && !settings.model.model->takes_sparse_rows();
}

}  // namespace

bool times_follow_numbers(const RunPlan& run) {
  const training::Traits traits = run.strategy->traits(static_cast<int>(run.workers));
  const ModelSection& model = run.settings->model;
  return traits.times_follow_numbers || (traits.cuts && !model.proxied() && model.model->times_follow_routing());
}

std::string numbers_key(const RunPlan& run) {
  if (!numbers_without_time(run)) return {};
  const Settings& settings = *run.settings;
  nlohmann::ordered_json key = scenario::echo(settings);
  nlohmann::ordered_json training = std::move(key["training"]);
  for (const char* timing :
       {"training.input", "training.checkpoint_every_steps", "training.checkpoint_every", "training.checkpoint_async"})
    training.erase(option_key(timing).substr(std::string_view("training.").size()));
  nlohmann::ordered_json all{{"data", run.data_key()},
                             {"model", key["model"]},
                             {"training", std::move(training)},
                             {"evaluate_on", key["evaluate"]["on"]},
                             {"kind", run.kind},
                             {"options", run.options},
                             {"workers", run.workers},
                             {"cluster_workers", settings.cluster.workers},
                             {"seed", run.seed},
                             {"results", results_number}};
  if (settings.cluster.faulty->there()) all["faulty"] = key["cluster"]["faulty"];
  return base::hash(all.dump()).substr(0, 16);
}

}  // namespace simgrad::experiment
