#include "strategies/reductions/krum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace simgrad::strategies {

namespace {

using Gradients = std::span<const std::span<const double>>;

/// The most that are tolerated among so many: 2 f + 2 < P.
std::int64_t most_faulty(std::int64_t gradients) { return std::max<std::int64_t>(0, (gradients - 3) / 2); }

/// Infinite for a gradient that is not finite.
double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

/// Each gradient's sum of squared distances to the nearest others.
std::vector<double> scores(Gradients gradients, std::int64_t nearest) {
  const std::size_t P = gradients.size();
  std::vector<std::vector<double>> distances(P);
  for (std::size_t a = 0; a < P; ++a)
    for (std::size_t b = a + 1; b < P; ++b) {
      const double distance = squared_distance(gradients[a], gradients[b]);
      distances[a].push_back(distance);
      distances[b].push_back(distance);
    }
  std::vector<double> all;
  for (std::vector<double>& to_others : distances) {
    std::ranges::sort(to_others);
    all.push_back(
        std::accumulate(to_others.begin(), to_others.begin() + std::min(nearest, std::ssize(to_others)), 0.0));
  }
  return all;
}

}  // namespace

std::vector<std::size_t> nearest_to_neighbours(Gradients gradients, std::optional<std::int64_t> faulty,
                                               std::int64_t m) {
  const std::int64_t P = std::ssize(gradients), most = most_faulty(P);
  const std::vector<double> of =
      scores(gradients, std::max<std::int64_t>(1, P - std::min(faulty.value_or(most), most) - 2));
  std::vector<std::size_t> order(gradients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return of[i]; });
  order.resize(static_cast<std::size_t>(std::min(m, P)));
  return order;
}

void Krum::describe(base::Describer& d) {
  d.integer("krum_faulty", faulty,
            "f: how many of the P workers may send anything, at most (P - 3) / 2, which is the default",
            base::Bounds::at_least(0));
  d.integer("krum_selected", selected, "m: how many gradients' mean is taken (multi-krum)", base::Bounds::at_least(1));
}

double Krum::flops(std::int64_t gradients, std::int64_t n) const {
  const auto P = static_cast<double>(gradients), numbers = static_cast<double>(n);
  const auto m = static_cast<double>(std::min(selected, gradients));
  return 1.5 * numbers * P * (P - 1.0) + P * (P - 1.0) * std::log2(P) + (m > 1.0 ? m * numbers : 0.0);
}

values::Kernel Krum::kernel() const {
  return [f = faulty, m = selected](Gradients in, std::span<double> out) {
    const std::vector<std::size_t> taken = nearest_to_neighbours(in, f, m);
    std::ranges::copy(in[taken.front()], out.begin());
    for (std::size_t i = 1; i < taken.size(); ++i)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += in[taken[i]][j];
    for (double& number : out) number /= static_cast<double>(taken.size());
  };
}

std::vector<std::uint64_t> Krum::key() const {
  return {static_cast<std::uint64_t>(faulty.value_or(-1)), static_cast<std::uint64_t>(selected)};
}

std::string Krum::refusal(std::int64_t gradients) const {
  if (gradients < 3)
    return fmt::format(
        "reduce = \"krum\" compares a gradient with its neighbours, of which {} gradient{} have too few; "
        "expected 3 at least",
        gradients, gradients == 1 ? "" : "s");
  if (const std::int64_t most = most_faulty(gradients); faulty.value_or(0) > most)
    return fmt::format(
        "krum_faulty = {} of {} gradients, but Krum tolerates f of them where 2 f + 2 is below their "
        "number; expected {} at most",
        *faulty, gradients, most);
  if (const std::int64_t honest = gradients - faulty.value_or(most_faulty(gradients)); selected > honest)
    return fmt::format("krum_selected = {} of {} gradients takes faulty ones, too; expected at most {}", selected,
                       gradients, honest);
  return {};
}

}  // namespace simgrad::strategies
