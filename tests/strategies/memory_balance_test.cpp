// Stages that are balanced by their memory, against every other way to cut.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "strategies/mesh_trial.h"
#include "strategies/parallel/stage_search.h"

namespace memory_balance_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Balance;
using strategies::Parallel;

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

}  // namespace

TEST_CASE("a search for stages finds the least largest cost of all cuts, and of those the least second cost") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> some(0.1, 1.0);
  for (int trial = 0; trial < 60; ++trial) {
    const auto units = static_cast<std::int64_t>(4 + trial % 7);
    const std::size_t stages = 2 + static_cast<std::size_t>(trial) % 3;
    std::vector<double> bytes, flops, in_flight;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      bytes.push_back(std::ceil(3.0 * some(random)));  // few values, so that several cuts are the best
      flops.push_back(some(random));
    }
    for (std::size_t stage = 0; stage < stages; ++stage) in_flight.push_back(static_cast<double>(stages - stage));
    const auto sum = [](const std::vector<double>& all, std::int64_t first, std::int64_t end) {
      return std::accumulate(all.begin() + first, all.begin() + end, 0.0);
    };
    const strategies::CostOfStage memory = [&](std::size_t stage, std::int64_t first, std::int64_t end) {
      return (1.0 + in_flight[stage]) * sum(bytes, first, end);
    };
    const strategies::CostOfStage work = [&](std::size_t, std::int64_t first, std::int64_t end) {
      return sum(flops, first, end);
    };
    double least = std::numeric_limits<double>::infinity(), least_work = least;
    std::vector<std::int64_t> any;
    for_each_cut(units, stages, [&](const auto& cut) {
      least = std::min(least, strategies::largest(cut, memory));
      if (any.empty()) any = cut;
    });
    for_each_cut(units, stages, [&](const auto& cut) {
      if (strategies::largest(cut, memory) <= least) least_work = std::min(least_work, strategies::largest(cut, work));
    });
    const std::vector<std::int64_t> found = strategies::least_largest(any, memory, work);
    CHECK(strategies::largest(found, memory) == Approx(least).epsilon(1e-6));
    CHECK(strategies::largest(found, work) == Approx(least_work).epsilon(1e-6));
  }
}

TEST_CASE("stages that are balanced by memory need as little as the best of all cuts, by the formula and in a run") {
  struct Case {
    const char* schedule;
    std::int64_t pipeline, chunks;
    bool tied;
    training::Recompute recompute;
    const char* strategy;
  };
  using training::Recompute;
  for (const Case& test_case :
       {Case{"1f1b", 4, 1, false, Recompute::none, "zero"}, Case{"1f1b", 4, 1, true, Recompute::full, "zero"},
        Case{"gpipe", 3, 1, true, Recompute::selective, "allreduce"},
        Case{"zb_h1", 4, 1, false, Recompute::full, "allreduce"},
        Case{"zb_h2", 4, 1, true, Recompute::full, "allreduce"},
        Case{"interleaved_1f1b", 2, 2, false, Recompute::none, "allreduce"},
        Case{"1f1b", 4, 1, true, Recompute::none, "fsdp"}}) {
    CAPTURE(test_case.schedule, test_case.tied, test_case.recompute, test_case.strategy);
    MeshTrial trial = transformer_trial(7, test_case.tied);
    trial.strategy = strategies::registry().find(test_case.strategy)->make();
    trial.data = {};
    trial.rows = trial.batch = 96;
    trial.steps = 2;
    trial.training.numbers = false;
    trial.training.optimizer.choose("adam");
    trial.training.recompute = test_case.recompute;
    trial.parallel.pipeline = test_case.pipeline;
    trial.parallel.chunks = test_case.chunks;
    trial.parallel.schedule.choose(test_case.schedule);
    trial.parallel.micro_batches = 12;
    trial.workers = static_cast<int>(2 * test_case.pipeline);
    const auto bytes = [&](const Parallel& parallel) {
      return strategies::on_mesh(trial.strategy, parallel)->memory(memory_terms(trial)).sum();
    };
    double least = std::numeric_limits<double>::infinity();
    const auto pieces = static_cast<std::size_t>(test_case.pipeline * test_case.chunks);
    for_each_cut(9, pieces, [&](const std::vector<std::int64_t>& firsts) {
      Parallel parallel = trial.parallel;
      for (std::size_t piece = 0; piece < pieces; ++piece)
        parallel.stages.push_back(static_cast<double>(firsts[piece + 1] - firsts[piece]));
      least = std::min(least, bytes(parallel));
    });
    const double by_flops = bytes(trial.parallel);
    trial.parallel.balance = Balance::memory;
    const double by_memory = bytes(trial.parallel);
    if (test_case.chunks == 1) CHECK(by_memory == Approx(least).epsilon(1e-6));
    CHECK(by_memory <= by_flops);
    CHECK(by_memory < 1.1 * least);
    CHECK(peak_memory(trial.run().record) == Approx(by_memory).epsilon(0.01));
  }
}

}  // namespace memory_balance_test
