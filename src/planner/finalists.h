/// The last comparison: the best candidates under several seeds, each dropped as soon as it is decided.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "planner/answer.h"
#include "planner/laboratory.h"

namespace simgrad::planner {

/// The most candidates that are compared over seeds.
inline constexpr std::size_t finalists_most = 6;
/// Seeds after which one may be dropped.
inline constexpr std::size_t seeds_least = 3;

/// Whether a candidate's measures differ by seed: its numbers decide when it is at the target, or its times are random.
bool by_chance(const Candidate& candidate);

struct Final {
  Choice winner;
  std::vector<Choice> others;  ///< the best first
  std::vector<Tie> ties;       ///< those of them that are not separated from the winner
};

/// Simulates each candidate under the scenario's seed and those that follow it, as many as [plan] says. A candidate is
/// dropped after three seeds or more if the interval of its paired differences from the best one lies above 0, at the
/// plan's confidence for all comparisons together (Bonferroni's inequality). Candidates that are not by chance have
/// one seed.  chosen: at least one.  Returns nothing if the time is up before.
/// Source: O. Maron, A. Moore, The Racing Algorithm: Model Selection for Lazy Learners, 1997.
std::optional<Final> last_comparison(const std::vector<Candidate>& candidates, Laboratory& laboratory,
                                     const std::vector<std::size_t>& chosen, const std::function<void()>& tick);

/// The share of its value by which another candidate may be better than it seems under one seed, at the plan's
/// confidence: from the spread of a candidate's value over seeds. 0 if it is not by chance. Nothing if the time is up.
std::optional<double> seed_slack(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::size_t chosen,
                                 const std::function<void()>& tick);

}  // namespace simgrad::planner
