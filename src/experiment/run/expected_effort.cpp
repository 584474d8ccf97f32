#include "experiment/run/expected_effort.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "experiment/run/effort.h"
#include "training/learning/layer_times.h"
#include "training/program.h"

namespace simgrad::experiment {

namespace {

constexpr double rows_unknown = 10'000.0;  ///< of data in a file
constexpr double steps_unknown = 1000.0;   ///< of a run that a target loss ends

/// The length of a training, as its rules let it be.
struct Length {
  double steps = 0.0;    ///< of all workers
  double samples = 0.0;  ///< whose gradients are computed
};

double rows_of(const Settings& settings) {
  const auto rows = known_rows(settings);
  return rows ? static_cast<double>(std::max<std::int64_t>(*rows, 1)) : rows_unknown;
}

/// Flops of one row's gradient.
double flops_a_row(const Settings& settings) {
  constexpr std::int64_t rows = 1000;
  return settings.model.model->gradient_flops(settings.problem(), rows) / static_cast<double>(rows);
}

/// Flops of gradients that a worker computes in a second.
double gradient_flops_per_s(const Settings& settings, double rows, double flops_a_row) {
  const cluster::Device* const device = settings.cluster.device_of(0);
  if (!device) return settings.nominal_flops_per_s;
  const std::vector<models::Layer> layers = settings.model.model->layers(settings.problem());
  const double seconds = training::LayerTimes(*device, settings.training.precision).gradient_s(layers, rows);
  return flops_a_row * rows / seconds;
}

Length length_of(const RunPlan& run, double flops_a_row) {
  const Settings& settings = *run.settings;
  const training::StopOptions& stop = settings.stop;
  const auto P = static_cast<double>(run.workers);
  const double rows = rows_of(settings);
  const double batch = std::max(1.0, static_cast<double>(settings.batch(static_cast<std::int64_t>(rows))));
  // A server's update takes some of the workers' gradients only.
  const training::Traits traits = run.strategy->traits(static_cast<int>(run.workers));
  const bool some = traits.pace == training::Traits::Pace::server_updates && traits.gradients_an_update > 0;
  const double samples_a_step = some ? batch / P * static_cast<double>(traits.gradients_an_update) : batch;
  double samples = std::numeric_limits<double>::infinity();
  if (stop.steps) samples = std::min(samples, static_cast<double>(*stop.steps) * samples_a_step);
  if (stop.epochs) samples = std::min(samples, *stop.epochs * rows);
  if (const auto most = stop.samples_of(settings.model.model->tokens_a_sample(settings.problem())))
    samples = std::min(samples, static_cast<double>(*most));
  if (stop.time_s && flops_a_row > 0.0)
    samples =
        std::min(samples, *stop.time_s * P * gradient_flops_per_s(settings, batch / P, flops_a_row) / flops_a_row);
  const bool counted = stop.steps || stop.epochs || stop.samples || stop.tokens;
  if (!counted && (stop.loss || !stop.time_s)) samples = std::min(samples, steps_unknown * batch);
  return {.steps = samples / batch, .samples = samples};
}

}  // namespace

double expected_effort_s(const RunPlan& run) {
  constexpr double event_s = 2e-6, numbers_s = 15e-6, flops_per_s = 2.5e9;  // as in effort_s
  constexpr double activities_a_step = 4.0;
  const Settings& settings = *run.settings;
  const double row_flops = flops_a_row(settings);
  const Length length = length_of(run, row_flops);
  const auto P = static_cast<std::uint64_t>(std::max<std::int64_t>(run.workers, 1));
  const double rank_steps = static_cast<double>(P) * length.steps;
  // Between the one message of a server's worker and the 2 (P - 1) of a ring that is simulated message by message.
  const double messages_a_step = P > 1 ? 2.0 * static_cast<double>(std::bit_width(P)) : 0.0;
  const auto jobs = static_cast<double>(std::max<std::size_t>(run.jobs.size(), 1));
  const double timing_s = event_s * (activities_a_step + messages_a_step) * rank_steps;
  if (!settings.training.numbers) return start_effort_s + jobs * timing_s;
  const double every = static_cast<double>(settings.evaluate.every_steps.value_or(1));
  // A loss of all rows takes about a third of the flops of their gradients.
  const double evaluations_flops = length.steps / every * rows_of(settings) * row_flops / 3.0;
  const double flops = length.samples * row_flops + evaluations_flops;
  return start_effort_s + jobs * (timing_s + numbers_s * rank_steps + flops / flops_per_s);
}

}  // namespace simgrad::experiment
