/// A stage's passes where the parameters of its units are gathered.
#include <algorithm>

#include "strategies/parallel/stage_passes.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

training::UnitVisits StagePasses::unit_visits() const { return units_.visits(tasks()); }

void StagePasses::gradient(training::UnitVisitor& visitor, std::int64_t step, training::MicroBatch micro) {
  std::vector<std::size_t> layers_left;
  for (std::size_t u = 0; u < units_.count(); ++u) layers_left.push_back(units_[u].layers);
  const Worker::LayerReady ready = [&](const Tensor& g, const models::Layer& layer) {
    const std::size_t unit = units_.of_layer(layer);
    if (--layers_left[unit] > 0) return;
    visitor.complete(unit, g);
    layers_left[unit] = units_[unit].layers;
    makes_[unit] = false;
  };
  visitor_ = &visitor;
  takes_each_ = visitor.takes_each_micro_batch() && adds_up_micro_batches();
  makes_.assign(units_.count(), false);
  segments_.read_from(visitor_, units_);
  gradient(Tensor(), step, micro, ready);
  visitor_ = nullptr;
  takes_each_ = false;
  segments_.read_from(visitor_, units_);
}

/// Whether the visitor takes a segment's gradient of every micro-batch.
bool StagePasses::taken_by_itself(int chunk, std::size_t segment) const {
  return takes_each_ && std::ranges::none_of(units_.read_by(static_cast<std::size_t>(chunk), segment),
                                             [this](std::size_t unit) { return tied_units_[unit]; });
}

/// A micro-batch's gradient of a chunk is about to be made: the visitor has taken that of the one before.
void StagePasses::begin_gradients(int chunk) {
  for (std::size_t segment = 0; segment < placed(chunk).segments.size(); ++segment)
    if (taken_by_itself(chunk, segment)) gradient_.drop(static_cast<std::size_t>(chunk), segment);
}

/// The backward pass through a segment is about to begin.
void StagePasses::make_gradients(int chunk, std::size_t segment) {
  if (!visitor_ || (adds_up_micro_batches() && !takes_each_)) return;
  for (const std::size_t unit : units_.read_by(static_cast<std::size_t>(chunk), segment)) {
    if (!makes_[unit]) visitor_->make_gradient(unit);
    makes_[unit] = true;
  }
}

/// The pass that follows reads these units, and no others.
void StagePasses::use_units(const std::vector<std::size_t>& units) {
  if (!visitor_) return;
  in_use_.become(
      units, [&](std::size_t unit) { visitor_->enter(unit); }, [&](std::size_t unit) { visitor_->leave(unit); });
}

}  // namespace simgrad::strategies
