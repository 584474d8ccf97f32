#include "experiment/plan/proxy.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "outputs/text/number_text.h"

namespace simgrad::experiment {

Settings timed_settings(const Settings& settings, std::int64_t rows, std::optional<std::int64_t> steps) {
  Settings of_large = settings;
  of_large.model.model = settings.model.timed_as;
  of_large.model.timed_as = ModelSection().timed_as;
  of_large.training.numbers = false;
  of_large.stop.loss.reset();
  if (steps) of_large.stop.steps = steps;
  of_large.data.samples = rows;
  of_large.data.features.reset();
  of_large.data.test_fraction = 0.0;
  return of_large;
}

RunPlan timed_plan(const RunPlan& run, std::int64_t rows, std::optional<std::int64_t> steps) {
  RunPlan of_large = run;
  of_large.settings = std::make_shared<const Settings>(timed_settings(*run.settings, rows, steps));
  return of_large;
}

std::string note_on_proxy(const Settings& settings, std::int64_t parameters_computed) {
  const models::Model& large = *settings.model.timed_as;
  const std::int64_t parameters = large.parameters(large.own_problem().value_or(models::Problem()));
  return fmt::format(
      "losses are those of {} with {} parameters; times, messages and bytes are those of {} with {} "
      "parameters (model.timed_as)",
      settings.model.model.kind(), outputs::count(static_cast<double>(parameters_computed)),
      settings.model.timed_as.kind(), outputs::count(static_cast<double>(parameters)));
}

std::string proxy_refusal(const Settings& settings, const strategies::Strategy& strategy, std::string_view kind) {
  const char* why = nullptr;
  const training::Traits traits = strategy.traits(static_cast<int>(strategy.workers(settings.cluster.workers)));
  if (!traits.lockstep() || traits.numbers_follow_times)
    why = "what a gradient is computed of depends on when messages arrive";
  else if (traits.times_follow_numbers)
    why = "what is sent depends on how far parameters move";
  else if (settings.cluster.failures.any())
    why = "failures come at times, and change the numbers";
  else if (settings.stop.time_s)
    why = "stop.time ends the training at a time; give steps or epochs";
  else if (settings.evaluate.every_s)
    why = "evaluate.every_s looks at times; give every_steps";
  else if (settings.evaluate.on == training::EvaluationSet::next || settings.training.partition->inflow())
    why = "rows come in at times";
  else if (settings.training.partition->by_speed())
    why = "shares by speed change the numbers with the times";
  else if (settings.model.model->takes_sparse_rows())
    why = "the messages of a sparse model follow from its rows";
  if (!why) return {};
  return fmt::format(
      "{}: timed_as takes numbers of one model and times of another, but here numbers depend on times: {}", kind, why);
}

}  // namespace simgrad::experiment
