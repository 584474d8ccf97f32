// Graphs of operators for tests of placements.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "strategies/operators/placing.h"

namespace simgrad::tests {

/// So many devices on paths that are all alike.
inline strategies::Devices alike_paths(std::size_t count, double latency_s, double bytes_per_s) {
  return {.memory_bytes = std::vector(count, std::numeric_limits<double>::infinity()),
          .latency_s = std::vector(count, std::vector(count, latency_s)),
          .bytes_per_s = std::vector(count, std::vector(count, bytes_per_s))};
}

/// The ten tasks of Topcuoglu, Hariri and Wu (2002), figure 2 and table 1, on their three processors; times are
/// seconds, and an edge's cost are bytes at 1 B/s.
inline strategies::PlacementProblem ten_tasks() {
  const std::vector<std::vector<double>> seconds{{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                                 {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
  const std::vector<std::vector<strategies::OperatorCost::Input>> inputs{{},
                                                                         {{0, 18}},
                                                                         {{0, 12}},
                                                                         {{0, 9}},
                                                                         {{0, 11}},
                                                                         {{0, 14}},
                                                                         {{2, 23}},
                                                                         {{1, 19}, {3, 27}, {5, 15}},
                                                                         {{1, 16}, {3, 23}, {4, 13}},
                                                                         {{6, 17}, {7, 11}, {8, 13}}};
  strategies::PlacementProblem problem{.operators = {}, .devices = alike_paths(3, 0.0, 1.0)};
  for (std::size_t task = 0; task < seconds.size(); ++task)
    problem.operators.push_back(
        {.name = std::to_string(task + 1), .seconds = seconds[task], .inputs = inputs[task], .flops = 1.0});
  return problem;
}

/// A graph of so many operators that read some of those before, on different devices; each operator with a second half
/// that stays on its device, as backward operators do.
inline strategies::PlacementProblem random_problem(std::uint64_t seed, std::size_t operators, std::size_t devices) {
  base::Stream stream({.seed = seed, .purpose = base::Purpose::test});
  strategies::PlacementProblem problem{.operators = {}, .devices = alike_paths(devices, 0.0, 1.0)};
  for (std::size_t a = 0; a < devices; ++a)
    for (std::size_t b = 0; b < devices; ++b) problem.devices.latency_s[a][b] = 0.2 * stream.uniform();
  for (std::size_t i = 0; i < 2 * operators; ++i) {
    strategies::OperatorCost op{.name = std::to_string(i)};
    for (std::size_t d = 0; d < devices; ++d) op.seconds.push_back(0.1 + stream.uniform());
    if (i < operators) {
      for (std::size_t input = 0; input < i; ++input)
        if (stream.uniform() < 0.4) op.inputs.push_back({input, stream.uniform()});
      op.update_s.assign(devices, 0.1 * stream.uniform());
      op.flops = 1.0 + stream.uniform();
    } else {
      const std::size_t forward = 2 * operators - 1 - i;
      op.with = forward;
      op.inputs.push_back({forward, 0.0});
      for (std::size_t reader = forward + 1; reader < operators; ++reader)
        for (const auto& input : problem.operators[reader].inputs)
          if (input.from == forward) op.inputs.push_back({2 * operators - 1 - reader, input.bytes});
    }
    problem.operators.push_back(std::move(op));
  }
  return problem;
}

}  // namespace simgrad::tests
