/// The search for the best candidate: whichever could still be the best is simulated a little further, until none could
/// be better than one that is known to its end.
///
/// It is a best-first search with bounds that simulations tighten. A bound of each candidate comes from formulas at
/// first; then from the times of its first steps; then from the beginning of its training, which is simulated four
/// times as long whenever it is in the way. Rounds have a fixed number of candidates, so that the search does not
/// depend on how many processes simulate. Source: P. Hart, N. Nilsson, B. Raphael, A Formal Basis for the Heuristic
/// Determination of Minimum Cost Paths, 1968.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "planner/candidate.h"
#include "planner/judge.h"
#include "planner/laboratory.h"
#include "planner/rank.h"

namespace simgrad::planner {

/// How much of the space is decided.
struct Tally {
  std::size_t whole = 0;    ///< candidates that are known to their end
  std::size_t behind = 0;   ///< that cannot be better than the best, by formulas or by the times of their steps
  std::size_t dropped = 0;  ///< that were dropped because their losses fall too slowly
  std::size_t lost = 0;     ///< that do not come to the goal
  std::size_t open = 0;     ///< that may still be better

  std::size_t decided() const { return whole + behind + dropped + lost; }
};

class Search {
 public:
  using Tick = std::function<void(const Search& search)>;

  /// tick: called now and then. The others outlive this object.
  Search(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::uint64_t seed, Tick tick);

  /// Goes on until no candidate can be better than the best by more than `slack`, a share of its value. Returns whether
  /// that is so, and not the time up.
  bool find_best(double slack);
  /// Simulates candidates of a part of the space until the best of them is known to its end. The one that is expected
  /// to be the best is simulated further each time. Returns it; nothing if the part is empty or the time is up.
  std::optional<std::size_t> find_best_of(const std::function<bool(std::size_t candidate)>& part);
  /// Goes on until no candidate is expected to be better than all known ones in one of time, money and energy without
  /// being worse in another. Returns likewise.
  bool find_front();
  /// Judges all candidates again, after corrections of the laboratory.
  void refresh();

  /// The best of those that are known to their end, in the order of their ranks; equal ones in that of the space.
  std::vector<std::size_t> known() const;
  std::optional<std::size_t> best() const;
  /// The best of those whose expected measures are known; for a search that was ended before any was whole.
  std::optional<std::size_t> best_expected() const;
  const Standing& standing(std::size_t candidate) const { return standings_[candidate]; }
  Rank rank(std::size_t candidate) const;
  Tally tally(double slack) const;

 private:
  bool simulate(const std::vector<std::size_t>& chosen);
  std::vector<std::size_t> most_promising(double slack) const;
  bool may_win(std::size_t candidate, const std::optional<Rank>& best, double slack) const;

  const std::vector<Candidate>& candidates_;
  Laboratory& laboratory_;
  Judge judge_;
  Tick tick_;
  std::vector<Standing> standings_;
};

}  // namespace simgrad::planner
