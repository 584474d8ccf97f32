// The memory of shards by formula, against sums of what is in memory at one moment of a step after the other.
#include "training/memory/formula.h"

#include "catch.h"

namespace formula_test {

using namespace simgrad::training;
using simgrad::record::MemoryPart;
using simgrad::record::MemoryParts;

namespace {

constexpr double bytes = 8.0;  // of every number

/// A unit of a model, a layer: its parameters, and the numbers of a row that it keeps.
struct Unit {
  std::int64_t parameters;
  double kept;
};

/// 6 rows a worker and step, and Adam's two vectors.
MemoryTerms terms_of(const std::vector<Unit>& units, std::int64_t workers) {
  MemoryTerms terms{.layers = {}, .bytes = {}, .workers = workers, .rows = 6, .optimizer_vectors = 2};
  std::int64_t first = 0;
  for (const Unit& unit : units) {
    terms.layers.push_back({.first = first,
                            .count = unit.parameters,
                            .unit = static_cast<std::int64_t>(terms.layers.size()),
                            .kept = {.numbers = unit.kept}});
    first += unit.parameters;
  }
  return terms;
}

/// Three micro-batches of two rows, which are reduced together, and one unit gathered at a time.
constexpr ShardMemory in_thirds(std::int64_t group) {
  return {.micro_batches = 3, .no_sync = true, .group = group, .limit = 1};
}

/// At the backward pass through the first unit, which is by far the largest, all activations but its own are gone.
const std::vector<Unit> wide_entrance{{400, 10.0}, {80, 10.0}, {40, 10.0}};
constexpr double N = 400 + 80 + 40, kept_at_entrance = 2 * 10;

}  // namespace

// Under no_sync each worker adds up whole gradients (PyTorch, FullyShardedDataParallel.no_sync), and the last
// micro-batch sums them unit by unit. A unit's gradient goes when the next one is complete, which waits for the sum.
TEST_CASE("every micro-batch but the last that is not summed holds the gradients of all parameters") {
  const MemoryParts parts = shard_memory(terms_of(wide_entrance, 4), in_thirds(4));
  // An earlier micro-batch holds N. The last one holds N - 40 and the shards of 120 at the same place: 510, less.
  CHECK(parts[MemoryPart::gradients] == bytes * N);
  CHECK(parts.sum() == bytes * (N / 4 + 2 * N / 4 + 400 + kept_at_entrance + N));
}

TEST_CASE("the last micro-batch holds the shards of what it has summed beside what is not summed") {
  const MemoryParts parts = shard_memory(terms_of(wide_entrance, 2), in_thirds(2));
  // The 40 of the last unit are summed, and the 80 before them are being summed: shards of both, and N - 40.
  CHECK(parts[MemoryPart::gradients] == bytes * (120 / 2 + N - 40));
  CHECK(parts.sum() == bytes * (N / 2 + 2 * N / 2 + 400 + kept_at_entrance + 120 / 2 + N - 40));
}

TEST_CASE("gradients that are not summed are in memory with the most activations, at the end of the model") {
  // 3 units' activations outweigh the first unit's parameters.
  const std::vector<Unit> deep{{400, 100.0}, {80, 100.0}, {40, 100.0}};
  for (const std::int64_t workers : {2, 4}) {
    CAPTURE(workers);
    const double shard = N / static_cast<double>(workers);
    CHECK(shard_memory(terms_of(deep, workers), in_thirds(workers)).sum() ==
          bytes * (3 * shard + 40 + 3 * 2 * 100 + N));
  }
}

TEST_CASE("a worker that has all parameters sums its gradients in place") {
  const MemoryParts parts = shard_memory(terms_of(wide_entrance, 4), in_thirds(1));
  CHECK(parts[MemoryPart::gathered] == 0.0);
  CHECK(parts.sum() == bytes * (3 * N + 3 * kept_at_entrance + N));
}

}  // namespace formula_test
