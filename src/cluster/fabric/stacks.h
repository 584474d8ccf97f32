/// The stacks of actors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace simgrad::cluster {

/// Stacks of so many ranks have guard pages, which end the process at an overflow. A stack then takes two of the 65,530
/// memory maps that Linux allows a process (vm.max_map_count), and a rank may have a few actors.
inline constexpr int guarded_ranks_most = 8'000;

/// The most actors of a simulation of that many hosts.
constexpr std::size_t actors_most(int hosts) { return hosts <= guarded_ranks_most ? 32'000 : 400'000; }

/// SimGrid's flags of stacks for that many ranks. Beyond guarded_ranks_most this changes how the process allocates
/// memory: each stack is a mapping of its own, of which only pages that are touched exist.
std::vector<std::string> stack_flags(int ranks);

}  // namespace simgrad::cluster
