#include "strategies/automatic/layout_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "strategies/automatic/stage_program.h"
#include "strategies/automatic/step_end.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/stage_tables.h"
#include "strategies/parallel/stages.h"

namespace simgrad::strategies {

namespace {

std::vector<double> counts_of(const std::vector<std::int64_t>& firsts) {
  std::vector<double> units;
  for (std::size_t piece = 0; piece + 1 < firsts.size(); ++piece)
    units.push_back(static_cast<double>(firsts[piece + 1] - firsts[piece]));
  return units;
}

}  // namespace

LayoutPredictor::LayoutPredictor(const Strategy& strategy, const training::MemoryTerms& whole)
    : strategy_(strategy), whole_(whole), messages_(*whole.cluster) {}

LayoutTimes LayoutPredictor::times_of_layout(const Parallel& parallel) {
  const bool whole = parallel.pipeline == 1;
  const Traits traits = traits_on_mesh(strategy_, parallel, whole_.workers);
  const auto [at, fresh] =
      units_.try_emplace({parallel.tensor, parallel.sequence_parallel, parallel.context, parallel.expert, whole});
  if (fresh)
    at->second = units_shared(*whole_.model, *whole_.problem, parallel.shares(), whole,
                              summed_behind_passes(strategy_, parallel, traits));
  return {parallel, traits, at->second, whole_, messages_};
}

/// The fastest stages in which no stage has what is too much for it; empty: there are none. With several chunks a
/// piece is dealt as though it were a stage.
LayoutPredictor::Firsts LayoutPredictor::programmed(const LayoutTimes& times,
                                                    const std::vector<TooMuch>& too_much) const {
  const PipelineShape shape = times.shape();
  const auto stages = static_cast<std::size_t>(shape.stages);
  const auto holds = [&](std::size_t stage, std::int64_t first, std::int64_t end) {
    return std::ranges::none_of(too_much, [&](const TooMuch& excess) {
      return excess.stage == stage && first <= excess.first && excess.end <= end;
    });
  };
  return program_stages(static_cast<std::int64_t>(times.units().size()), static_cast<std::size_t>(shape.pieces()),
                        shape.micro_batches,
                        [&](std::size_t piece, std::int64_t first, std::int64_t end) -> StageCost {
                          if (!holds(piece, first, end)) return {.passes_s = StageCost::impossible};
                          return {.passes_s = times.of(piece % stages, first, end).passes_s(),
                                  .hops_s = 2.0 * times.hop_s(piece % stages, end)};
                        })
      .firsts;
}

PredictedLayout LayoutPredictor::timed_with(const LayoutTimes& times, const Firsts& firsts) const {
  PredictedLayout layout{.parallel = times.parallel(), .data = times.data()};
  if (layout.parallel.pipeline > 1) layout.parallel.stages = counts_of(firsts);
  const TimedTable table = timed(table_of(layout.parallel), times.shape(), times.pieces(firsts));
  const auto stages = static_cast<std::size_t>(layout.parallel.pipeline);
  const auto micro_batches = static_cast<double>(times.shape().micro_batches);
  double passes_s = 0.0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    UnitTimes sum;
    for (std::size_t piece = stage; piece + 1 < firsts.size(); piece += stages)
      sum += times.of(stage, firsts[piece], firsts[piece + 1]);
    if (micro_batches * sum.passes_s() <= passes_s) continue;
    passes_s = micro_batches * sum.passes_s();
    layout.exchanges_s = micro_batches * sum.exchanges_s;
    layout.computing_s = passes_s - layout.exchanges_s;
  }
  const StepEnd end = end_of_step(strategy_, times, table, firsts);
  constexpr double rounding = 1e-12;
  layout.waiting_s = end.passes_s - passes_s > rounding * end.passes_s ? end.passes_s - passes_s : 0.0;
  layout.sums_s = end.sums_s;
  layout.update_s = end.update_s;
  layout.step_s = end.passes_s + end.sums_s + end.update_s;
  return layout;
}

PredictedLayout LayoutPredictor::predict(const Parallel& parallel, bool programs) {
  const LayoutTimes times = times_of_layout(parallel);
  const auto units = static_cast<std::int64_t>(times.units().size());
  if (parallel.pipeline == 1) return timed_with(times, {0, units});
  if (!programs) return timed_with(times, firsts_of_pieces(strategy_, parallel, whole_));
  PredictedLayout best = timed_with(times, programmed(times, {}));
  if (parallel.chunks == 1) return best;
  for (const Balance balance : {Balance::flops, Balance::blocks}) {
    Parallel dealt = parallel;
    dealt.balance = balance;
    PredictedLayout other = timed_with(times, firsts_of_pieces(dealt, whole_.layers));
    if (other.step_s < best.step_s) best = std::move(other);
  }
  return best;
}

}  // namespace simgrad::strategies
