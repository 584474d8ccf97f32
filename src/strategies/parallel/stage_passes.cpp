#include "strategies/parallel/stage_passes.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "cluster/recording/work_scope.h"
#include "strategies/parallel/stage_walk.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using training::BackwardPiece;
using training::Dimension;
using training::MicroBatch;
using training::PartPasses;
using training::Worker;
using values::Tensor;

StagePasses::StagePasses(Worker& worker, const Parallel& parallel, const PipelineTable& table)
    : worker_(worker),
      shape_(parallel.shape()),
      tasks_(&table),
      stream_(stream_rule(parallel)),
      stages_(along(worker, Dimension::pipeline)),
      sharing_(worker),
      stage_(stages_.rank()),
      scattered_(parallel.scatter_gather && !parallel.sequence_parallel ? sharing_.among(models::Among::tensor)
                                                                        : nullptr),
      forwards_(hops(1)),
      backwards_(hops(-1)),
      segments_(worker, sharing_),
      gradient_(worker, stages_, sharing_),
      units_(worker.part(), worker.learning().layers()) {
  const models::ParameterStretch tied = stages_.size() > 1 ? part().tied() : models::ParameterStretch();
  for (const training::ModelUnit& unit : units_.all()) tied_units_.push_back(has_tied(unit, tied));
  const cluster::Communicator* const slices = sharing_.among(models::Among::tensor);
  if (!slices || !parallel.slices().active()) return;
  cache_.emplace(worker, *slices, parallel.slices());
  segments_.keep_in(*cache_);
  gradient_.agree_in(*cache_);
}

void StagePasses::begin(const Tensor& w, std::int64_t step, MicroBatch micro, const Worker::LayerReady& ready) {
  base::check(micro.parts == 1, "a mesh has the only micro-batches");
  before_w_ = step == 0 ? w : w_;
  w_ = w;
  step_ = step;
  const int experts = worker_.mesh().size(Dimension::expert);
  step_work_ = worker_.step_work(shape_.micro_batches * experts) / experts;
  completed_.assign(part().chunks().size(), 0);
  gradient_.begin(segments_.followed(), ready);
  if (cache_)
    cache_->begin(step, worker_.learning().batches().rows(
                            {.step = step, .part = worker_.replica(), .parts = worker_.replicas()}));
  if (visitor_) return;
  worker_.memory().raise(record::MemoryPart::parameters,
                         worker_.number_bytes().parameter * static_cast<double>(w.size()));
}

Tensor StagePasses::finish() {
  Tensor g = gradient_.finish();
  if (cache_) cache_->end();
  if (stream_ == StreamRule::synchronous) {
    finish_sends();
    w_ = before_w_ = {};
  }
  return g;
}

Tensor StagePasses::gradient(const Tensor& w, std::int64_t step, MicroBatch micro, const Worker::LayerReady& ready) {
  begin(w, step, micro, ready);
  if (stream_ != StreamRule::synchronous) {
    work_on_stream();
    return finish();
  }
  post_receives(tasks());
  for (const PipelineTask& task : tasks()) {
    const cluster::MicroBatchScope named(stages_, task.micro);
    if (task.piece == Piece::forward)
      forward(task);
    else if (task.piece == Piece::weight_backward)
      weights(task);
    else
      backward(task);
  }
  return finish();
}

void StagePasses::forward(const PipelineTask& task) {
  Tensor x = first(task.chunk) ? Tensor() : receive(forwards_, task);
  const std::size_t segments = placed(task.chunk).segments.size();
  MicroBatchPass& under_way =
      under_way_
          .emplace(Key(task.chunk, task.micro),
                   MicroBatchPass{.passes = passes_of(task.micro),
                                  .w = weights_of(task.micro),
                                  .version = sees_weights_before(task.micro) ? step_ - 1 : step_,
                                  .in = std::vector<Tensor>(segments),
                                  .kept = std::vector<std::vector<Tensor>>(segments),
                                  .gradients = std::vector<Tensor>(segments)})
          .first->second;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    under_way.in[segment] = x;
    use_units(task.chunk, segment);
    x = segments_.forward(task.chunk, segment, under_way);
  }
  use_units({});
  if (!last(task.chunk)) send(forwards_, std::move(x), shape_.piece(stage_, task.chunk) + 1, task.micro);
}

void StagePasses::backward(const PipelineTask& task) {
  const bool whole = task.piece == Piece::backward;
  MicroBatchPass& micro = under_way_.at({task.chunk, task.micro});
  Tensor d = last(task.chunk) ? Tensor() : receive(backwards_, task);
  const bool completes = whole && completes_chunk(task.chunk);
  if (whole) begin_gradients(task.chunk);
  for (std::size_t segment = placed(task.chunk).segments.size(); segment-- > 0;) {
    use_units(task.chunk, segment);
    if (whole) make_gradients(task.chunk, segment);
    d = segments_.backward(task.chunk, segment, micro, d, whole ? BackwardPiece::whole : BackwardPiece::inputs);
    if (whole)
      gradient_.add(static_cast<std::size_t>(task.chunk), segment, micro.gradients[segment],
                    completes || taken_by_itself(task.chunk, segment));
  }
  use_units({});
  if (!first(task.chunk)) send(backwards_, std::move(d), shape_.piece(stage_, task.chunk) - 1, task.micro);
  if (whole) under_way_.erase({task.chunk, task.micro});
}

void StagePasses::weights(const PipelineTask& task) {
  MicroBatchPass& micro = under_way_.at({task.chunk, task.micro});
  const bool completes = completes_chunk(task.chunk);
  begin_gradients(task.chunk);
  for (std::size_t segment = placed(task.chunk).segments.size(); segment-- > 0;) {
    make_gradients(task.chunk, segment);
    micro.passes.make_weights(static_cast<std::size_t>(task.chunk), segment);
    gradient_.add(static_cast<std::size_t>(task.chunk), segment, micro.gradients[segment],
                  completes || taken_by_itself(task.chunk, segment));
  }
  under_way_.erase({task.chunk, task.micro});
}

/// Counts a micro-batch of the chunk whose gradient is made. Returns whether it is the last one.
bool StagePasses::completes_chunk(int chunk) {
  return ++completed_[static_cast<std::size_t>(chunk)] == shape_.micro_batches;
}

}  // namespace simgrad::strategies
