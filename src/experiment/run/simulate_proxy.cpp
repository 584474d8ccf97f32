#include "experiment/run/simulate_proxy.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/child_process.h"
#include "base/errors.h"
#include "experiment/plan/proxy.h"
#include "experiment/run/finished_runs.h"
#include "outputs/results.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// The run with a clock that may go on for ever: the small model's times are those of no run.
RunPlan without_limit_of_time(const RunPlan& run) {
  RunPlan same = run;
  Settings settings = *run.settings;
  settings.cluster.watchdog.simulated_s = std::numeric_limits<double>::infinity();
  same.settings = std::make_shared<const Settings>(std::move(settings));
  return same;
}

/// The run with numbers, in a child. Its times are the small model's.
record::Record with_numbers(const RunPlan& run, const Data& data, int threads, training::Pulse* pulse,
                            ModelKeeper* keeper) {
  const base::ChildEnd end = base::run_in_child([&] {
    outputs::Run computed = described(run);
    try {
      computed.record = simulate(without_limit_of_time(run), data, threads, pulse, {}, {.keeper = keeper});
    } catch (const CollectivesMeet& meet) {
      return outputs::compact({{"meet", meet.what()}});
    }
    return outputs::compact({{"run", outputs::to_json(computed)}, {"fault", keeper ? keeper->fault : ""}});
  });
  if (end.kind == base::ChildEnd::Kind::threw) throw std::runtime_error(end.text);
  if (end.kind == base::ChildEnd::Kind::died)
    throw std::runtime_error("the process that computed the numbers " + end.death);
  const nlohmann::ordered_json answer = outputs::parse_json(end.text);
  if (answer.contains("meet")) throw CollectivesMeet(answer["meet"].get<std::string>());
  if (keeper) keeper->fault = answer["fault"].get<std::string>();
  return outputs::run_from_json(answer["run"]).record;
}

/// Puts the numbers into the record of times, evaluation by evaluation. Both curves have ascending steps.
void take_numbers(record::Record& of_large, const record::Record& computed) {
  auto same = computed.curve.begin();
  for (record::Evaluation& seen : of_large.curve) {
    while (same != computed.curve.end() && same->step < seen.step) ++same;
    if (same == computed.curve.end() || same->step != seen.step) continue;
    seen.loss = same->loss;
    seen.metric = same->metric;
    seen.consensus_distance = same->consensus_distance;
    seen.dropped_share = same->dropped_share;
    seen.expert_imbalance = same->expert_imbalance;
  }
  of_large.metric_name = computed.metric_name;
  of_large.final_loss = computed.final_loss;
  of_large.dropped_share = computed.dropped_share;
  of_large.expert_imbalance = computed.expert_imbalance;
  of_large.loss_floor = computed.loss_floor;
  of_large.sources = computed.sources;
  of_large.diverged_step = computed.diverged_step;
  of_large.status = computed.status;
  of_large.error = computed.error;
  if (computed.time_to_target_s && !of_large.curve.empty())
    of_large.time_to_target_s = of_large.curve.back().simulated_s;
}

}  // namespace

record::Record simulate_proxy(const RunPlan& run, const Data& data, int threads, training::Pulse* pulse,
                              const std::vector<cluster::TimelineLimits>& limits, const Numbers& numbers) {
  base::check(data != nullptr, "a run with numbers has data");
  const record::Record computed = with_numbers(run, data, threads, pulse, numbers.keeper);
  // Where the numbers end in an error, the run has the times of their steps.
  const std::int64_t steps = std::max<std::int64_t>(computed.steps, 1);
  record::Record of_large = simulate(timed_plan(run, data->train.rows, steps), nullptr, threads, pulse, limits);
  const Settings& settings = *run.settings;
  of_large.notes.insert(of_large.notes.begin(),
                        note_on_proxy(settings, settings.model.model->parameters(problem_of(*data))));
  if (of_large.status != record::Status::failed) take_numbers(of_large, computed);
  return of_large;
}

}  // namespace simgrad::experiment
