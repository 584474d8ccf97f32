#include "cluster/computed/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "base/errors.h"

namespace simgrad::cluster {

std::string_view name(Measured collective) {
  constexpr std::array<std::string_view, measured_collectives> names{"allreduce", "reduce_scatter", "all_gather"};
  return names.at(static_cast<std::size_t>(collective));
}

bool MeasuredCollectives::empty() const {
  return std::ranges::all_of(times_, [](const ByRanks& of_one) { return of_one.empty(); });
}

void MeasuredCollectives::add(Measured collective, int ranks, double bytes, double seconds) {
  Sizes& sizes = times_[static_cast<std::size_t>(collective)][ranks];
  if (!sizes.empty() && bytes <= sizes.rbegin()->first)
    throw base::ScenarioError(fmt::format("{} bytes after {} bytes for {} among {} ranks; expected ascending bytes",
                                          bytes, sizes.rbegin()->first, name(collective), ranks));
  sizes[bytes] = seconds;
}

namespace {

/// The value at x of the power law through two points.
double power_law(double x1, double y1, double x2, double y2, double x) {
  return y1 * std::pow(y2 / y1, std::log(x / x1) / std::log(x2 / x1));
}

double between_sizes(const MeasuredCollectives::Sizes& sizes, double bytes) {
  const auto above = sizes.lower_bound(bytes);
  if (above == sizes.begin() || (above != sizes.end() && above->first == bytes)) return above->second;
  const auto below = std::prev(above);
  if (above != sizes.end()) return power_law(below->first, below->second, above->first, above->second, bytes);
  if (sizes.size() == 1) return below->second * bytes / below->first;
  const auto last_but_one = std::prev(below);
  const double seconds_per_byte =
      std::max(0.0, (below->second - last_but_one->second) / (below->first - last_but_one->first));
  return below->second + seconds_per_byte * (bytes - below->first);
}

}  // namespace

double MeasuredCollectives::seconds(Measured collective, int ranks, double bytes) const {
  const ByRanks& by_ranks = of(collective);
  const auto at = [&](const ByRanks::value_type& measured) {
    const auto& [members, sizes] = measured;
    if (bytes > sizes.rbegin()->first)
      notes_.insert(
          fmt::format("measured {} among {} ranks: vectors beyond the largest one measured take the latency "
                      "and bandwidth of the two largest",
                      name(collective), members));
    if (bytes < sizes.begin()->first)
      notes_.insert(
          fmt::format("measured {} among {} ranks: vectors below the smallest one measured take as long as it",
                      name(collective), members));
    return between_sizes(sizes, bytes);
  };
  if (const auto exact = by_ranks.find(ranks); exact != by_ranks.end()) return at(*exact);
  if (by_ranks.size() == 1)
    throw std::runtime_error(fmt::format(
        "collectives.measured has times of {} among {} ranks, but {} call it; expected rows for {} ranks, or "
        "for two other numbers of ranks",
        name(collective), by_ranks.begin()->first, ranks, ranks));
  auto upper = by_ranks.lower_bound(ranks);
  const bool outside = upper == by_ranks.begin() || upper == by_ranks.end();
  if (upper == by_ranks.begin()) ++upper;
  if (upper == by_ranks.end()) --upper;
  const auto lower = std::prev(upper);
  if (outside)
    notes_.insert(
        fmt::format("measured {}: {} ranks were not measured, and the time goes on as between {} and {} ranks",
                    name(collective), ranks, lower->first, upper->first));
  const double seconds = power_law(lower->first, at(*lower), upper->first, at(*upper), ranks);
  if (!std::isfinite(seconds) || seconds <= 0.0)
    throw std::runtime_error(fmt::format(
        "collectives.measured: the times of {} among {} and {} ranks cannot be extrapolated to {} ranks; add rows for "
        "numbers of ranks closer to it",
        name(collective), lower->first, upper->first, ranks));
  return seconds;
}

}  // namespace simgrad::cluster
