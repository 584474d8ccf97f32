#include "cluster/faulty/faulty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace simgrad::cluster {

using base::Bounds;

namespace {

constexpr double default_share = 0.2;

}  // namespace

void FaultyWorkers::describe(base::Describer& d) {
  d.number("share", share,
           "the share of the workers that are faulty, rounded to whole workers; the seed draws them; default: 0.2",
           Bounds::between(0, 1));
  d.numbers("workers", workers, "the ranks of the faulty workers, in place of share", Bounds::at_least(0));
  if (share && !workers.empty())
    d.refuse("workers", "share and workers both say which workers are faulty; leave one of them out");
  for (const double rank : workers)
    if (rank != std::floor(rank)) {
      d.refuse("workers", fmt::format("{} is no rank; expected whole numbers from 0 on", rank));
      break;
    }
}

bool FaultyWorkers::concerns(int rank, int P, std::uint64_t seed) const {
  if (!there()) return false;
  if (!workers.empty()) return std::ranges::find(workers, static_cast<double>(rank)) != workers.end();
  const auto all = static_cast<std::uint64_t>(P);
  const base::Permutation place({.seed = seed, .purpose = base::Purpose::faulty}, all);
  return std::cmp_less(place(static_cast<std::uint64_t>(rank)),
                       std::llround(share.value_or(default_share) * static_cast<double>(P)));
}

std::vector<int> FaultyWorkers::ranks(int P, std::uint64_t seed) const {
  std::vector<int> all;
  for (int rank = 0; there() && rank < P; ++rank)
    if (concerns(rank, P, seed)) all.push_back(rank);
  return all;
}

std::string FaultyWorkers::note(std::string_view kind, int P, std::uint64_t seed) const {
  constexpr std::size_t named = 20;
  std::vector<int> all = ranks(P, seed);
  const std::size_t count = all.size();
  if (count == 0) return fmt::format("none of {} workers is faulty (cluster.faulty)", P);
  if (count > named) all.resize(named);
  return fmt::format("{} of {} workers are faulty (cluster.faulty = \"{}\"): ranks {}{}", count, P, kind,
                     fmt::join(all, ", "), count > named ? ", ..." : "");
}

std::string FaultyWorkers::refusal(std::int64_t P) const {
  for (const double rank : workers)
    if (rank >= static_cast<double>(P))
      return fmt::format("workers holds {}, but the workers are ranks 0 to {}", rank, P - 1);
  return {};
}

void SignFlip::describe(base::Describer& d) {
  FaultyWorkers::describe(d);
  d.number("factor", times, "the factor by which the opposite of the gradient is multiplied", Bounds::above_zero());
}

void ScaledGradients::describe(base::Describer& d) {
  FaultyWorkers::describe(d);
  d.number("factor", times, "the factor by which the gradient is multiplied", Bounds::at_least(0));
}

void RandomGradients::describe(base::Describer& d) {
  FaultyWorkers::describe(d);
  d.number("sigma", sigma,
           "standard deviation of each number, in a gradient of the mean loss over the worker's own rows",
           Bounds::above_zero());
}

const base::Registry<FaultyWorkers>& faulty_workers() {
  static const base::Registry<FaultyWorkers> table({
      base::entry<FaultyWorkers, NoFaultyWorkers>(),
      base::entry<FaultyWorkers, SignFlip>(),
      base::entry<FaultyWorkers, ScaledGradients>(),
      base::entry<FaultyWorkers, RandomGradients>(),
  });
  return table;
}

}  // namespace simgrad::cluster
