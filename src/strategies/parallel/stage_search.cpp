#include "strategies/parallel/stage_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace simgrad::strategies {

namespace {

using Fits = std::function<bool(std::size_t stage, std::int64_t first, std::int64_t end)>;

/// Each stage has as many units as fit, from the front on. Empty: some do not fit. As a cost does not fall with more
/// units, there is no cut that fits then.
std::vector<std::int64_t> filled(std::int64_t units, std::size_t stages, const Fits& fits) {
  std::vector<std::int64_t> firsts{0};
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const std::int64_t first = firsts.back();
    std::int64_t end = first + 1, most = units - static_cast<std::int64_t>(stages - 1 - stage);
    if (end > most || !fits(stage, first, end)) return {};
    while (end < most) {
      const std::int64_t middle = (end + most + 1) / 2;
      if (fits(stage, first, middle))
        end = middle;
      else
        most = middle - 1;
    }
    firsts.push_back(end);
  }
  return firsts.back() == units ? firsts : std::vector<std::int64_t>();
}

/// From `best` on: the cut whose largest cost is least, of those in which all stages are allowed.
std::vector<std::int64_t> bisected(std::vector<std::int64_t> best, const CostOfStage& cost, const Fits& allowed) {
  const std::int64_t units = best.back();
  const std::size_t stages = best.size() - 1;
  double most = largest(best, cost), too_small = 0.0;
  while (most > too_small * (1.0 + 1e-6) && most > 0.0) {
    const double limit = (most + too_small) / 2.0;
    std::vector<std::int64_t> cut = filled(units, stages, [&](std::size_t stage, std::int64_t first, std::int64_t end) {
      return cost(stage, first, end) <= limit && allowed(stage, first, end);
    });
    if (cut.empty()) {
      too_small = limit;
      continue;
    }
    best = std::move(cut);
    most = largest(best, cost);
  }
  return best;
}

/// A cut and the stage with its largest cost.
struct Known {
  std::vector<std::int64_t> firsts;
  std::size_t stage;
  double most;
};

Known known(std::vector<std::int64_t> firsts, const CostsOfCut& costs) {
  const std::vector<double> all = costs(firsts);
  const auto most = std::ranges::max_element(all);
  return {std::move(firsts), static_cast<std::size_t>(most - all.begin()), *most};
}

/// The best of the cuts in which that stage has a unit less and another one a unit more; itself if none is better.
Known best_move(const Known& from, std::size_t stages, const CostsOfCut& costs) {
  Known best = from;
  const std::size_t pieces = from.firsts.size() - 1;
  for (std::size_t piece = from.stage; piece < pieces; piece += stages) {
    if (from.firsts[piece + 1] - from.firsts[piece] == 1) continue;
    for (std::size_t to = 0; to < pieces; ++to) {
      if (to % stages == from.stage) continue;
      std::vector<std::int64_t> firsts = from.firsts;  // the pieces between the two keep their lengths
      for (std::size_t border = piece + 1; border <= to; ++border) --firsts[border];
      for (std::size_t border = to + 1; border <= piece; ++border) ++firsts[border];
      if (Known candidate = known(std::move(firsts), costs); candidate.most < best.most) best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace

double largest(const std::vector<std::int64_t>& firsts, const CostOfStage& cost) {
  double most = 0.0;
  for (std::size_t stage = 0; stage + 1 < firsts.size(); ++stage)
    most = std::max(most, cost(stage, firsts[stage], firsts[stage + 1]));
  return most;
}

std::vector<std::int64_t> least_largest(const std::vector<std::int64_t>& begin, const CostOfStage& cost,
                                        const CostOfStage& second) {
  const std::vector<std::int64_t> least =
      bisected(begin, cost, [](std::size_t, std::int64_t, std::int64_t) { return true; });
  const double most = largest(least, cost);
  return bisected(least, second, [&](std::size_t stage, std::int64_t first, std::int64_t end) {
    return cost(stage, first, end) <= most;
  });
}

std::vector<std::int64_t> improved(const std::vector<std::vector<std::int64_t>>& begins, std::size_t stages,
                                   const CostsOfCut& costs) {
  Known best{.firsts = {}, .stage = 0, .most = std::numeric_limits<double>::infinity()};
  for (const std::vector<std::int64_t>& begin : begins) {
    Known now = known(begin, costs);
    for (bool falls = true; falls;) {
      Known next = best_move(now, stages, costs);
      falls = next.most < now.most;
      if (falls) now = std::move(next);
    }
    if (now.most < best.most) best = std::move(now);
  }
  return best.firsts;
}

}  // namespace simgrad::strategies
