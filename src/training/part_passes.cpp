#include "training/part_passes.h"

#include <algorithm>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "training/learning/row_source.h"
#include "training/parts/model_parts.h"
#include "training/session/session.h"
#include "training/session/tally.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

PartPasses::PartPasses(Worker& worker, const PassRows& rows, double turn_work)
    : worker_(worker),
      part_(worker.part()),
      share_(worker.share(rows.step, rows.share, rows.micro)),
      rows_(rows.micro.count(worker.rows(rows.share))),
      turn_(rows.turn),
      turn_work_(turn_work),
      work_(worker.work(rows.in_step)),
      memory_(worker.pass_memory(rows_)) {
  const models::Chunk& first = part_.chunks().front().chunk;
  // One of the ranks that compute on the same rows reads them, and hands them to the others.
  const bool reads = first.first_unit == 0 && first.tensor_rank == 0 && first.context_rank == 0;
  const int readers = worker.replicas() / worker.updates_a_step();
  if (reads) worker.read_rows({.part = worker.replica(), .parts = readers, .count = rows_});
  count_gradient(worker.session(), worker.world_rank(), work_, rows_);
}

RowSet PartPasses::row_numbers() const { return worker_.learning().batches().rows(share_); }

void PartPasses::charge(double work, double flops, Work kind) const {
  if (work > 0.0) worker_.compute_stretched(work, turn_work_, flops, turn_, kind);
}

std::size_t PartPasses::first_layer(std::size_t chunk, std::size_t segment) const {
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  return placed.first_layer + placed.segments[segment].first_layer;
}

std::size_t PartPasses::layers(std::size_t chunk, std::size_t segment) const {
  return part_.chunks()[chunk].segments[segment].layers;
}

double PartPasses::expert_tokens(std::size_t chunk, std::size_t segment) const {
  const std::size_t first = first_layer(chunk, segment);
  const std::span<const models::Layer> segment_layers =
      std::span(worker_.learning().layers()).subspan(first, layers(chunk, segment));
  return std::ranges::max(segment_layers, {}, &models::Layer::expert_tokens).expert_tokens;
}

void PartPasses::take_tokens(std::size_t chunk, std::size_t segment, double tokens) {
  const std::size_t first = first_layer(chunk, segment);
  for (std::size_t i = first; i < first + layers(chunk, segment); ++i)
    if (const models::Layer& model_layer = worker_.learning().layers()[i]; model_layer.expert_tokens > 0.0)
      by_tokens_[i] = models::with_tokens(model_layer, tokens / static_cast<double>(rows_));
}

/// The work of a layer in one pass, without what is computed again.
PartPasses::Amount PartPasses::of_layer(std::size_t layer, Work kind, BackwardPiece piece) const {
  const auto known = by_tokens_.find(layer);
  const models::Layer& model_layer = known != by_tokens_.end() ? known->second : worker_.learning().layers()[layer];
  const auto rows = static_cast<double>(rows_);
  if (kind == Work::recompute) return {work_.again(model_layer, rows_), model_layer.forward_flops * rows};
  if (kind == Work::forward) return {work_.forward(model_layer, rows_), model_layer.forward_flops * rows};
  const Amount weights = piece == BackwardPiece::whole
                             ? Amount()
                             : Amount{work_.weights(model_layer, rows_), weight_flops(model_layer) * rows};
  if (piece == BackwardPiece::weights) return weights;
  return {work_.backward(model_layer, rows_) - weights.work, model_layer.backward_flops * rows - weights.flops};
}

void PartPasses::enter_forward(std::size_t chunk, std::size_t segment) {
  const std::size_t first = first_layer(chunk, segment);
  for (std::size_t i = first; i < first + layers(chunk, segment); ++i) memory_.forward(i);
}

void PartPasses::enter_backward(std::size_t chunk, std::size_t segment) {
  const Learning& learning = worker_.learning();
  const std::size_t first = first_layer(chunk, segment);
  const bool repeats = repeats_forward(chunk, segment);
  Amount again;
  for (std::size_t i = first + layers(chunk, segment); i-- > first;) {
    if (!repeats) again.work += work_.recomputed(i, rows_);
    if (!repeats) again.flops += learning.recomputed_flops(i) * static_cast<double>(rows_);
    memory_.enter_backward(i);
  }
  charge(again.work, again.flops, Work::recompute);
}

void PartPasses::leave_backward(std::size_t chunk, std::size_t segment) {
  const models::Chunk& model_chunk = part_.chunks()[chunk].chunk;
  const std::size_t first = first_layer(chunk, segment);
  for (std::size_t i = first + layers(chunk, segment); i-- > first;)
    memory_.leave_backward(i, worker_.keeps_gradients_);
  const bool counts =
      model_chunk.first_unit == 0 && segment == 0 && model_chunk.tensor_rank == 0 && model_chunk.context_rank == 0;
  const cluster::World& world = worker_.session().world();
  const int replicas = world.stand_ins() ? world.repeats() / model_chunk.tensor : 1;  // that this rank stands for
  if (counts) worker_.session().tally().add_computed(rows_ * replicas);
}

void PartPasses::compute(std::size_t chunk, std::size_t segment, const SegmentWork& work) {
  const std::size_t first = first_layer(chunk, segment), count = layers(chunk, segment);
  const bool backward = work.kind == Work::backward || work.kind == Work::weights;
  Amount all;
  for (std::size_t k = work.first; k < std::min(work.end, count); ++k) {
    const std::size_t in_segment = backward ? count - 1 - k : k;
    const Amount layer_amount = of_layer(first + in_segment, work.kind, work.piece);
    const Amount left =
        in_segment == 0 && work.less > 0.0 ? of_layer(first, work.kind, BackwardPiece::whole) : Amount();
    all.work += layer_amount.work - work.less * left.work;
    all.flops += layer_amount.flops - work.less * left.flops;
  }
  charge(all.work, all.flops, work.kind);
}

void PartPasses::more(std::size_t chunk, std::size_t segment, Work kind, double share) {
  const Amount all = of_layer(first_layer(chunk, segment), kind, BackwardPiece::whole);
  charge(share * all.work, share * all.flops, kind);
}

double PartPasses::more_s(std::size_t chunk, std::size_t segment, Work kind, double share) const {
  const double work = share * of_layer(first_layer(chunk, segment), kind, BackwardPiece::whole).work;
  const cluster::World& world = worker_.session().world();
  const int rank = worker_.world_rank();
  const double nominal_s = world.ranks().nominal_s(rank, worker_.stretched(work, turn_work_, turn_));
  return nominal_s > 0.0 ? world.cluster().duration(world.host(rank), nominal_s) : 0.0;
}

void PartPasses::make_weights(std::size_t chunk, std::size_t segment) {
  compute(chunk, segment, {.kind = Work::weights, .piece = BackwardPiece::weights});
  leave_backward(chunk, segment);
}

bool PartPasses::repeats_forward(std::size_t chunk, std::size_t segment) const {
  const Learning& learning = worker_.learning();
  const std::size_t last = first_layer(chunk, segment) + layers(chunk, segment) - 1;
  return learning.recompute() == Recompute::full &&
         recomputed_as_a_whole(learning.layers(), last, learning.passes_on());
}

Tensor PartPasses::run(const CutStep& step, const CutInputs& inputs) const {
  return worker_.learning().run(step, share_, inputs);
}

}  // namespace simgrad::training
