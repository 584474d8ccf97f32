/// Asynchronous pipelines: a stage's work on a stream of micro-batches, and the versions of the weights that they see.
#include <cstdint>
#include <set>

#include "cluster/recording/work_scope.h"
#include "strategies/parallel/stage_passes.h"

namespace simgrad::strategies {

using training::PartPasses;

StreamRule stream_rule(const Parallel& parallel) {
  if (parallel.pipeline == 1 || !parallel.schedule->asynchronous()) return StreamRule::synchronous;
  return parallel.schedule.kind() == "pipedream" ? StreamRule::newest : StreamRule::double_buffered;
}

/// One forward, one backward: stage i is stages - i micro-batches ahead with its forward passes, or as many as
/// PipelineShape::under_way says.
void StagePasses::work_on_stream() {
  const int m = shape_.micro_batches, ahead = shape_.under_way(stage_);
  const auto first_micro = static_cast<int>(step_) * m;
  count_versions();  // the update has made another one
  for (int micro = first_micro; micro < first_micro + m; ++micro) {
    while (forwards_done_ < micro + ahead && !worker_.ends_after(step_of(forwards_done_))) {
      const PipelineTask task{Piece::forward, forwards_done_++, 0};
      const cluster::MicroBatchScope named(stages_, number(task.micro));
      // Receives are posted before this stage's passes, so that its neighbours' messages come beside them. A gradient
      // comes only for one of the micro-batches under way, of which there are `ahead` at most.
      if (!first(0)) forwards_.expect(static_cast<std::size_t>(forwards_coming()));
      if (!last(0)) backwards_.expect(static_cast<std::size_t>(ahead));
      forward(task);
      count_versions();
    }
    const cluster::MicroBatchScope named(stages_, number(micro));
    worker_.count_staleness(step_ - under_way_.at({0, micro}).version);
    backward({Piece::backward, micro, 0});
    count_versions();
  }
  forwards_.drop_arrived();
  backwards_.drop_arrived();
}

/// The weights that a micro-batch sees whose forward pass begins now.
Tensor StagePasses::weights_of(int micro) const { return sees_weights_before(micro) ? before_w_ : w_; }

bool StagePasses::sees_weights_before(int micro) const {
  const bool of_this_update = micro / shape_.micro_batches == step_;
  return stream_ == StreamRule::double_buffered && of_this_update && step_ > 0;
}

PartPasses StagePasses::passes_of(int micro) const {
  const int m = shape_.micro_batches;
  const int e = worker_.mesh().size(training::Dimension::expert), r = part().chunks().front().chunk.expert_rank;
  const auto own = [&](int part, int parts) { return training::MicroBatch{part * e + r, parts * e}; };
  const training::InStep in_step{.first = micro % m == 0, .adds = micro % m > 0 && !takes_each_};
  if (stream_ == StreamRule::synchronous)
    return {worker_,
            {.step = step_, .share = worker_.replica(), .micro = own(micro, m), .turn = step_, .in_step = in_step},
            step_work_};
  if (const training::Mesh& mesh = worker_.mesh(); mesh.by_stages()) {
    const int stream_number = number(micro), shares = mesh.shares();
    // Each one ends in an update, so that it is the first of its own step.
    return {worker_,
            {.step = stream_number / shares,
             .share = stream_number % shares,
             .micro = own(0, 1),
             .turn = micro,
             .in_step = {}},
            step_work_};
  }
  return {worker_,
          {.step = micro / m,
           .share = worker_.replica(),
           .micro = own(micro % m, m),
           .turn = micro / m,
           .in_step = in_step},
          step_work_};
}

/// Versions of the weights that micro-batches under way still need, beside the newest.
void StagePasses::count_versions() const {
  std::set<std::uint64_t> versions;
  for (const auto& [key, micro] : under_way_) versions.insert(micro.w.identity());
  versions.erase(w_.identity());
  worker_.memory().set(
      record::MemoryPart::workspace,
      static_cast<double>(versions.size()) * worker_.number_bytes().parameter * static_cast<double>(w_.size()));
}

}  // namespace simgrad::strategies
