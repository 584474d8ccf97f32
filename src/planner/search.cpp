#include "planner/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace simgrad::planner {

namespace {

constexpr std::size_t round_by_bounds = 12;      ///< candidates of a round with the lowest bounds
constexpr std::size_t round_by_expectation = 4;  ///< and with the best expectations, which soon give a best one

/// The `most` first of them.
void keep_first(std::vector<std::size_t>& all, std::size_t most) {
  if (all.size() > most) all.resize(most);
}

}  // namespace

Search::Search(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::uint64_t seed, Tick tick)
    : candidates_(candidates), laboratory_(laboratory), judge_(candidates, laboratory, seed), tick_(std::move(tick)) {
  for (const Candidate& candidate : candidates)
    standings_.push_back(laboratory.over() ? Standing{.unseen = true} : judge_.standing(candidate));
}

Rank Search::rank(std::size_t candidate) const {
  return rank_of(candidates_[candidate].settings->goal, standings_[candidate].expected);
}

std::vector<std::size_t> Search::known() const {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < candidates_.size(); ++c)
    if (standings_[c].known == Standing::Known::whole && standings_[c].lost.empty()) all.push_back(c);
  std::ranges::stable_sort(all, {}, [&](std::size_t c) { return rank(c); });
  return all;
}

std::optional<std::size_t> Search::best() const {
  const std::vector<std::size_t> all = known();
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::optional<std::size_t> Search::best_expected() const {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < candidates_.size(); ++c)
    if (standings_[c].known != Standing::Known::bounded && standings_[c].lost.empty() &&
        (!best || rank(c) < rank(*best)))
      best = c;
  return best;
}

bool Search::may_win(std::size_t candidate, const std::optional<Rank>& best, double slack) const {
  const Standing& standing = standings_[candidate];
  if (standing.unseen) return true;
  if (!standing.lost.empty() || standing.known == Standing::Known::whole || !standing.next) return false;
  if (!best) return true;
  const Rank least = rank_of(candidates_[candidate].settings->goal, standing.least);
  return least.violation < best->violation ||
         (least.violation <= best->violation * (1.0 + slack) && least.value < best->value * (1.0 + slack));
}

std::vector<std::size_t> Search::most_promising(double slack) const {
  const std::optional<std::size_t> first = best();
  const std::optional<Rank> leader = first ? std::optional(rank(*first)) : std::nullopt;
  std::vector<std::size_t> by_bounds, by_expectation;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!may_win(c, leader, slack)) continue;
    by_bounds.push_back(c);
    if (standings_[c].known == Standing::Known::begun) by_expectation.push_back(c);
  }
  std::ranges::stable_sort(by_bounds, {},
                           [&](std::size_t c) { return rank_of(candidates_[c].settings->goal, standings_[c].least); });
  std::ranges::stable_sort(by_expectation, {}, [&](std::size_t c) { return rank(c); });
  keep_first(by_bounds, round_by_bounds);
  keep_first(by_expectation, round_by_expectation);
  for (const std::size_t c : by_expectation)
    if (std::ranges::find(by_bounds, c) == by_bounds.end()) by_bounds.push_back(c);
  return by_bounds;
}

bool Search::simulate(const std::vector<std::size_t>& chosen) {
  std::vector<const experiment::RunPlan*> runs;
  for (const std::size_t c : chosen) runs.push_back(&*standings_[c].next);
  const bool all = laboratory_.simulate(runs, [&] { tick_(*this); });
  // A trial of shared numbers or of equal times tells about others, too.
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const bool shares = std::ranges::any_of(chosen, [&](std::size_t other) {
      return other == c ||
             (!candidates_[c].numbers_key.empty() && candidates_[other].numbers_key == candidates_[c].numbers_key);
    });
    if (shares || (standings_[c].next && laboratory_.find(*standings_[c].next)))
      standings_[c] = judge_.standing(candidates_[c]);
  }
  return all;
}

bool Search::find_best(double slack) {
  for (;;) {
    const std::vector<std::size_t> chosen = most_promising(slack);
    if (chosen.empty()) return true;
    if (laboratory_.over() || !simulate(chosen)) return false;
  }
}

std::optional<std::size_t> Search::find_best_of(const std::function<bool(std::size_t candidate)>& part) {
  const auto seems = [&](std::size_t c) {
    const Standing& standing = standings_[c];
    const bool begun = standing.known != Standing::Known::bounded;
    return rank_of(candidates_[c].settings->goal, begun ? standing.expected : standing.least);
  };
  for (;;) {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (part(c) && standings_[c].lost.empty() && (!best || seems(c) < seems(*best))) best = c;
    if (!best || standings_[*best].known == Standing::Known::whole) return best;
    if (laboratory_.over() || !simulate({*best})) return {};
  }
}

bool Search::find_front() {
  for (;;) {
    std::vector<std::size_t> front = known();
    std::vector<std::size_t> chosen;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const Standing& standing = standings_[c];
      if (standing.unseen) return false;
      if (!standing.next || !standing.lost.empty() || standing.known == Standing::Known::whole) continue;
      const Measures& measures = standing.known == Standing::Known::begun ? standing.expected : standing.least;
      if (std::ranges::none_of(front, [&](std::size_t other) {
            return dominates(standings_[other].expected, measures) || standings_[other].expected == measures;
          }))
        chosen.push_back(c);
    }
    if (chosen.empty()) return true;
    std::ranges::stable_sort(
        chosen, {}, [&](std::size_t c) { return rank_of(candidates_[c].settings->goal, standings_[c].least); });
    keep_first(chosen, round_by_bounds + round_by_expectation);
    if (laboratory_.over() || !simulate(chosen)) return false;
  }
}

void Search::refresh() {
  for (std::size_t c = 0; c < candidates_.size(); ++c)
    if (!standings_[c].unseen) standings_[c] = judge_.standing(candidates_[c]);
}

Tally Search::tally(double slack) const {
  Tally tally;
  const std::optional<std::size_t> first = best();
  const std::optional<Rank> leader = first ? std::optional(rank(*first)) : std::nullopt;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const Standing& standing = standings_[c];
    if (!standing.lost.empty())
      ++tally.lost;
    else if (standing.known == Standing::Known::whole)
      ++tally.whole;
    else if (may_win(c, leader, slack))
      ++tally.open;
    else if (standing.by_curve)
      ++tally.dropped;
    else
      ++tally.behind;
  }
  return tally;
}

}  // namespace simgrad::planner
