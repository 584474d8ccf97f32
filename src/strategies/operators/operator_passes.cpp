#include "strategies/operators/operator_passes.h"

#include "base/errors.h"
#include "cluster/recording/work_scope.h"
#include "collectives/butterfly.h"
#include "training/learning/clipping.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using training::AlongScope;
using training::MicroBatch;
using values::Tensor;

OperatorPasses::OperatorPasses(training::Worker& worker, const StepPlan& plan)
    : worker_(worker), plan_(plan), everyone_(worker.everyone()), sharing_(worker), segments_(worker, sharing_) {
  find_places();
}

void OperatorPasses::find_places() {
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const std::vector<models::PlacedChunk>& chunks = worker_.part().chunks();
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const models::PlacedChunk& placed_chunk = chunks[c];
    units_left_.push_back(static_cast<int>(placed_chunk.chunk.end_unit - placed_chunk.chunk.first_unit));
    for (std::size_t s = 0; s < placed_chunk.segments.size(); ++s) {
      const std::int64_t first = layers[placed_chunk.first_layer].unit;
      const std::int64_t unit = placed_chunk.chunk.first_unit +
                                layers[placed_chunk.first_layer + placed_chunk.segments[s].first_layer].unit - first;
      Place& place =
          places_.try_emplace(static_cast<std::size_t>(unit), Place{static_cast<int>(c), s, 0}).first->second;
      ++place.segments;
    }
  }
}

Tensor OperatorPasses::gradient(const Tensor& w, std::int64_t step, MicroBatch, const training::Worker::LayerReady&) {
  if (worker_.part().chunks().empty()) return worker_.learning().dispatcher().zeros(0);
  w_ = w;
  step_ = step;
  step_work_ = worker_.step_work(plan_.numbers().micro_batches());
  gradient_.emplace(worker_, segments_.followed());
  finish_sends();
  post_receives();
  for (const std::size_t number : plan_.order(everyone_.rank())) {
    const StepOperator op = plan_.numbers().at(number);
    const cluster::MicroBatchScope named(everyone_, op.micro);
    if (op.backward)
      backward(number, op);
    else
      forward(number, op);
  }
  Tensor g = gradient_->whole();
  gradient_.reset();
  values_.clear();
  passed_back_.clear();
  return g;
}

MicroBatchPass& OperatorPasses::under_way(int chunk, int micro) {
  const auto known = under_way_.find({chunk, micro});
  if (known != under_way_.end()) return known->second;
  const std::size_t segments = worker_.part().chunks()[static_cast<std::size_t>(chunk)].segments.size();
  const training::PassRows rows{.step = step_,
                                .share = worker_.replica(),
                                .micro = {micro, plan_.numbers().micro_batches()},
                                .turn = step_,
                                .in_step = {.first = micro == 0, .adds = micro > 0}};
  return under_way_
      .emplace(Key(chunk, micro), MicroBatchPass{.passes = {worker_, rows, step_work_},
                                                 .w = w_,
                                                 .version = step_,
                                                 .in = std::vector<Tensor>(segments),
                                                 .kept = std::vector<std::vector<Tensor>>(segments),
                                                 .gradients = std::vector<Tensor>(segments)})
      .first->second;
}

void OperatorPasses::forward(std::size_t number, const StepOperator& op) {
  Tensor x = input_of(op);
  const Place& place = places_.at(op.unit);
  MicroBatchPass& micro = under_way(place.chunk, op.micro);
  for (std::size_t s = place.first_segment; s < place.first_segment + place.segments; ++s) {
    micro.in[s] = x;
    x = segments_.forward(place.chunk, s, micro);
  }
  if (!plan_.readers(op.unit).empty()) give(number, op.unit, x, micro.passes.rows());
}

void OperatorPasses::backward(std::size_t number, const StepOperator& op) {
  Tensor d = derivatives_of(op);
  const Place& place = places_.at(op.unit);
  MicroBatchPass& micro = under_way(place.chunk, op.micro);
  for (std::size_t s = place.first_segment + place.segments; s-- > place.first_segment;) {
    d = segments_.backward(place.chunk, s, micro, d, training::BackwardPiece::whole);
    if (micro.gradients[s]) gradient_->add(static_cast<std::size_t>(place.chunk), s, micro.gradients[s]);
    micro.in[s] = micro.gradients[s] = {};
  }
  for (const std::size_t input : plan_.units()[op.unit].inputs) give(number, input, d, micro.passes.rows());
  const Key key(place.chunk, op.micro);
  if (++passed_back_[key] == units_left_[static_cast<std::size_t>(place.chunk)]) under_way_.erase(key);
}

void OperatorPasses::gradient(training::UnitVisitor&, std::int64_t, MicroBatch) {
  base::check(false, "parameters stay with their operators");
}

training::UnitVisits OperatorPasses::unit_visits() const {
  return training::UnitVisits::there_and_back(worker_.learning().units().size());
}

Tensor OperatorPasses::squares(const Tensor& g, const Tensor& of_shards) const {
  const AlongScope timed(worker_.mesh_time(), everyone_);
  const Tensor own = of_shards ? of_shards : training::sum_of_squares(g, {});
  return everyone_.size() > 1 ? collectives::RecursiveDoubling()(everyone_.unrounded(), own) : own;
}

}  // namespace simgrad::strategies
