/// The heat map: utilisation of the links over time.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "outputs/report/charts/links.h"

namespace simgrad::outputs::report {
namespace {

/// Returns the times without near duplicates: sums that round differently give the same edge several times.
std::vector<double> distinct(const std::set<double>& times) {
  std::vector<double> edges;
  if (times.empty()) return edges;
  const double least = 1e-9 * (*times.rbegin() - *times.begin());
  for (const double time : times)
    if (edges.empty() || time - edges.back() > least) edges.push_back(time);
  return edges;
}

/// Returns edges common to all links, thinned to `most` intervals.
std::vector<double> edges_of(const std::vector<record::LinkBin>& bins, std::size_t most) {
  std::set<double> times;
  for (const record::LinkBin& bin : bins)
    if (std::isfinite(bin.from_s) && std::isfinite(bin.to_s)) times.insert({bin.from_s, bin.to_s});
  const std::vector<double> all = distinct(times);
  if (all.size() <= most + 1) return all;
  std::vector<double> thinned;
  for (std::size_t k = 0; k <= most; ++k) thinned.push_back(all[(all.size() - 1) * k / most]);
  return thinned;
}

/// Spreads a bin over the intervals that it overlaps, in proportion to the overlap.
void add(const record::LinkBin& bin, double number, const std::vector<double>& edges, std::vector<double>& row) {
  const auto after = std::ranges::upper_bound(edges, bin.from_s);
  for (auto k = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - edges.begin() - 1, 0)); k + 1 < edges.size();
       ++k) {
    if (edges[k] >= bin.to_s) break;
    const double shared = std::min(edges[k + 1], bin.to_s) - std::max(edges[k], bin.from_s);
    if (shared > 0.0) row[k] += number * shared / (edges[k + 1] - edges[k]);
  }
}

}  // namespace

std::optional<Heat> heat(const record::Record& record, std::size_t most_rows, std::size_t most_columns) {
  Heat heat;
  heat.edges_s = edges_of(record.link_bins, most_columns);
  if (heat.edges_s.size() < 2) return std::nullopt;
  heat.utilisation =
      std::ranges::all_of(record.link_bins, [](const auto& bin) { return std::isfinite(bin.utilisation); });
  std::map<std::string, std::size_t> row_of;
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  for (const record::LinkBin& bin : record.link_bins) {
    const auto [row, is_new] = row_of.try_emplace(bin.link, values.size());
    if (is_new) {
      names.push_back(bin.link);
      values.emplace_back(heat.edges_s.size() - 1, 0.0);
    }
    add(bin, heat.utilisation ? bin.utilisation : bin.bytes / (bin.to_s - bin.from_s), heat.edges_s,
        values[row->second]);
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto peak = [&](std::size_t i) { return -std::ranges::max(values[i]); };
  std::ranges::stable_sort(order, {}, peak);
  order.resize(std::min(order.size(), most_rows));
  std::ranges::sort(order);
  for (const std::size_t i : order) {
    heat.names.push_back(std::move(names[i]));
    heat.values.push_back(std::move(values[i]));
  }
  return heat;
}

}  // namespace simgrad::outputs::report
