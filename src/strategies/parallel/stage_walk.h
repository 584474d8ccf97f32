/// The memory of a stage as it does its tasks. It knows the order of the tasks alone, and no times.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/parallel/part_units.h"
#include "strategies/parallel/schedules/table.h"
#include "training/memory/formula.h"

namespace simgrad::strategies {

/// Whether a part of the unit's gradient is summed with another stage's.  tied: the stretch of the part's w that the
/// other stage has, too; or empty.
bool has_tied(const training::ModelUnit& unit, const models::ParameterStretch& tied);

class StageWalk {
 public:
  /// terms: of the part. Both outlive this object.  tied: as has_tied has it.
  StageWalk(const models::ModelPart& part, const training::MemoryTerms& terms,
            const models::ParameterStretch& tied = {});

  /// micro_batches: of a step.
  training::MeshPasses passes(const std::vector<PipelineTask>& tasks, int micro_batches);

 private:
  double kept(std::size_t layer, training::Recompute recompute) const;
  double again(std::size_t layer) const;
  void read(const std::vector<std::size_t>& units);
  void go_through(const PipelineTask& task, std::size_t segment);
  void backward(std::size_t layer, const PipelineTask& task);
  void begin_gradients(const std::vector<std::size_t>& units);
  void count_gradient(std::size_t layer, int chunk);
  void reduce_by_itself(std::size_t unit);
  void note() { moments_.push_back(now_); }

  const models::ModelPart& part_;
  const training::MemoryTerms& terms_;
  PartUnits units_;
  UnitsInUse in_use_;
  double rows_;
  int micro_batches_ = 1;
  std::vector<int> done_;                 ///< by chunk: micro-batches whose gradients are made
  std::vector<std::size_t> layers_left_;  ///< by unit: those whose gradients are not complete

  // Where every micro-batch is reduced by itself.
  struct ByItself {
    bool at_the_end = false;      ///< but for this unit, part of which is summed with another stage's
    bool under_way = false;       ///< its gradient is in memory
    bool reduced = false;         ///< that of one micro-batch has been complete
    std::size_t layers_left = 0;  ///< of the present micro-batch
  };
  std::vector<ByItself> by_itself_;  ///< by unit
  double reducing_ = 0.0;            ///< the numbers of the last one that was complete, until the next one is, or
                                     ///< another backward pass begins
  std::size_t reducing_unit_ = 0;

  training::PassMoment now_;
  std::vector<training::PassMoment> moments_;
};

}  // namespace simgrad::strategies
