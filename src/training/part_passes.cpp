#include "training/part_passes.h"

#include "cluster/ranks/world.h"
#include "training/learning/rank_work.h"
#include "training/parts/model_parts.h"
#include "training/session/session.h"
#include "training/session/tally.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

PartPasses::PartPasses(Worker& worker, std::int64_t step, MicroBatch micro, double step_work)
    : worker_(worker),
      part_(worker.part()),
      share_(worker.share(step, micro)),
      rows_(micro.count(worker.rows())),
      step_work_(step_work),
      memory_(worker.pass_memory(rows_)) {
  const bool has_samples = part_.chunks().front().chunk.first_unit == 0;
  if (has_samples) worker.read_rows(rows_);
  count_gradient(worker.session(), worker.world_rank(), worker.work(), rows_);
}

RowSet PartPasses::row_numbers() const { return worker_.learning().batches().rows(share_); }

void PartPasses::charge(double work, double flops, Work kind) const {
  if (work > 0.0) worker_.compute_stretched(work, step_work_, flops, share_.step, kind);
}

/// The work of a segment's layers in one direction, without what is computed again.
PartPasses::Amount PartPasses::of_segment(std::size_t chunk, std::size_t segment, bool backward) const {
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  const models::Segment& its = placed.segments[segment];
  const RankWork rank = worker_.work();
  Amount all;
  for (std::size_t i = placed.first_layer + its.first_layer; i < placed.first_layer + its.first_layer + its.layers;
       ++i) {
    const models::Layer& layer = worker_.learning().layers()[i];
    all.work += backward ? rank.backward(i, rows_) - rank.recomputed(i, rows_) : rank.forward(i, rows_);
    all.flops += backward ? layer.backward_flops : layer.forward_flops;
  }
  all.flops *= static_cast<double>(rows_);
  return all;
}

void PartPasses::forward(std::size_t chunk, std::size_t segment, double share) {
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  const std::size_t first = placed.first_layer + placed.segments[segment].first_layer;
  for (std::size_t i = first; i < first + placed.segments[segment].layers; ++i) memory_.forward(i);
  more(chunk, segment, Work::forward, share);
}

void PartPasses::more(std::size_t chunk, std::size_t segment, Work kind, double share) {
  const Amount all = of_segment(chunk, segment, kind == Work::backward);
  charge(share * all.work, share * all.flops, kind);
}

bool PartPasses::repeats_forward(std::size_t chunk, std::size_t segment) const {
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  const models::Segment& its = placed.segments[segment];
  const Learning& learning = worker_.learning();
  const std::size_t last = placed.first_layer + its.first_layer + its.layers - 1;
  return learning.recompute() == Recompute::full &&
         recomputed_as_a_whole(learning.layers(), last, learning.passes_on());
}

void PartPasses::backward(std::size_t chunk, std::size_t segment, BackwardPiece piece, double less) {
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  const models::Segment& its = placed.segments[segment];
  const Learning& learning = worker_.learning();
  const RankWork rank = worker_.work();
  const auto rows = static_cast<double>(rows_);
  const std::size_t first = placed.first_layer + its.first_layer;
  const bool repeats = repeats_forward(chunk, segment);
  double again = 0.0, again_flops = 0.0, work = 0.0, flops = 0.0;
  for (std::size_t i = first + its.layers; i-- > first;) {
    const double weights = piece == BackwardPiece::whole ? 0.0 : rank.weights(i, rows_);
    const double weight_flops = piece == BackwardPiece::whole ? 0.0 : training::weight_flops(learning.layers()[i]);
    if (piece == BackwardPiece::weights) {
      work += weights;
      flops += weight_flops;
      continue;
    }
    const double computed_again = rank.recomputed(i, rows_);
    if (!repeats) again += computed_again;
    if (!repeats) again_flops += learning.recomputed_flops(i);
    work += rank.backward(i, rows_) - computed_again - weights;
    flops += learning.layers()[i].backward_flops - weight_flops;
    memory_.enter_backward(i);
  }
  charge(again, again_flops * rows, Work::recompute);
  const Amount left = less > 0.0 ? of_segment(chunk, segment, true) : Amount();
  charge(work - less * left.work, flops * rows - less * left.flops,
         piece == BackwardPiece::weights ? Work::weights : Work::backward);
  if (piece == BackwardPiece::inputs) return;
  for (std::size_t i = first + its.layers; i-- > first;) memory_.leave_backward(i, worker_.keeps_gradients_);
  const bool counts =
      placed.chunk.first_unit == 0 && segment == 0 && placed.chunk.tensor_rank == 0 && placed.chunk.context_rank == 0;
  const cluster::World& world = worker_.session().world();
  const int replicas = world.stand_ins() ? world.repeats() / placed.chunk.tensor : 1;  // that this rank stands for
  if (counts) worker_.session().tally().add_computed(rows_ * replicas);
}

Tensor PartPasses::run(const CutStep& step, const CutInputs& inputs) const {
  return worker_.learning().run(step, share_, inputs);
}

}  // namespace simgrad::training
