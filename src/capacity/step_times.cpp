#include "capacity/step_times.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "experiment/plan/changes.h"
#include "experiment/plan/read_settings.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"

namespace simgrad::capacity {

namespace {

/// The plan without what keeps a training from having other workers, and from being undisturbed.
experiment::Plan undisturbed(const experiment::Plan& plan) {
  experiment::Plan changed = plan;
  scenario::Document document = *plan.document;
  for (const char* key : {"training.checkpoint_every", "training.checkpoint_every_steps", "cluster.failures", "stop",
                          "parallel.data", "capacity", "expect"})
    document.erase(key);
  changed.document = std::make_shared<const scenario::Document>(document);
  return changed;
}

[[noreturn]] void refuse(const experiment::Plan& plan, int hosts, std::int64_t workers, const std::string& text) {
  throw base::ScenarioError(fmt::format(
      "{}: the step of a job of {} host{} is that of the training with cluster.workers = {}, which {}; give the job "
      "\"work\", or a \"step\"",
      plan.document->position("capacity").text(), hosts, hosts == 1 ? "" : "s", workers, text));
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

Step step_of(const experiment::Observed& seen, std::int64_t steps, const experiment::Settings& settings) {
  Step step{.duration_s = seen.simulated_s / static_cast<double>(steps),
            .samples = static_cast<double>(seen.samples) / static_cast<double>(steps)};
  const models::Model& model = settings.model.proxied() ? *settings.model.timed_as : *settings.model.model;
  step.tokens = step.samples * model.tokens_a_sample(settings.problem());
  return step;
}

}  // namespace

std::map<int, Step> simulated_steps(const experiment::Plan& plan, const std::vector<int>& hosts, int jobs,
                                    int threads) {
  std::map<int, Step> all;
  if (hosts.empty()) return all;
  const experiment::Plan changed = undisturbed(plan);
  const experiment::CapacitySection& capacity = plan.runs.front().settings->capacity;
  const auto workers = [&](int of) { return of * capacity.workers_per_host; };
  std::vector<experiment::RunPlan> runs;
  for (const int each : hosts) {
    const std::vector<std::string> sets{fmt::format("cluster.workers={}", workers(each)),
                                        fmt::format("stop={{ steps = {} }}", capacity.simulated_steps)};
    std::optional<experiment::RunPlan> run = experiment::varied(changed, plan.runs.front(), sets);
    if (!run) refuse(plan, each, workers(each), fmt::format("the scenario refuses ({})", first_fault(changed, sets)));
    runs.push_back(std::move(*run));
  }
  std::vector<const experiment::RunPlan*> pointers;
  for (const experiment::RunPlan& run : runs) pointers.push_back(&run);
  experiment::TrialStore store("", false);
  experiment::DataCache data;
  const auto [at_a_time, threads_each] = experiment::jobs_and_threads(jobs, threads, runs.size());
  const auto outcomes = experiment::trial_outcomes(pointers, store, data, at_a_time, threads_each);
  if (outcomes.size() != runs.size()) throw base::EnvironmentError("simgrad: interrupted");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!outcomes[i] || !(outcomes[i]->simulated_s > 0.0)) refuse(plan, hosts[i], workers(hosts[i]), "fails");
    all[hosts[i]] = step_of(*outcomes[i], capacity.simulated_steps, *runs[i].settings);
  }
  return all;
}

}  // namespace simgrad::capacity
