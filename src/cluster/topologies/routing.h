/// The choice of one way among several that are equally short.
#pragma once

#include <array>
#include <cstdint>

#include "base/describe.h"

namespace simgrad::cluster {

/// Sources: E. Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees",
/// CCIT Report 776, Technion, 2010; C. Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, 2000.
enum class Routing {
  destination,  ///< by the receiver's number: different receivers take different ways
  ecmp          ///< by a hash of the pair, as switches do: two pairs may meet by chance
};

inline constexpr std::array routings{
    base::Choice{"destination", "by the receiver's number, so that flows to different receivers keep apart (D-mod-K)"},
    base::Choice{"ecmp",
                 "by a hash of sender and receiver (equal-cost multi-path), so that some flows meet by chance"}};

/// The hash of a pair of hosts, equal on every machine: the output function of SplitMix64 (G. Steele et al., "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014) at 2^32 sender + receiver + 1 steps from 0.
constexpr std::uint64_t hash_of_pair(int from, int to) {
  std::uint64_t z = static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint32_t>(to);
  z = (z + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// One of `ways`, counted from 0.  destined: the number by which `destination` chooses.
constexpr int way_of(Routing routing, int from, int to, int destined, int ways) {
  if (routing == Routing::destination) return destined % ways;
  return static_cast<int>(hash_of_pair(from, to) % static_cast<std::uint64_t>(ways));
}

}  // namespace simgrad::cluster
