/// The parts of a vector that BytePS' services sum.
#pragma once

#include <cstdint>
#include <vector>

namespace simgrad::strategies {

/// A contiguous piece of the vector.
struct SummedPiece {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Cuts a piece into pieces whose lengths differ by at most one.
std::vector<SummedPiece> cut(const SummedPiece& whole, std::int64_t pieces);

/// A service's part of every partition: the numbers from `first` on, which travel as so many messages. Fair sharing
/// gives every message the same rate, so that shares of different sizes travel in numbers of messages to match.
struct SummationShare {
  std::int64_t first = 0;
  std::int64_t count = 0;
  int messages = 0;
};

/// The shares of n services on the workers' hosts, then of k on spare ones.
std::vector<SummationShare> summation_shares(int n, int k, std::int64_t numbers);

/// The messages that carry a service's share of a partition.
std::vector<SummedPiece> messages_of(const SummedPiece& partition, const SummationShare& share);

}  // namespace simgrad::strategies
