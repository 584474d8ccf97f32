// Stages by dynamic programming against all cuts, one by one.
#include "strategies/automatic/stage_program.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"

namespace stage_program_test {

using namespace simgrad::strategies;

namespace {

using Firsts = std::vector<std::int64_t>;

double step_s(const Firsts& firsts, std::int64_t micro_batches, const CostOfUnits& cost) {
  double sum = 0.0, longest = 0.0;
  for (std::size_t stage = 0; stage + 1 < firsts.size(); ++stage) {
    const StageCost stage_cost = cost(stage, firsts[stage], firsts[stage + 1]);
    sum += stage_cost.passes_s + stage_cost.hops_s;
    longest = std::max(longest, stage_cost.passes_s);
  }
  return sum + static_cast<double>(micro_batches - 1) * longest;
}

/// The least step of all cuts of these units into stages from that unit on.
double least_of_all(Firsts& firsts, std::int64_t units, std::size_t stages, std::int64_t micro_batches,
                    const CostOfUnits& cost) {
  if (firsts.size() == stages) {
    Firsts whole = firsts;
    whole.push_back(units);
    return step_s(whole, micro_batches, cost);
  }
  double least = StageCost::impossible;
  const auto left = static_cast<std::int64_t>(stages - firsts.size());
  for (std::int64_t first = firsts.back() + 1; first + left <= units; ++first) {
    firsts.push_back(first);
    least = std::min(least, least_of_all(firsts, units, stages, micro_batches, cost));
    firsts.pop_back();
  }
  return least;
}

double least_of_all(std::int64_t units, std::size_t stages, std::int64_t micro_batches, const CostOfUnits& cost) {
  Firsts firsts{0};
  return least_of_all(firsts, units, stages, micro_batches, cost);
}

/// Units with random times and outputs on stages with random speeds, some of which hold few units.
struct Random {
  std::vector<double> units, outputs, speeds;
  std::vector<std::int64_t> most;

  Random(std::mt19937& draws, std::size_t count, std::size_t stages) {
    std::uniform_real_distribution<double> any(0.1, 2.0);
    for (std::size_t u = 0; u < count; ++u) units.push_back(any(draws)), outputs.push_back(any(draws));
    for (std::size_t s = 0; s < stages; ++s) {
      speeds.push_back(any(draws));
      most.push_back(static_cast<std::int64_t>(1 + draws() % count));
    }
  }
  StageCost operator()(std::size_t stage, std::int64_t first, std::int64_t end) const {
    if (end - first > most[stage]) return {.passes_s = StageCost::impossible};
    double sum = 0.0;
    for (auto unit = static_cast<std::size_t>(first); unit < static_cast<std::size_t>(end); ++unit) sum += units[unit];
    return {.passes_s = sum / speeds[stage], .hops_s = outputs[static_cast<std::size_t>(end) - 1]};
  }
};

}  // namespace

TEST_CASE("programmed stages are the best of all cuts, on unlike devices and with limits") {
  std::mt19937 draws(7);  // NOLINT: the same draws each time
  int possible = 0, impossible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto stages = static_cast<std::size_t>(1 + draws() % 5);
    const auto units = static_cast<std::int64_t>(stages + draws() % 6);
    const auto micro_batches = static_cast<std::int64_t>(1 + draws() % 9);
    const Random cost(draws, static_cast<std::size_t>(units), stages);
    const ProgrammedStages found = program_stages(units, stages, micro_batches, cost);
    const double least = least_of_all(units, stages, micro_batches, cost);
    CAPTURE(trial, units, stages, micro_batches);
    if (!std::isfinite(least)) {
      CHECK(found.firsts.empty());
      ++impossible;
      continue;
    }
    ++possible;
    REQUIRE(found.firsts.size() == stages + 1);
    CHECK(found.step_s == Approx(least).epsilon(1e-12));
    CHECK(step_s(found.firsts, micro_batches, cost) == Approx(found.step_s).epsilon(1e-12));
  }
  CHECK(possible > 100);
  CHECK(impossible > 20);
}

TEST_CASE("a long hop is not worth a little balance, and is worth much") {
  // Four units of 1 s in two stages. The cut in the middle costs a hop; the one behind the first unit costs none.
  const auto cost = [](double hop_s) {
    return [hop_s](std::size_t stage, std::int64_t first, std::int64_t end) -> StageCost {
      const double hops_s = stage == 0 && end == 2 ? hop_s : 0.0;
      return {.passes_s = static_cast<double>(end - first), .hops_s = hops_s};
    };
  };
  // One micro-batch: the sum is 4 either way. With three, the middle waits 2 x 2 s, the other cut 2 x 3 s.
  CHECK(program_stages(4, 2, 1, cost(0.5)).firsts == Firsts{0, 1, 4});
  CHECK(program_stages(4, 2, 3, cost(1.5)).firsts == Firsts{0, 2, 4});
  CHECK(program_stages(4, 2, 3, cost(2.5)).step_s == Approx(10.0).epsilon(1e-12));
}

}  // namespace stage_program_test
