#include "strategies/parallel/schedules/timed_table.h"

#include <algorithm>

#include "base/errors.h"
#include "strategies/parallel/schedules/table_walk.h"

namespace simgrad::strategies {

namespace {

double duration(Piece piece, const PieceTimes& times) {
  switch (piece) {
    case Piece::forward:
      return times.forward;
    case Piece::backward:
      return times.input_backward + times.weight_backward;
    case Piece::input_backward:
      return times.input_backward;
    case Piece::weight_backward:
      return times.weight_backward;
  }
  return 0.0;
}

}  // namespace

std::vector<PieceTimes> equal_pieces(const PieceTimes& times, const PipelineShape& shape) {
  const double v = shape.chunks;
  return std::vector<PieceTimes>(
      static_cast<std::size_t>(shape.pieces()),
      PieceTimes{times.forward / v, times.input_backward / v, times.weight_backward / v, times.hop});
}

TimedTable timed(const PipelineTable& table, const PipelineShape& shape, std::span<const PieceTimes> times) {
  base::check(times.size() == static_cast<std::size_t>(shape.pieces()), "times of every piece of the model");
  TimedTable all;
  for (const auto& tasks : table) all.tasks.emplace_back(tasks.size());
  ByResult<double> ends(shape, 0.0);
  std::vector<double> work(table.size(), 0.0);
  const auto of_piece = [&](int piece) -> const PieceTimes& { return times[static_cast<std::size_t>(piece)]; };
  walk(table, shape, [&](int stage, std::size_t index) {
    const PipelineTask& task = table[static_cast<std::size_t>(stage)][index];
    std::vector<TimedTask>& own = all.tasks[static_cast<std::size_t>(stage)];
    const int piece = shape.piece(stage, task.chunk);
    double start = index == 0 ? 0.0 : own[index - 1].end;
    if (const auto needed = input(task, stage, shape)) {
      const bool hops = needed->piece % shape.stages != stage;
      start = std::max(start, ends[*needed] + (hops ? of_piece(std::min(piece, needed->piece)).hop : 0.0));
    }
    const double takes = duration(task.piece, of_piece(piece));
    own[index] = {start, start + takes};
    work[static_cast<std::size_t>(stage)] += takes;
    ends[result(task, stage, shape)] = own[index].end;
  });
  for (const auto& tasks : all.tasks) {
    if (tasks.empty()) continue;
    all.makespan = std::max(all.makespan, tasks.back().end);
    all.period = std::max(all.period, tasks.back().end - tasks.front().start);
  }
  all.work = std::ranges::max(work);
  return all;
}

}  // namespace simgrad::strategies
