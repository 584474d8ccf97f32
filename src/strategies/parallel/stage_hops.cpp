/// A stage's messages to and from the stages beside it.
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
  const training::AlongScope timed(worker_.mesh_use(), stages_, Dimension::pipeline);
  forwards_.wait_for_sends();
  backwards_.wait_for_sends();
}

Tensor StagePasses::receive(Hops& hops, const PipelineTask& task) {
  const training::AlongScope timed(worker_.mesh_use(), stages_, Dimension::pipeline);
  return hops.receive(shape_.piece(stage_, task.chunk), task.micro);
}

}  // namespace simgrad::strategies
