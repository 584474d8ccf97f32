/// Shapes and times drawn for the tests of pipeline schedules.
#pragma once

#include <memory>
#include <random>
#include <string_view>

#include "strategies/parallel/schedules/schedule.h"
#include "strategies/parallel/schedules/timed_table.h"

namespace simgrad::tests {

class ShapeDraws {
 public:
  explicit ShapeDraws(std::uint64_t seed) : draws_(seed) {}

  int from(int least, int most) {
    return least + static_cast<int>(draws_() % static_cast<std::uint64_t>(most - least + 1));
  }
  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(draws_() >> 11) * 0x1p-53;
  }

  strategies::PipelineShape any() { return {from(1, 12), from(1, 40), from(1, 4)}; }
  /// A drawn shape, or the nearest one below that the schedule takes.
  strategies::PipelineShape taken_by(const strategies::PipelineSchedule& schedule) {
    strategies::PipelineShape shape = any();
    if (schedule.refusal(shape).empty()) return shape;
    if (schedule.refusal({1, 1, 2}).empty())
      shape = {shape.stages, shape.stages * from(1, 5), from(2, 4)};
    else
      shape.chunks = 1;
    return shape;
  }
  /// Times of a stage. A weight backward takes at most as long as a forward and an input backward.
  strategies::PieceTimes times() {
    const double W = between(0.2, 1.0);
    return {W + between(0.0, 1.0), W + between(0.0, 1.0), W, 0.0};
  }

 private:
  std::mt19937_64 draws_;
};

inline std::unique_ptr<strategies::PipelineSchedule> pipeline_schedule(std::string_view kind) {
  return strategies::pipeline_schedules().find(kind)->make();
}

inline strategies::PipelineTable pipeline_table(std::string_view kind, const strategies::PipelineShape& shape) {
  return pipeline_schedule(kind)->table(shape);
}

/// The table with the same times on all stages.
inline strategies::TimedTable timed_pipeline(std::string_view kind, const strategies::PipelineShape& shape,
                                             const strategies::PieceTimes& times) {
  return strategies::timed(pipeline_table(kind, shape), shape, strategies::equal_pieces(times, shape));
}

}  // namespace simgrad::tests
