/// A stage's messages to and from the stages beside it.
#include <utility>

#include "strategies/parallel/stage_passes.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using training::Dimension;

Hops StagePasses::hops(int step) const {
  const training::Mesh& mesh = worker_.mesh();
  if (!mesh.by_stages()) return Hops::along(step > 0 ? stages_ : stages_.on_own_channels(), step);
  const cluster::Communicator everyone = worker_.everyone();
  const auto beside = [mesh, rank = everyone.rank()](int stages_behind) {
    const int stage = mesh.place(rank)[Dimension::pipeline] + stages_behind;
    return [mesh, rank, stage](std::int64_t nth) { return mesh.rank_with(stage, mesh.micro_batch(rank, nth)); };
  };
  return {step > 0 ? everyone : everyone.on_own_channels(), beside(-step), beside(step)};
}

int StagePasses::number(int micro) const {
  const training::Mesh& mesh = worker_.mesh();
  return mesh.by_stages() ? static_cast<int>(mesh.micro_batch(stages_.world_rank(stage_), micro)) : micro;
}

/// As many as the ranks of the stage before have under way, of which one has been received where others are posted
/// next. Where these ranks are not as many as this stage's, some of them may have gone on to the next round.
int StagePasses::forwards_coming() const {
  const std::vector<int>& replicas = shape_.replicas;
  if (stage_ == 0 || replicas.empty()) return shape_.under_way(stage_) + 1;
  const int sending = replicas[static_cast<std::size_t>(stage_ - 1)],
            receiving = replicas[static_cast<std::size_t>(stage_)];
  return (sending * (shape_.under_way(stage_ - 1) + 1) + receiving - 1) / receiving + 1;
}

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
    arrived = hops.receive(shape_.piece(stage_, task.chunk), number(task.micro));
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
  hops.send({std::move(numbers), is_part}, piece, number(micro));
}

}  // namespace simgrad::strategies
