#include "outputs/leaders.h"

#include <algorithm>
#include <cmath>

#include "outputs/text/language.h"

namespace simgrad::outputs {
namespace {

std::vector<double> finite_numbers(const Row& row, std::optional<double> SeedNumbers::*number) {
  std::vector<double> numbers;
  for (const SeedNumbers& seed : row.by_seed)
    if (const auto x = seed.*number; x && std::isfinite(*x)) numbers.push_back(*x);
  return numbers;
}

}  // namespace

Interval seeds_interval(const Row& row, std::optional<double> SeedNumbers::*number) {
  const std::vector<double> numbers = finite_numbers(row, number);
  return numbers.empty() ? Interval{nan, nan, nan} : interval(numbers);
}

std::optional<double> compared(const Row& row, Compared by) {
  if (by.to_target ? !row.all_reached() : !row.sound()) return std::nullopt;
  const Interval of_seeds = seeds_interval(row, by.number);
  return std::isfinite(of_seeds.mean) ? std::optional(of_seeds.mean) : std::nullopt;
}

Difference difference(const Row& first, const Row& second, Compared by) {
  Difference found;
  for (const SeedNumbers& a : first.by_seed)
    for (const SeedNumbers& b : second.by_seed)
      if (a.seed == b.seed && a.*by.number && b.*by.number) found.pairs.push_back(*(b.*by.number) - *(a.*by.number));
  const double mean = compared(first, by).value_or(nan);
  const bool alike = compared(second, by).value_or(nan) <= equal_within * mean;  // as two means of 0 are
  if (found.pairs.size() < 2) {
    found.of_pairs = found.pairs.empty() ? Interval{nan, nan, nan} : interval(found.pairs);
    found.lead = alike ? Lead::equal : Lead::one_seed;
    return found;
  }
  found.of_pairs = interval(found.pairs);
  const double half = found.of_pairs.high - found.of_pairs.mean;
  const double negligible = (equal_within - 1.0) * mean;
  // Below 0 the seeds in common speak for the second, though its mean over all seeds is the larger one.
  const bool ahead = found.of_pairs.low > 0.0;
  const bool level = half <= negligible && found.of_pairs.high >= 0.0;
  if (!ahead && !level)
    found.lead = Lead::unclear;
  else
    found.lead = alike ? Lead::equal : Lead::clear;
  return found;
}

Leaders leaders(const std::vector<const Row*>& ranked, Compared by) {
  Leaders top;
  if (ranked.empty()) return top;
  top.all.push_back(0);
  bool unclear = false;
  bool one_seed = false;
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const Lead lead = difference(*ranked[0], *ranked[i], by).lead;
    if (lead == Lead::equal || lead == Lead::unclear) {
      top.all.push_back(i);
      unclear = unclear || lead == Lead::unclear;
    } else {
      one_seed = one_seed || lead == Lead::one_seed;
      if (!top.next) top.next = i;
    }
  }
  top.lead = unclear ? Lead::unclear : one_seed ? Lead::one_seed : top.all.size() > 1 ? Lead::equal : Lead::clear;
  return top;
}

std::string one_seed_remark(const Comparison& comparison) {
  return std::ranges::any_of(comparison.rows, [](const Row& row) { return row.seeds > 1; })
             ? tr("Fewer than two seeds in common: the order may be chance.")
             : tr("One seed: the order may be chance.");
}

std::vector<const Row*> ranked(const Comparison& comparison, Compared by) {
  std::vector<const Row*> rows;
  for (const Row& row : comparison.rows)
    if (compared(row, by)) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [&](const Row* row) { return *compared(*row, by); });
  return rows;
}

}  // namespace simgrad::outputs
