#include "cluster/stragglers/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simgrad::cluster {

bool Stragglers::concerns(int worker) const {
  return ranks.empty() || std::ranges::find(ranks, static_cast<double>(worker)) != ranks.end();
}

std::string Stragglers::refusal(std::int64_t workers) const {
  for (const double rank : ranks)
    if (rank >= static_cast<double>(workers))
      return fmt::format("ranks holds {}, but the workers are ranks 0 to {}", rank, workers - 1);
  return {};
}

void Stragglers::describe_ranks(base::Describer& d) {
  d.numbers("ranks", ranks, "the ranks of the workers that are slow; default: all", base::Bounds::at_least(0));
  for (const double rank : ranks)
    if (rank != std::floor(rank)) {
      d.refuse("ranks", fmt::format("{} is no rank; expected whole numbers from 0 on", rank));
      break;
    }
}

}  // namespace simgrad::cluster
