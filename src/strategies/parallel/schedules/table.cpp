#include "strategies/parallel/schedules/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "strategies/parallel/schedules/table_walk.h"

namespace simgrad::strategies {

namespace {

/// The most tasks of a stage at one time whose forward is done and whose `last` backward is not.
int most_between(const std::vector<PipelineTask>& tasks, Piece last) {
  int now = 0, most = 0;
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::forward) most = std::max(most, ++now);
    if (task.piece == Piece::backward || task.piece == last) --now;
  }
  return most;
}

}  // namespace

std::string name(const PipelineTask& task, const PipelineShape& shape) {
  constexpr const char* names[] = {"forward", "backward", "input backward", "weight backward"};
  const std::string said = fmt::format("{} of micro-batch {}", names[static_cast<int>(task.piece)], task.micro);
  return shape.chunks == 1 ? said : said + fmt::format(" on chunk {}", task.chunk);
}

int in_flight(const PipelineTable& table, int stage) {
  return most_between(table.at(static_cast<std::size_t>(stage)), Piece::weight_backward);
}

int awaiting_gradient(const PipelineTable& table, int stage) {
  return most_between(table.at(static_cast<std::size_t>(stage)), Piece::input_backward);
}

Result result(const PipelineTask& task, int stage, const PipelineShape& shape) {
  const int piece = shape.piece(stage, task.chunk);
  if (task.piece == Piece::forward) return {Outcome::activations, task.micro, piece};
  if (task.piece == Piece::weight_backward) return {Outcome::weight_gradient, task.micro, piece};
  return {Outcome::input_gradient, task.micro, piece};
}

std::optional<Result> input(const PipelineTask& task, int stage, const PipelineShape& shape) {
  const int piece = shape.piece(stage, task.chunk);
  switch (task.piece) {
    case Piece::forward:
      if (piece == 0) return std::nullopt;
      return Result{Outcome::activations, task.micro, piece - 1};
    case Piece::weight_backward:
      return Result{Outcome::input_gradient, task.micro, piece};
    case Piece::backward:
    case Piece::input_backward:
      break;
  }
  if (piece == shape.pieces() - 1) return Result{Outcome::activations, task.micro, piece};
  return Result{Outcome::input_gradient, task.micro, piece + 1};
}

}  // namespace simgrad::strategies
