#include "strategies/parallel/stage_walk.h"

#include <algorithm>
#include <utility>

#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using training::Recompute;

bool has_tied(const training::ModelUnit& unit, const models::ParameterStretch& tied) {
  return tied.count > 0 &&
         (unit.tied > 0 || (tied.first < unit.first + unit.count && unit.first < tied.first + tied.count));
}

StageWalk::StageWalk(const models::ModelPart& part, const training::MemoryTerms& terms,
                     const models::ParameterStretch& tied)
    : part_(part),
      terms_(terms),
      units_(part, terms.layers),
      rows_(static_cast<double>(terms.rows)),
      done_(part.chunks().size()) {
  for (std::size_t u = 0; u < units_.count(); ++u) {
    const training::ModelUnit& unit = units_[u];
    layers_left_.push_back(unit.layers);
    by_itself_.push_back({.at_the_end = has_tied(unit, tied), .layers_left = unit.layers});
  }
}

training::MeshPasses StageWalk::passes(const std::vector<PipelineTask>& tasks, int micro_batches) {
  micro_batches_ = micro_batches;
  for (const PipelineTask& task : tasks) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    const std::size_t segments = part_.chunks()[chunk].segments.size();
    if (task.piece == Piece::backward || task.piece == Piece::weight_backward) ++done_[chunk];
    for (std::size_t s = 0; s < segments; ++s) go_through(task, task.piece == Piece::forward ? s : segments - 1 - s);
    read({});
    if (micro_batches_ == 1) now_.made = 0.0;
  }
  if (now_.complete < terms_.parameters()) now_.reducing = terms_.parameters() - now_.complete;
  now_.complete = now_.reduced = terms_.parameters();
  note();
  return {std::move(moments_), units_.visits(tasks), micro_batches > 1};
}

/// The pass that follows reads these units.
void StageWalk::read(const std::vector<std::size_t>& units) {
  in_use_.become(
      units, [&](std::size_t) { ++now_.visits; }, [](std::size_t) {});
  now_.in_use = units.size();
}

void StageWalk::go_through(const PipelineTask& task, std::size_t segment) {
  const auto chunk = static_cast<std::size_t>(task.chunk);
  const models::PlacedChunk& placed = part_.chunks()[chunk];
  const models::Segment& placed_segment = placed.segments[segment];
  const std::size_t first = placed.first_layer + placed_segment.first_layer, end = first + placed_segment.layers;
  if (task.piece != Piece::weight_backward) read(units_.read_by(chunk, segment));
  if (task.piece == Piece::forward) {
    for (std::size_t i = first; i < end; ++i) now_.activations += kept(i, terms_.recompute);
    note();
    return;
  }
  if (task.piece != Piece::input_backward) begin_gradients(units_.read_by(chunk, segment));
  for (std::size_t i = end; i-- > first;) backward(i, task);
}

void StageWalk::begin_gradients(const std::vector<std::size_t>& units) {
  for (const std::size_t unit : units) {
    if (!by_itself_[unit].under_way) {
      if (unit >= reducing_unit_) now_.under_way -= std::exchange(reducing_, 0.0);
      now_.under_way += static_cast<double>(units_[unit].begins);
    }
    by_itself_[unit].under_way = true;
  }
}

double StageWalk::kept(std::size_t layer, Recompute recompute) const {
  return rows_ * training::kept_bytes(terms_.layers, layer, recompute, terms_.bytes);
}

double StageWalk::again(std::size_t layer) const {
  return kept(layer, Recompute::none) - kept(layer, terms_.recompute);
}

void StageWalk::backward(std::size_t layer, const PipelineTask& task) {
  const std::vector<models::Layer>& layers = terms_.layers;
  const double during = rows_ * layers[layer].backward_bytes;
  if (task.piece != Piece::weight_backward) {
    now_.activations += during;
    const bool ends_unit = layer + 1 == layers.size() || layers[layer + 1].unit != layers[layer].unit;
    if (terms_.recompute == Recompute::selective) now_.activations += again(layer);
    if (terms_.recompute == Recompute::full && ends_unit)
      for (std::size_t i = layer + 1; i-- > 0 && layers[i].unit == layers[layer].unit;) now_.activations += again(i);
  }
  note();
  if (task.piece == Piece::input_backward) return;
  const double N = terms_.parameters();
  const auto tied = static_cast<double>(layer > 0 ? layers.back().tied : 0);  // the head makes it first
  now_.made = std::max(now_.made, (N - static_cast<double>(layers[layer].first) + tied) / N);
  note();
  now_.activations -= kept(layer, Recompute::none) + during;
  count_gradient(layer, task.chunk);
}

/// The gradient of a micro-batch is reduced: it is in memory until the next one's is complete.
void StageWalk::reduce_by_itself(std::size_t unit) {
  const auto numbers = static_cast<double>(units_[unit].count);
  ByItself& unit_state = by_itself_[unit];
  unit_state.layers_left = units_[unit].layers;
  unit_state.under_way = false;
  if (numbers == 0.0) return;
  now_.under_way -= std::exchange(reducing_, numbers);
  reducing_unit_ = unit;
  if (!unit_state.reduced) now_.reduced += numbers;
  unit_state.reduced = true;
}

/// A layer's gradient is complete with the last micro-batch.
void StageWalk::count_gradient(std::size_t layer, int chunk) {
  const std::size_t unit = units_.of_layer(terms_.layers[layer]);
  const bool last = done_[static_cast<std::size_t>(chunk)] == micro_batches_;
  if ((last || !by_itself_[unit].at_the_end) && --by_itself_[unit].layers_left == 0) reduce_by_itself(unit);
  if (!last) return;
  const auto numbers = static_cast<double>(units_[unit].count);
  if (--layers_left_[unit] > 0 || numbers == 0.0) return;
  now_.complete += numbers;
  now_.reducing = numbers;
}

}  // namespace simgrad::strategies
