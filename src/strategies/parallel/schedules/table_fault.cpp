#include <fmt/format.h>

#include <algorithm>

#include "strategies/parallel/schedules/table_walk.h"

namespace simgrad::strategies {

namespace {

/// The numbers of one micro-batch's tasks on one chunk of a stage, by kind.
struct TaskCounts {
  int of[4] = {0, 0, 0, 0};
  int& operator[](Piece piece) { return of[static_cast<int>(piece)]; }
};

/// The fault in a stage's putting this task behind those counted, or "".
std::string fault_of_next(const PipelineTask& task, TaskCounts& counts, const PipelineShape& shape) {
  if (counts[task.piece] > 0) return name(task, shape) + " is there twice";
  const bool whole = task.piece == Piece::backward;
  const bool part = task.piece == Piece::input_backward || task.piece == Piece::weight_backward;
  if ((whole && counts[Piece::input_backward] + counts[Piece::weight_backward] > 0) ||
      (part && counts[Piece::backward] > 0))
    return name(task, shape) +
           " is there in addition to another backward; expected one backward, or that of the inputs and that of the "
           "weights";
  if (task.piece == Piece::weight_backward && counts[Piece::input_backward] == 0)
    return name(task, shape) + " stands before its input backward";
  if (task.piece != Piece::forward && counts[Piece::forward] == 0)
    return name(task, shape) + " stands before its forward";
  return {};
}

/// The task that a stage does not have, or "".
std::string missing_task(std::vector<TaskCounts>& counts, const PipelineShape& shape) {
  for (int micro = 0; micro < shape.micro_batches; ++micro)
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
      TaskCounts& here = counts[static_cast<std::size_t>(micro * shape.chunks + chunk)];
      std::optional<Piece> missing;
      if (here[Piece::forward] == 0)
        missing = Piece::forward;
      else if (here[Piece::backward] + here[Piece::input_backward] == 0)
        missing = Piece::backward;
      else if (here[Piece::backward] + here[Piece::weight_backward] == 0)
        missing = Piece::weight_backward;
      if (missing) return name({*missing, micro, chunk}, shape) + " is missing";
    }
  return {};
}

std::string fault_of_stage(const std::vector<PipelineTask>& tasks, const PipelineShape& shape) {
  std::vector<TaskCounts> counts(static_cast<std::size_t>(shape.micro_batches) *
                                 static_cast<std::size_t>(shape.chunks));
  for (const PipelineTask& task : tasks) {
    if (task.micro < 0 || task.micro >= shape.micro_batches || task.chunk < 0 || task.chunk >= shape.chunks)
      return fmt::format("{} is none of {} micro-batches on {} chunks", name(task, shape), shape.micro_batches,
                         shape.chunks);
    TaskCounts& here = counts[static_cast<std::size_t>(task.micro * shape.chunks + task.chunk)];
    if (std::string said = fault_of_next(task, here, shape); !said.empty()) return said;
    ++here[task.piece];
  }
  return missing_task(counts, shape);
}

/// The circle of stages that wait for each other, in words. done: the tasks of each stage that can be done.
std::string circle(const PipelineTable& table, const PipelineShape& shape, const std::vector<std::size_t>& done) {
  int stage = 0;
  while (done[static_cast<std::size_t>(stage)] == table[static_cast<std::size_t>(stage)].size()) ++stage;
  std::vector<int> path;
  std::vector<std::string> waits;
  // A stage that cannot go on waits for one that cannot, so that the path comes back to one of its stages.
  while (std::ranges::find(path, stage) == path.end()) {
    const auto index = static_cast<std::size_t>(stage);
    const PipelineTask& task = table[index][done[index]];
    const int other = input(task, stage, shape)->piece % shape.stages;
    if (other == stage)
      return fmt::format("stage {}: {} stands before the task that makes its input", stage, name(task, shape));
    path.push_back(stage);
    waits.push_back(fmt::format("stage {} waits for stage {} before the {}", stage, other, name(task, shape)));
    stage = other;
  }
  const auto begin = std::ranges::find(path, stage) - path.begin();
  return fmt::format("deadlock: {}", fmt::join(waits.begin() + begin, waits.end(), ", "));
}

}  // namespace

std::string fault(const PipelineTable& table, const PipelineShape& shape) {
  if (table.size() != static_cast<std::size_t>(shape.stages))
    return fmt::format("the table has {} stages, expected {}", table.size(), shape.stages);
  for (std::size_t stage = 0; stage < table.size(); ++stage)
    if (const std::string said = fault_of_stage(table[stage], shape); !said.empty())
      return fmt::format("stage {}: {}", stage, said);
  const std::vector<std::size_t> done = walk(table, shape, [](int, std::size_t) {});
  for (std::size_t stage = 0; stage < table.size(); ++stage)
    if (done[stage] < table[stage].size()) return circle(table, shape, done);
  return {};
}

}  // namespace simgrad::strategies
