#include "capacity/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "capacity/servers.h"
#include "capacity/step_times.h"
#include "capacity/workload.h"
#include "experiment/plan/capacity_of_plan.h"

namespace simgrad::capacity {

namespace {

/// Makes the jobs, with steps of a second in place of simulated ones, and the servers at the beginning.
void check_work(const experiment::RunPlan& run) {
  const experiment::Settings& settings = *run.settings;
  const experiment::CapacitySection& capacity = settings.capacity;
  const models::Model& model = settings.model.proxied() ? *settings.model.timed_as : *settings.model.model;
  std::map<int, Step> steps;
  for (const int hosts : hosts_to_simulate(capacity))
    steps[hosts] = {.duration_s = 1.0, .samples = 1.0, .tokens = model.tokens_a_sample(settings.problem())};
  workload(capacity, steps, run.seed);
  if (capacity.training.hosts) training_job(capacity, steps, {});
  Servers(
      static_cast<int>(capacity.most_servers()),
      {.failures = *capacity.failures, .repair = *capacity.repair, .seed = run.seed, .warm_up_s = capacity.warm_up_s});
}

void check_run(const experiment::Plan& plan) {
  check_trainings(plan);
  try {
    check_work(plan.runs.front());
  } catch (const base::ScenarioError& fault) {  // of the section as a whole
    throw base::ScenarioError(fmt::format("{}: {}", plan.document->position("capacity").text(), fault.what()));
  }
}

}  // namespace

base::ScenarioError several_trainings(const experiment::Plan& plan) {
  return base::ScenarioError(
      fmt::format("{}: the scenario has {} runs, and the steps of the fleet's jobs are those of one; choose one by "
                  "--strategy, and leave out the grid",
                  plan.document->position("capacity").text(), plan.runs.size()));
}

void check(const experiment::Plan& plan) {
  const experiment::CapacitySection& capacity = plan.runs.front().settings->capacity;
  if (!capacity.any() || !experiment::has_work(capacity)) return;
  if (std::ranges::any_of(plan.grid, [](const scenario::Axis& axis) { return axis.values.size() > 1; }))
    throw several_trainings(plan);
  std::optional<base::ScenarioError> first;
  for (const experiment::RunPlan& run : plan.runs) {
    experiment::Plan alone = plan;
    alone.runs = {run};
    try {
      return check_run(alone);
    } catch (const base::ScenarioError& fault) {
      if (!first) first = fault;
    }
  }
  if (first) throw base::ScenarioError(*first);
}

}  // namespace simgrad::capacity
