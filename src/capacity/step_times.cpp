#include "capacity/step_times.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "capacity/workload.h"
#include "experiment/plan/changes.h"
#include "experiment/plan/read_settings.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"
#include "training/checkpoints/checkpoint_store.h"

namespace simgrad::capacity {

namespace {

/// The plan without what keeps a training from having other workers, and from being undisturbed.
experiment::Plan undisturbed(const experiment::Plan& plan) {
  experiment::Plan changed = plan;
  scenario::Document document = *plan.document;
  for (const char* key : {"training.checkpoint_every", "training.checkpoint_every_steps", "training.checkpoint_async",
                          "cluster.host_memory_bandwidth", "cluster.failures", "stop", "parallel.data", "capacity",
                          "expect", "save_model"})
    document.erase(key);
  changed.document = std::make_shared<const scenario::Document>(document);
  return changed;
}

/// A number that a training is asked for: its name in a refusal, and what the user may give in its place.
struct Asked {
  const char* what;
  const char* instead;
};
constexpr Asked of_steps{"step", "give the job \"work\", or a \"step\""};
constexpr Asked of_checkpoints{"checkpoint", "give capacity.checkpoint_time"};

[[noreturn]] void refuse(const experiment::Plan& plan, int hosts, std::int64_t workers, const std::string& text,
                         const Asked& asked) {
  throw base::ScenarioError(fmt::format(
      "{}: the {} of a job of {} host{} is that of the training of {} with cluster.workers = {}, which {}; {}",
      plan.document->position("capacity").text(), asked.what, hosts, hosts == 1 ? "" : "s",
      plan.runs.front().settings->model.model.kind(), workers, text, asked.instead));
}

/// The first thing that is wrong with the scenario under these values.
std::string first_fault(const experiment::Plan& plan, const std::vector<std::string>& sets) {
  scenario::Document document = *plan.document;
  for (const std::string& set : sets) document.set(set);
  document.set("training.numbers=false");
  scenario::Faults faults;
  experiment::read_settings(document, faults);
  return faults.empty() ? std::string("unknown") : faults.all().front().message;
}

/// A timing-only run of the scenario's training.
struct Training {
  int hosts = 1;
  std::int64_t steps = 1;
  std::vector<std::string> sets = {};
};

Step step_of(const experiment::Observed& seen, std::int64_t steps, const experiment::Settings& settings) {
  Step step{.duration_s = seen.simulated_s / static_cast<double>(steps),
            .samples = static_cast<double>(seen.samples) / static_cast<double>(steps)};
  const models::Model& model = settings.model.proxied() ? *settings.model.timed_as : *settings.model.model;
  step.tokens = step.samples * model.tokens_a_sample(settings.problem());
  return step;
}

/// The scenario's training on each number of hosts, for so many steps, under these values besides. In the same order.
std::vector<experiment::RunPlan> planned(const experiment::Plan& plan, const std::vector<Training>& trainings,
                                         const Asked& asked) {
  const experiment::Plan changed = undisturbed(plan);
  const experiment::Settings& settings = *plan.runs.front().settings;
  const std::int64_t a_server = settings.capacity.workers_of_server(settings.cluster);
  std::vector<experiment::RunPlan> runs;
  for (const Training& each : trainings) {
    const std::int64_t workers = each.hosts * a_server;
    std::vector<std::string> sets{fmt::format("cluster.workers={}", workers),
                                  fmt::format("stop={{ steps = {} }}", each.steps)};
    sets.insert(sets.end(), each.sets.begin(), each.sets.end());
    std::optional<experiment::RunPlan> run = experiment::varied(changed, plan.runs.front(), sets);
    if (!run)
      refuse(plan, each.hosts, workers, fmt::format("the scenario refuses ({})", first_fault(changed, sets)), asked);
    runs.push_back(std::move(*run));
  }
  return runs;
}

/// Returns what the simulations of these trainings observe, in the same order.
std::vector<experiment::Observed> observed(const experiment::Plan& plan, const std::vector<Training>& trainings,
                                           const Asked& asked, int jobs, int threads) {
  const std::vector<experiment::RunPlan> runs = planned(plan, trainings, asked);
  std::vector<const experiment::RunPlan*> pointers;
  for (const experiment::RunPlan& run : runs) pointers.push_back(&run);
  experiment::TrialStore store("", false);
  experiment::DataCache data;
  const auto [at_a_time, threads_each] = experiment::jobs_and_threads(jobs, threads, runs.size());
  const auto outcomes = experiment::trial_outcomes(pointers, store, data, at_a_time, threads_each);
  if (outcomes.size() != runs.size()) throw base::EnvironmentError("simgrad: interrupted");
  std::vector<experiment::Observed> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!outcomes[i] || !(outcomes[i]->simulated_s > 0.0))
      refuse(plan, trainings[i].hosts, runs[i].workers, "fails", asked);
    all.push_back(*outcomes[i]);
  }
  return all;
}

