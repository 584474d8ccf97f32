#include "strategies/parallel/mesh_memory.h"

#include <algorithm>

#include "models/model_part.h"
#include "strategies/parallel/stages.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using record::MemoryPart;
using record::MemoryParts;

namespace {

/// Activations and gradients of a stage as it does its tasks. It knows the order of the tasks alone, and no times.
class StageWalk {
 public:
  StageWalk(const models::ModelPart& part, const training::MemoryTerms& terms)
      : part_(part), terms_(terms), rows_(static_cast<double>(terms.rows)) {}

  /// The activations and the share of the gradient that are there when both together need most.  gradient: its bytes.
  struct Peak {
    double activations = 0.0, made = 0.0;
  };
  Peak peak(const std::vector<PipelineTask>& tasks, double gradient) {
    gradient_ = gradient;
    for (const PipelineTask& task : tasks) {
      const auto chunk = static_cast<std::size_t>(task.chunk);
      const std::size_t first = part_.chunks()[chunk].first_layer;
      const std::size_t end =
          chunk + 1 < part_.chunks().size() ? part_.chunks()[chunk + 1].first_layer : terms_.layers.size();
      if (task.piece == Piece::forward)
        for (std::size_t i = first; i < end; ++i) now_.activations += kept(i, terms_.recompute);
      else
        for (std::size_t i = end; i-- > first;) backward(i, first, task.piece);
      if (!terms_.accumulates) now_.made = 0.0;
    }
    return most_;
  }

 private:
  double kept(std::size_t layer, training::Recompute recompute) const {
    return rows_ * training::kept_bytes(terms_.layers, layer, recompute, terms_.bytes);
  }
  double again(std::size_t layer) const {
    return kept(layer, training::Recompute::none) - kept(layer, terms_.recompute);
  }
  void backward(std::size_t layer, std::size_t first_of_chunk, Piece piece) {
    const std::vector<models::Layer>& layers = terms_.layers;
    if (piece != Piece::weight_backward) {
      const bool ends_unit = layer + 1 == layers.size() || layers[layer + 1].unit != layers[layer].unit;
      if (terms_.recompute == training::Recompute::selective) now_.activations += again(layer);
      if (terms_.recompute == training::Recompute::full && ends_unit)
        for (std::size_t i = layer + 1; i-- > first_of_chunk && layers[i].unit == layers[layer].unit;)
          now_.activations += again(i);
    }
    note();
    if (piece == Piece::input_backward) return;
    const double N = terms_.parameters();
    now_.made = std::max(now_.made, (N - static_cast<double>(layers[layer].first)) / N);
    note();
    now_.activations -= kept(layer, training::Recompute::none);
  }
  void note() {
    if (now_.activations + gradient_ * now_.made > most_.activations + gradient_ * most_.made) most_ = now_;
  }

  const models::ModelPart& part_;
  const training::MemoryTerms& terms_;
  double rows_, gradient_ = 0.0;
  Peak now_, most_;
};

}  // namespace

MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel, const PipelineTable& table,
                         const training::MemoryTerms& terms) {
  const PipelineShape shape = parallel.shape();
  const std::vector<std::vector<models::Chunk>> chunks = chunks_of_parts(parallel, terms.layers);
  const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), terms.model);
  PipelineShape stream = shape;
  stream.micro_batches = 2 * shape.stages;  // enough for all versions that a stage can have
  MemoryParts largest;
  const std::size_t ranks_a_stage = chunks.size() / static_cast<std::size_t>(parallel.pipeline);
  for (std::size_t part = 0; part < chunks.size(); part += ranks_a_stage) {
    training::MemoryTerms its = terms;
    const models::ModelPart model(whole, *terms.problem, chunks[part]);
    its.layers = model.layers(*terms.problem);
    its.workers = terms.workers / parallel.ranks_a_replica();
    const std::int64_t micro_batches = its.workers * shape.micro_batches * parallel.expert;
    its.rows = (terms.batch + micro_batches - 1) / micro_batches;
    its.accumulates = shape.micro_batches > 1;
    MemoryParts parts = strategy.memory(its);
    const int stage = static_cast<int>(part / ranks_a_stage);
    const StageWalk::Peak peak =
        StageWalk(model, its).peak(table[static_cast<std::size_t>(stage)], parts[MemoryPart::gradients]);
    parts[MemoryPart::activations] = peak.activations;
    if (its.accumulates) parts[MemoryPart::gradients] *= peak.made;
    const int versions = parallel.pipeline > 1 ? parallel.schedule->weight_versions(stream, stage) : 1;
    parts[MemoryPart::workspace] += (versions - 1) * its.parameters() * its.bytes.parameter;
    if (parts.sum() > largest.sum()) largest = parts;
  }
  return largest;
}

PipelineTable one_stage(int micro_batches) {
  PipelineTable table(1);
  for (int micro = 0; micro < micro_batches; ++micro) {
    table.front().push_back({Piece::forward, micro, 0});
    table.front().push_back({Piece::backward, micro, 0});
  }
  return table;
}

}  // namespace simgrad::strategies
