#include "planner/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "experiment/plan/mesh_bound.h"
#include "experiment/plan/numbers_key.h"
#include "planner/variants.h"
#include "training/learning/layer_times.h"
#include "training/precision.h"

namespace simgrad::planner {

using experiment::Settings;

namespace {

/// The model whose layers decide the times, and its problem.
struct Timed {
  const models::Model& model;
  models::Problem problem;
};

Timed timed_of(const Settings& settings) {
  if (!settings.model.proxied()) return {*settings.model.model, settings.problem()};
  const models::Model& large = *settings.model.timed_as;
  return {large, large.own_problem().value_or(models::Problem())};
}

/// Seconds of the whole batch on one worker of the mean speed of all.
double serial_s(const Candidate& candidate, const Timed& timed, double workers) {
  const Settings& settings = *candidate.settings;
  const auto rows = static_cast<double>(candidate.batch);
  if (settings.cluster.device_of(0) == nullptr) {
    // Speeds of a platform are known once it is loaded; measured seconds are not flops.
    if (!settings.cluster.platform.empty() || training::any_measured(timed.model.layers(timed.problem))) return 0.0;
    double speeds = 0.0;
    for (int worker = 0; worker < static_cast<int>(workers); ++worker) {
      const auto& relative = settings.cluster.relative_speeds;
      const auto at = static_cast<std::size_t>(worker);
      speeds += settings.cluster.speed(worker) * (at < relative.size() ? relative[at] : 1.0);
    }
    const double flops = timed.model.gradient_flops(timed.problem, candidate.batch);
    return speeds > 0.0 ? flops / (speeds / workers) : 0.0;
  }
  double fastest = std::numeric_limits<double>::infinity();
  const std::vector<models::Layer> layers = timed.model.layers(timed.problem);
  std::vector<const cluster::Device*> seen;
  for (int worker = 0; worker < static_cast<int>(workers); ++worker) {
    const cluster::Device* const device = settings.cluster.device_of(worker);
    if (!device || std::ranges::find(seen, device) != seen.end()) continue;
    seen.push_back(device);
    const training::LayerTimes times(*device, settings.training.precision, {.casts = 0.0});
    double sum = times.gradient_s(layers, rows);
    if (settings.training.recompute == training::Recompute::full)
      for (const models::Layer& layer : layers) sum += times.forward_s(layer, rows);
    fastest = std::min(fastest, sum);
  }
  double best_speed = 1.0;
  for (const double speed : settings.cluster.relative_speeds) best_speed = std::max(best_speed, speed);
  return std::isfinite(fastest) ? fastest / best_speed : 0.0;
}

/// The part of the computing that a pipeline idles besides.
double bubble_share(const strategies::Parallel& parallel) {
  if (parallel.pipeline == 1 || parallel.schedule->splits_backward() || parallel.schedule->asynchronous()) return 0.0;
  return static_cast<double>(parallel.pipeline - 1) /
         static_cast<double>(parallel.micro_batch_count() * parallel.chunks);
}

/// Whether each step ends with the sum of all gradients on every replica, uncompressed.
bool sums_whole_gradients(const Candidate& candidate) {
  const auto& options = candidate.run.options;
  const bool plain = !options.contains("compression") || options.at("compression") == "none";
  return plain && (candidate.run.kind == "allreduce" || candidate.run.kind == "zero" || candidate.run.kind == "fsdp");
}

/// Whether all that a host sends or receives goes over one network card, as fast as every other one, in the time that
/// the card needs.
bool alike_links(const Settings& settings) {
  return settings.cluster.platform.empty() && settings.cluster.measured.empty() &&
         settings.cluster.topology.kind() == "star" && settings.cluster.topology->even_latencies();
}

}  // namespace

double StepBound::step_s() const { return std::max(compute_s + bubble_s, bytes_s + rounds_s); }

StepBound step_bound(const Candidate& candidate) {
  const Settings& settings = *candidate.settings;
  const Timed timed = timed_of(settings);
  const auto workers = static_cast<double>(std::max<std::int64_t>(candidate.run.workers, 1));
  StepBound bound;
  // Tokens that experts drop take no time.
  const bool unknown = settings.training.numbers && experiment::times_follow_numbers(candidate.run);
  bound.compute_s = unknown ? 0.0 : serial_s(candidate, timed, workers) / workers;
  const double mesh_s =
      unknown || random_times(candidate)
          ? 0.0
          : experiment::mesh_step_s(candidate.run, candidate.strategy, candidate.batch, timed.model, timed.problem);
  bound.bubble_s = std::max(bound.compute_s * bubble_share(settings.parallel), mesh_s - bound.compute_s);
  if (!sums_whole_gradients(candidate) || period_of(candidate) > 1 || !alike_links(settings)) return bound;
  const auto& parallel = settings.parallel;
  if (parallel.by_stages()) return bound;
  const double replicas = workers / static_cast<double>(parallel.cuts() ? parallel.ranks_a_replica() : 1);
  if (replicas < 2.0) return bound;
  const auto parameters = static_cast<double>(timed.model.parameters(timed.problem));
  const double part = parameters * replicas / workers;
  if (settings.cluster.protocol->there()) return bound;  // a message's time depends on its size
  const double bytes = 2.0 * (replicas - 1.0) / replicas * part * settings.training.number_bytes().wire;
  bound.bytes_s = bytes / settings.cluster.host_spec.bandwidth_bytes_per_s;
  bound.rounds_s = std::ceil(std::log2(replicas)) * settings.cluster.host_spec.latency_s;
  return bound;
}

}  // namespace simgrad::planner
