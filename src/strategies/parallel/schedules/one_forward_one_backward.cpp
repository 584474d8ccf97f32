#include "strategies/parallel/schedules/one_forward_one_backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace simgrad::strategies {

int PipelineShape::under_way(int stage) const {
  if (replicas.empty()) return stages - stage;
  const auto at_stage = replicas.begin() + stage;
  return (std::accumulate(at_stage, replicas.end(), 0) + *at_stage - 1) / *at_stage;
}

PipelineTable OneForwardOneBackward::table(const PipelineShape& shape) const {
  const int m = shape.micro_batches;
  PipelineTable all;
  for (int i = 0; i < shape.stages; ++i) {
    std::vector<PipelineTask>& tasks = all.emplace_back();
    const int ahead = std::min(m, shape.under_way(i) - 1);
    for (int k = 0; k < ahead; ++k) tasks.push_back({Piece::forward, k});
    for (int k = 0; k < m; ++k) {
      if (k + ahead < m) tasks.push_back({Piece::forward, k + ahead});
      tasks.push_back({Piece::backward, k});
    }
  }
  return all;
}

PipelineTable Interleaved::table(const PipelineShape& shape) const {
  const int p = shape.stages, v = shape.chunks, tasks_each_way = shape.micro_batches * v;
  const auto micro = [&](int k) { return k / (p * v) * p + k % p; };
  const auto chunk = [&](int k) { return k % (p * v) / p; };
  PipelineTable all;
  for (int i = 0; i < p; ++i) {
    std::vector<PipelineTask>& tasks = all.emplace_back();
    const int ahead = std::min(tasks_each_way, 2 * (p - i - 1) + (v - 1) * p);
    for (int k = 0; k < ahead; ++k) tasks.push_back({Piece::forward, micro(k), chunk(k)});
    for (int k = 0; k < tasks_each_way; ++k) {
      if (k + ahead < tasks_each_way) tasks.push_back({Piece::forward, micro(k + ahead), chunk(k + ahead)});
      tasks.push_back({Piece::backward, micro(k), v - 1 - chunk(k)});
    }
  }
  return all;
}

std::string Interleaved::refusal(const PipelineShape& shape) const {
  const int p = shape.stages, m = shape.micro_batches;
  if (shape.chunks < 2) return "interleaving needs 2 chunks of layers a stage or more, but there is 1; 1f1b has one";
  if (m % p == 0) return {};
  const int below = m / p * p;
  return fmt::format(
      "interleaving takes {} micro-batches at a time, as many as there are stages, but there are {}; take {}", p, m,
      below == 0 ? fmt::format("{}", p) : fmt::format("{} or {}", below, below + p));
}

int PipeDream::weight_versions(const PipelineShape& shape, int stage) const {
  return std::min(shape.micro_batches, shape.under_way(stage));
}

}  // namespace simgrad::strategies
