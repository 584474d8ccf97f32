// Stages that are balanced by their memory, against every other way to cut.
#include "strategies/parallel/memory_balance.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "strategies/mesh_trial.h"
#include "strategies/sharded/zero.h"

namespace memory_balance_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Balance;
using strategies::Parallel;
using strategies::UnitMemory;

namespace {

/// Calls it with every way to cut so many units into pieces: firsts, and the number of units behind them.
void for_each_cut(std::int64_t units, std::size_t pieces,
                  const std::function<void(const std::vector<std::int64_t>&)>& f,
                  std::vector<std::int64_t> firsts = {0}) {
  if (firsts.size() == pieces) {
    firsts.push_back(units);
    return f(firsts);
  }
  const auto left = static_cast<std::int64_t>(pieces - firsts.size());
  for (std::int64_t next = firsts.back() + 1; next <= units - left; ++next) {
    std::vector<std::int64_t> longer = firsts;
    longer.push_back(next);
    for_each_cut(units, pieces, f, longer);
  }
}

double largest(const std::vector<std::int64_t>& firsts,
               const std::function<double(std::size_t, std::size_t, std::size_t)>& f) {
  double most = 0.0;
  for (std::size_t piece = 0; piece + 1 < firsts.size(); ++piece)
    most =
        std::max(most, f(static_cast<std::size_t>(firsts[piece]), static_cast<std::size_t>(firsts[piece + 1]), piece));
  return most;
}

}  // namespace

TEST_CASE("a balance by memory has the least memory of all cuts, and of those the least flops") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> some(0.1, 1.0);
  for (int trial = 0; trial < 60; ++trial) {
    const auto units = static_cast<std::int64_t>(3 + trial % 7);
    const std::size_t pieces = 2 + static_cast<std::size_t>(trial) % 3;
    if (std::cmp_greater(pieces, units)) continue;
    UnitMemory memory;
    std::vector<double> costs;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      // Few values, so that several cuts have the least memory.
      memory.parameters.push_back(std::ceil(2.0 * some(random)));
      memory.activations.push_back(std::ceil(2.0 * some(random)));
      memory.again.push_back(std::ceil(2.0 * some(random)));
      costs.push_back(some(random));
    }
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      memory.states.push_back(std::ceil(3.0 * some(random)));
      memory.in_flight.push_back(static_cast<double>(pieces - piece));
    }
    memory.copied = trial % 2;
    const auto bytes = [&](std::size_t first, std::size_t end, std::size_t piece) {
      return memory.bytes(first, end, piece);
    };
    const auto flops = [&](std::size_t first, std::size_t end, std::size_t) {
      double sum = 0.0;
      for (std::size_t unit = first; unit < end; ++unit) sum += costs[unit];
      return sum;
    };
    double least_bytes = std::numeric_limits<double>::infinity(), least_flops = least_bytes;
    for_each_cut(units, pieces, [&](const auto& cut) { least_bytes = std::min(least_bytes, largest(cut, bytes)); });
    for_each_cut(units, pieces, [&](const auto& cut) {
      if (largest(cut, bytes) <= least_bytes * (1.0 + 1e-12)) least_flops = std::min(least_flops, largest(cut, flops));
    });
    const std::vector<std::int64_t> found = strategies::balanced_by_memory(memory, costs);
    CHECK(largest(found, bytes) == Approx(least_bytes).epsilon(1e-12));
    CHECK(largest(found, flops) == Approx(least_flops).epsilon(1e-12));
  }
}

TEST_CASE("stages that are balanced by memory need as little as the best of all cuts, by the formula and in a run") {
  for (const bool tied : {false, true})
    for (const training::Recompute recompute : {training::Recompute::none, training::Recompute::full})
      for (const std::int64_t shards : {1, 2}) {
        CAPTURE(tied, recompute, shards);
        MeshTrial trial = transformer_trial(7, tied);
        auto zero = std::make_shared<strategies::Zero>();
        zero->stage = 1;
        trial.strategy = zero;
        trial.data = {};
        trial.rows = trial.batch = 96;
        trial.steps = 1;
        trial.training.numbers = false;
        trial.training.optimizer.choose("adam");
        trial.training.recompute = recompute;
        trial.parallel.pipeline = 4;
        trial.parallel.micro_batches = 8;
        trial.workers = static_cast<int>(4 * shards);
        const auto bytes = [&](const Parallel& parallel) {
          return strategies::on_mesh(trial.strategy, parallel)->memory(memory_terms(trial)).sum();
        };
        double least = std::numeric_limits<double>::infinity();
        for_each_cut(9, 4, [&](const std::vector<std::int64_t>& firsts) {
          Parallel parallel = trial.parallel;
          for (std::size_t piece = 0; piece < 4; ++piece)
            parallel.stages.push_back(static_cast<double>(firsts[piece + 1] - firsts[piece]));
          least = std::min(least, bytes(parallel));
        });
        const double by_flops = bytes(trial.parallel);
        trial.parallel.balance = Balance::memory;
        CHECK(bytes(trial.parallel) == Approx(least).epsilon(1e-9));
        CHECK(bytes(trial.parallel) < by_flops);
        CHECK(peak_memory(trial.run().record) == Approx(least).epsilon(1e-9));
      }
}

}  // namespace memory_balance_test
