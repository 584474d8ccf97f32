/// The stacks of actors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgrad::cluster {

/// The most actors whose stacks have guard pages, which end the process at an overflow. A stack then takes two of the
/// 65,530 memory maps that Linux allows a process (vm.max_map_count).
inline constexpr std::int64_t guarded_actors_most = 32'000;
/// Whether stacks have guard pages.  side_actors: beside a few for each rank.
constexpr bool guarded(int ranks, std::int64_t side_actors) { return 4LL * ranks + side_actors <= guarded_actors_most; }

/// SimGrid's flags of stacks. Where they have no guard pages this changes how the process allocates memory: each stack
/// is a mapping of its own, of which only pages that are touched exist.
std::vector<std::string> stack_flags(int ranks, std::int64_t side_actors);

}  // namespace simgrad::cluster
