#include "strategies/automatic/layout_times.h"

#include <algorithm>
#include <cmath>

namespace simgrad::strategies {

using models::Among;
using models::Step;

namespace {

/// The passes of a step's mean micro-batch: the first one casts the parameters, unless they are gathered each time, and
/// the others add their gradients to its own.
training::ParameterPasses passes_of(const Parallel& parallel, const training::Traits& traits,
                                    const training::NumberBytes& bytes) {
  const auto count = static_cast<double>(parallel.micro_batch_count());
  training::ParameterPasses passes = training::parameter_passes(bytes, traits.main_gradients, !traits.gathers_units);
  if (!passes.in_products) passes.sum_bytes *= (count - 1.0) / count;
  passes.casts = traits.gathers_units ? 1.0 : 1.0 / count;
  passes.casts_again = traits.gathers_units ? 1.0 : 0.0;
  return passes;
}

}  // namespace

LayoutTimes::LayoutTimes(const Parallel& parallel, const training::Traits& traits, const std::vector<SharedUnit>& units,
                         const training::MemoryTerms& whole, ConcurrentMessages& messages)
    : parallel_(parallel),
      data_(whole.workers / parallel.ranks_a_replica()),
      passes_(passes_of(parallel, traits, whole.bytes)),
      units_(&units),
      whole_(&whole),
      of_rank_(whole) {
  const std::int64_t micro_batches = data_ * parallel.micro_batch_count() * parallel.expert;
  of_rank_.rows = (whole.batch + micro_batches - 1) / micro_batches;
  stages_ = devices_of_stages(*whole.cluster, messages, parallel.mesh(whole.workers), parallel, traits);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const auto alike =
        std::ranges::find_if(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(stage),
                             [&](const StageDevices& other) { return alike_in_passes(other, stages_[stage]); });
    if (const auto known = static_cast<std::size_t>(alike - stages_.begin()); known < stage) {
      kind_of_stage_.push_back(kind_of_stage_[known]);
      continue;
    }
    kind_of_stage_.push_back(until_.size());
    std::vector<UnitTimes>& until = until_.emplace_back(1);
    for (const SharedUnit& unit : units) {
      UnitTimes sum = until.back();
      sum += times_of(unit, stages_[stage], parallel.shares(), of_rank_, passes_);
      until.push_back(sum);
    }
  }
  tied_ = tied_numbers(*whole.model, *whole.problem, parallel.shares());
  parameters_until_.push_back(0.0);
  of_experts_until_.push_back(0.0);
  for (const SharedUnit& unit : units) {
    parameters_until_.push_back(parameters_until_.back() + static_cast<double>(unit.parameters));
    of_experts_until_.push_back(of_experts_until_.back() + static_cast<double>(unit.of_experts));
  }
}

UnitTimes LayoutTimes::of(std::size_t stage, std::int64_t first, std::int64_t end) const {
  const std::vector<UnitTimes>& until = until_[kind_of_stage_[stage]];
  UnitTimes stage_times = until[static_cast<std::size_t>(end)];
  stage_times -= until[static_cast<std::size_t>(first)];
  return stage_times;
}

double LayoutTimes::parameters(std::int64_t first, std::int64_t end) const {
  return parameters_until_[static_cast<std::size_t>(end)] - parameters_until_[static_cast<std::size_t>(first)];
}

double LayoutTimes::of_experts(std::int64_t first, std::int64_t end) const {
  return of_experts_until_[static_cast<std::size_t>(end)] - of_experts_until_[static_cast<std::size_t>(first)];
}

double LayoutTimes::hop_s(std::size_t stage, std::int64_t end) const {
  if (parallel_.pipeline == 1 || end == static_cast<std::int64_t>(units_->size())) return 0.0;
  const models::Segment& last = (*units_)[static_cast<std::size_t>(end) - 1].segments.back();
  const double number = of_rank_.bytes.wire;
  const double bytes = static_cast<double>(of_rank_.rows) * (last.exit * number + last.exit_bytes);
  const auto tensor = static_cast<double>(parallel_.tensor);
  const bool in_parts = parallel_.scatter_gather && !parallel_.sequence_parallel && tensor > 1.0 &&
                        std::fmod(std::round(bytes / number), tensor) == 0.0;
  const StageDevices& stage_devices = stages_[stage];
  if (!in_parts) return stage_devices.hop.seconds(bytes);
  return stage_devices.hop.seconds(bytes / tensor) +
         stage_devices.collective_s(Step::Then::gather, Among::tensor, bytes / number / tensor,
                                    static_cast<int>(parallel_.tensor), number);
}

std::vector<PieceTimes> LayoutTimes::pieces(const std::vector<std::int64_t>& firsts) const {
  std::vector<PieceTimes> all;
  for (std::size_t piece = 0; piece + 1 < firsts.size(); ++piece) {
    const std::size_t stage = piece % stages_.size();
    const UnitTimes piece_times = of(stage, firsts[piece], firsts[piece + 1]);
    all.push_back({.forward = piece_times.forward_s,
                   .input_backward = piece_times.input_backward_s,
                   .weight_backward = piece_times.weight_backward_s,
                   .hop = hop_s(stage, firsts[piece + 1])});
  }
  return all;
}

double LayoutTimes::tied_sum_s() const {
  if (parallel_.pipeline == 1) return 0.0;
  // The last stage's hop goes to the first one.
  return stages_.back().ring_sum_s(stages_.back().hop, tied_, 2, whole_->bytes.wire);
}

}  // namespace simgrad::strategies
