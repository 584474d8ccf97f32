#include "cluster/fabric/stacks.h"

#include <malloc.h>
#include <sys/prctl.h>

#include <limits>

namespace simgrad::cluster {

std::vector<std::string> stack_flags(int ranks, std::int64_t side_actors) {
  // Stacks are only reserved, not touched: an actor costs the pages it uses. Some are
  // needed when numbers are computed in the actor.
  std::vector<std::string> flags{"--cfg=contexts/stack-size:512"};
  if (guarded(ranks, side_actors)) return flags;
  flags.emplace_back("--cfg=contexts/guard-size:0");
  // Without guard pages SimGrid allocates stacks by calloc, which touches what does not come as a mapping.
  mallopt(M_MMAP_THRESHOLD, 500 << 10);
  mallopt(M_MMAP_MAX, std::numeric_limits<int>::max());
  // Mappings side by side are one to Linux, and a huge page would make four stacks resident.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  return flags;
}

}  // namespace simgrad::cluster
