#include "training/program.h"

#include <algorithm>
#include <numeric>

namespace simgrad::training {

std::vector<int> Program::places(int P) const {
  if (hosts) return hosts(P);
  std::vector<int> own(static_cast<std::size_t>(P + servers));
  std::iota(own.begin(), own.end(), 0);
  return own;
}

int Program::hosts_needed(int P) const {
  const std::vector<int> all = places(P);
  return 1 + *std::max_element(all.begin(), all.end());
}

}  // namespace simgrad::training
