/// A stage's messages to and from the stages beside it.
#include <utility>

#include "strategies/parallel/stage_passes.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using training::Dimension;

/// Receives are posted before the step, so that a sender never waits for this rank's work.
void StagePasses::post_receives(const std::vector<PipelineTask>& tasks) {
  std::size_t forwards = 0, backwards = 0;
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::forward && !first(task.chunk)) ++forwards;
    const bool back = task.piece == Piece::backward || task.piece == Piece::input_backward;
    if (back && !last(task.chunk)) ++backwards;
  }
  forwards_.expect(forwards);
  backwards_.expect(backwards);
}

void StagePasses::finish_sends() {
  if (shape_.stages == 1) return;
  const training::AlongScope timed(worker_.mesh_time(), stages_, Dimension::pipeline);
  forwards_.wait_for_sends();
  backwards_.wait_for_sends();
}

Tensor StagePasses::receive(Hops& hops, const PipelineTask& task) {
  Hops::Message arrived;
  {
    const training::AlongScope timed(worker_.mesh_time(), stages_, Dimension::pipeline);
    arrived = hops.receive(shape_.piece(stage_, task.chunk), task.micro);
  }
  if (!arrived.is_part) return std::move(arrived.numbers);
  const training::AlongScope timed(worker_.mesh_time(), *scattered_, Dimension::tensor);
  return Exchange(models::Step::Then::gather, 1).collective(*scattered_, arrived.numbers);
}

/// Tensor ranks have equal numbers, of which each sends a part where they divide.
void StagePasses::send(Hops& hops, Tensor numbers, int piece, int micro) {
  const bool is_part = scattered_ && numbers.size() % scattered_->size() == 0;
  if (is_part) {
    const std::int64_t count = numbers.size() / scattered_->size();
    numbers = values::slice(numbers, scattered_->rank() * count, count);
  }
  hops.send({std::move(numbers), is_part}, piece, micro);
}

}  // namespace simgrad::strategies
