/// A layout of a model on a mesh, and the times of its units on each stage.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/automatic/unit_times.h"
#include "strategies/parallel/parallel.h"
#include "strategies/parallel/schedules/timed_table.h"
#include "training/program.h"

namespace simgrad::strategies {

class LayoutTimes {
 public:
  /// units: outlive this object, as `whole` does: the terms of the whole model and all ranks.
  LayoutTimes(const Parallel& parallel, const training::Traits& traits, const std::vector<SharedUnit>& units,
              const training::MemoryTerms& whole, ConcurrentMessages& messages);

  const Parallel& parallel() const { return parallel_; }
  PipelineShape shape() const { return parallel_.shape(); }
  std::int64_t data() const { return data_; }
  const std::vector<SharedUnit>& units() const { return *units_; }
  const training::MemoryTerms& whole() const { return *whole_; }
  const StageDevices& devices(std::size_t stage) const { return stages_[stage]; }

  /// The times of the units first .. end - 1 on that stage.
  UnitTimes of(std::size_t stage, std::int64_t first, std::int64_t end) const;
  double parameters(std::int64_t first, std::int64_t end) const;
  /// The parameters that expert ranks do not have in common, where sums along `expert` follow the passes.
  double of_experts(std::int64_t first, std::int64_t end) const;
  /// The time of the hop behind a piece of that stage whose last unit is end - 1, tensor ranks' gathering of parts
  /// included.
  double hop_s(std::size_t stage, std::int64_t end) const;
  /// The times of each piece of the model, cut so.
  std::vector<PieceTimes> pieces(const std::vector<std::int64_t>& firsts) const;
  /// The time of the sum of the matrix that the first and the last stage both have; 0: none.
  double tied_sum_s() const;

 private:
  Parallel parallel_;
  std::int64_t data_;
  training::ParameterPasses passes_;  ///< of the mean micro-batch
  const std::vector<SharedUnit>* units_;
  const training::MemoryTerms* whole_;
  training::MemoryTerms of_rank_;
  std::vector<StageDevices> stages_;
  std::vector<std::size_t> kind_of_stage_;     ///< stages with equal devices and links have equal times
  std::vector<std::vector<UnitTimes>> until_;  ///< by kind and unit: the sum of the units before it
  std::vector<double> parameters_until_, of_experts_until_;
  double tied_ = 0.0;  ///< numbers of the matrix that the first and the last unit both have; 0: none
};

}  // namespace simgrad::strategies