std::vector<Training> trainings_of_steps(const std::vector<int>& hosts, std::int64_t steps) {
  std::vector<Training> all;
  for (const int each : hosts) all.push_back({.hosts = each, .steps = steps});
  return all;
}

/// For each number of hosts one without checkpoints, and one with a checkpoint between its two steps.
std::vector<Training> trainings_of_checkpoints(const std::vector<int>& hosts) {
  std::vector<Training> all;
  for (const int each : hosts) {
    all.push_back({.hosts = each, .steps = 2});
    all.push_back({.hosts = each, .steps = 2, .sets = {"training.checkpoint_every_steps=1"}});
  }
  return all;
}

}  // namespace

bool simulates_checkpoints(const experiment::Settings& settings) {
  const experiment::CapacitySection& capacity = settings.capacity;
  return capacity.checkpoints() && !capacity.checkpoint_s && settings.cluster.storage_bandwidth_bytes_per_s;
}

void check_trainings(const experiment::Plan& plan) {
  const experiment::Settings& settings = *plan.runs.front().settings;
  const experiment::CapacitySection& capacity = settings.capacity;
  if (simulates_checkpoints(settings))
    planned(plan, trainings_of_checkpoints(hosts_with_checkpoints(capacity)), of_checkpoints);
  planned(plan, trainings_of_steps(hosts_to_simulate(capacity), capacity.simulated_steps), of_steps);
}

std::map<int, Step> simulated_steps(const experiment::Plan& plan, const std::vector<int>& hosts, int jobs,
                                    int threads) {
  std::map<int, Step> all;
  if (hosts.empty()) return all;
  const experiment::Settings& settings = *plan.runs.front().settings;
  const std::int64_t steps = settings.capacity.simulated_steps;
  const std::vector<experiment::Observed> seen =
      observed(plan, trainings_of_steps(hosts, steps), of_steps, jobs, threads);
  for (std::size_t i = 0; i < hosts.size(); ++i) all[hosts[i]] = step_of(seen[i], steps, settings);
  return all;
}

CheckpointTimes times_of_checkpoint(double write_s, const experiment::Settings& settings) {
  if (!settings.training.checkpoint_async) return {.held_up_s = write_s};
  const std::optional<double> copying = training::host_memory_bandwidth(settings.cluster);
  const double bytes = write_s * *settings.cluster.storage_bandwidth_bytes_per_s;
  return {.held_up_s = copying ? bytes / *copying : 0.0, .write_s = write_s};
}

std::map<int, CheckpointTimes> simulated_checkpoints(const experiment::Plan& plan, const std::vector<int>& hosts,
                                                     int jobs, int threads) {
  const std::vector<experiment::Observed> seen =
      observed(plan, trainings_of_checkpoints(hosts), of_checkpoints, jobs, threads);
  std::map<int, CheckpointTimes> all;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    all[hosts[i]] =
        times_of_checkpoint(seen[2 * i + 1].simulated_s - seen[2 * i].simulated_s, *plan.runs.front().settings);
  return all;
}

}  // namespace simgrad::capacity
