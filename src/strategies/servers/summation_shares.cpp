#include "strategies/servers/summation_shares.h"

#include <algorithm>
#include <numeric>

namespace simgrad::strategies {

namespace {

/// The most messages to one of so many services; beyond it the ratio is rounded. Every worker sends to every service:
/// fewer messages, the more services there are.
std::int64_t most_messages(std::int64_t services) { return std::clamp<std::int64_t>(128 / services, 3, 8); }

}  // namespace

std::vector<SummedPiece> cut(const SummedPiece& whole, std::int64_t pieces) {
  std::vector<SummedPiece> all;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t first = whole.count * i / pieces;
    all.push_back({whole.first + first, whole.count * (i + 1) / pieces - first});
  }
  return all;
}

std::vector<SummedPiece> messages_of(const SummedPiece& partition, const SummationShare& share) {
  if (share.messages == 0) return {};
  return cut({partition.first + share.first, share.count}, share.messages);
}

std::vector<SummationShare> summation_shares(int n, int k, std::int64_t numbers) {
  // Weights of a worker's host and of a spare one. With n spare hosts or more these do everything.
  std::int64_t own = std::max(0, n - k);
  std::int64_t spare = 2 * (n - 1);
  if (n == 1) own = 1;  // nothing travels
  const std::int64_t all = n * own + k * spare;
  if (k == 0) spare = own;  // there is no ratio to keep
  std::int64_t factor = std::max<std::int64_t>(1, std::gcd(own, spare));
  const std::int64_t larger = std::max(own, spare);
  const std::int64_t most = most_messages(n + k);
  if (larger > most * factor) factor = (larger + most - 1) / most;
  const auto messages = [&](std::int64_t weight) {
    return weight == 0 ? 0 : static_cast<int>(std::max<std::int64_t>(1, (weight + factor / 2) / factor));
  };
  std::vector<SummationShare> shares;
  std::int64_t before = 0;
  for (int j = 0; j < n + k; ++j) {
    const std::int64_t weight = j < n ? own : spare;
    const std::int64_t first = numbers * before / all;
    before += weight;
    shares.push_back({first, numbers * before / all - first, messages(weight)});
  }
  return shares;
}

}  // namespace simgrad::strategies
