#include "strategies/automatic/step_end.h"

#include <algorithm>
#include <cmath>

#include "cluster/fabric/device.h"
#include "strategies/replicas/allreduce.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "training/learning/layer_times.h"

namespace simgrad::strategies {

namespace {

/// A strategy's sums of gradients.
struct Sums {
  double rings = 1.0;  ///< in allreduces of the gradient: 2 (d - 1) / d of its bytes a rank
  /// The sums overlap with the last backward pass in buckets of so many bytes on the wire; 0: unit by unit; none: they
  /// do not.
  std::optional<double> bucket_bytes;
  bool shards = false;    ///< whether a rank updates a d-th of its part
  bool fastest = false;   ///< whether each sum takes the fastest algorithm
  bool by_layers = true;  ///< whether it takes gradients layer by layer
};

Sums sums_of(const Strategy& strategy) {
  constexpr double by_units = 1.5;  // gathered forward and back, and reduced: 3 (d - 1) / d
  if (const auto* const allreduce = dynamic_cast<const Allreduce*>(&strategy))
    return {.bucket_bytes = allreduce->bucket_bytes, .fastest = allreduce->algorithm.kind() == "auto"};
  if (const auto* const zero = dynamic_cast<const Zero*>(&strategy))
    return {.rings = zero->stage == 3 ? by_units : 1.0,
            .bucket_bytes = zero->stage > 1 ? zero->bucket_bytes.value_or(0.0) : zero->bucket_bytes,
            .shards = true};
  if (const auto* const fsdp = dynamic_cast<const Fsdp*>(&strategy))
    return {.rings = by_units, .bucket_bytes = fsdp->prefetch ? std::optional(0.0) : std::nullopt, .shards = true};
  return {.bucket_bytes = {}, .by_layers = false};
}

double update_s(const StageDevices& stage, const training::MemoryTerms& terms, double parameters) {
  double slowest = 0.0;
  const double bytes =
      training::update_bytes(terms.precision, static_cast<std::size_t>(terms.optimizer_vectors)) * parameters;
  for (const DeviceKind& kind : stage.kinds)
    slowest = std::max(slowest, kind.device ? kind.device->memory_s(bytes) * kind.nominal_flops_per_s / kind.flops_per_s
                                            : terms.update_flops * parameters / kind.flops_per_s);
  return stage.charges_additions ? slowest : 0.0;
}

/// A sum of a part's gradient within a replica, and one of that of experts.
double sum_in_replica_s(const StageDevices& stage, double parameters, double of_experts, double number_bytes) {
  const auto sum_s = [&](const SumGroup& group, double numbers) {
    return numbers > 0.0 ? stage.ring_sum_s(group.ring, numbers, group.members, number_bytes) : 0.0;
  };
  return sum_s(stage.replica, parameters - of_experts) + sum_s(stage.context, of_experts);
}

/// The time by which sums end behind a backward pass that makes their buckets one after the other. The last bucket is
/// summed behind it.
double behind_pass_s(double buckets, double bucket_s, double pass_s) {
  return std::max(bucket_s, buckets * bucket_s - pass_s * (buckets - 1.0) / buckets);
}

/// A stage's last task is a backward pass, or a part of one.
double last_task_s(const std::vector<TimedTask>& tasks) { return tasks.back().end - tasks.back().start; }

}  // namespace

std::vector<training::Dimension> summed_behind_passes(const Strategy& strategy, const Parallel& parallel,
                                                      const Traits& traits) {
  if (traits.sums == Traits::Sums::replicas && !sums_of(strategy).by_layers)
    return {training::Dimension::context, training::Dimension::expert};
  return parallel.sums_along(traits);
}

StepEnd end_of_step(const Strategy& strategy, const LayoutTimes& times, const TimedTable& table,
                    const std::vector<std::int64_t>& firsts) {
  const Sums sums = sums_of(strategy);
  const std::size_t stages = table.tasks.size();
  const double tied_s = times.tied_sum_s();
  double summed_s = 0.0, updated_s = 0.0;
  // Ranks that share units add up gradients in the last backward pass, for which the stages before wait.
  double shared_s = 0.0;
  for (std::size_t stage = stages; stage-- > 0;) {
    UnitTimes stage_times;
    double parameters = 0.0, of_experts = 0.0;
    for (std::size_t piece = stage; piece + 1 < firsts.size(); piece += stages) {
      stage_times += times.of(stage, firsts[piece], firsts[piece + 1]);
      parameters += times.parameters(firsts[piece], firsts[piece + 1]);
      of_experts += times.of_experts(firsts[piece], firsts[piece + 1]);
    }
    shared_s += stage_times.sums_s;
    const StageDevices& devices = times.devices(stage);
    const double bytes = times.whole().bytes.wire, pass_s = last_task_s(table.tasks[stage]);
    const auto in_group = [&](const SumGroup& group, double numbers) {
      return sums.fastest ? devices.fastest_sum_s(group, numbers, bytes)
                          : sums.rings * devices.ring_sum_s(group.ring, numbers, group.members, bytes);
    };
    const auto of = [&](double part) {  // of the stage's gradient
      const double experts_s = of_experts > 0.0 ? in_group(devices.workers, part * of_experts) : 0.0;
      return in_group(devices.sharers, part * (parameters - of_experts)) + experts_s;
    };
    double sum_s = of(1.0);
    if (sums.bucket_bytes && *sums.bucket_bytes == 0.0) {
      sum_s = std::max(sum_s - pass_s, 0.0);
    } else if (sums.bucket_bytes) {
      const double buckets = std::max(1.0, std::floor(bytes * parameters / *sums.bucket_bytes));
      sum_s = behind_pass_s(buckets, of(1.0 / buckets), pass_s);
    }
    const double replica_s = sums.by_layers ? 0.0 : sum_in_replica_s(devices, parameters, of_experts, bytes);
    const double made_s =
        table.tasks[stage].back().end + shared_s + replica_s + (stage == 0 || stage + 1 == stages ? tied_s : 0.0);
    const double shards = sums.shards ? static_cast<double>(devices.workers.members) : 1.0;
    summed_s = std::max(summed_s, made_s + sum_s);
    updated_s = std::max(updated_s, made_s + sum_s + update_s(devices, times.whole(), parameters / shards));
  }
  StepEnd end;
  end.passes_s = table.makespan;
  end.sums_s = std::max(summed_s - end.passes_s, 0.0);
  end.update_s = updated_s - end.passes_s - end.sums_s;
  return end;
}

}  // namespace simgrad::strategies
