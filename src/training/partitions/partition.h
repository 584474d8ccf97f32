/// The division of the training rows among the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::training {

/// Where the r-th of P nearly equal stretches of n things starts.
constexpr std::int64_t stretch(std::int64_t n, std::int64_t part, std::int64_t parts) { return n * part / parts; }

/// The rows that each of P ranks owns.
struct DataShards {
  std::vector<std::int64_t> rows;    ///< rank 0's, then rank 1's, ...; empty: as they stand in the data
  std::vector<std::int64_t> starts;  ///< (P + 1): rank r has the places starts[r] .. starts[r + 1] - 1 of `rows`
  bool even =
      true;  ///< all ranks have the same share of a step's batch, to a row; else each in proportion to its shard

  std::int64_t first(int part) const { return starts[static_cast<std::size_t>(part)]; }
  std::int64_t size(int part) const { return starts[static_cast<std::size_t>(part) + 1] - first(part); }
};

/// Rows that come in during the training, at an even rate.
struct Inflow {
  double duration_s = 0.0;  ///< until all are there
  std::int64_t window = 0;  ///< rows that batches are drawn from, the latest; as many are there at the beginning
};

/// The data that a partition depends on.
struct Owned {
  std::int64_t rows = 0;
  std::span<const double> classes;  ///< (rows) class numbers; empty for a regression, and in a timing-only run
  std::uint64_t seed = 1;
  std::span<const double> speeds = {};  ///< speed of each rank's host; empty unless shares go by them
};

class Partition : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Whether no rank owns rows: a step's batch is drawn from all of them, then split evenly.
  virtual bool shared() const { return false; }
  /// The inflow of rows, where a batch is drawn only from the rows that came in last; else nothing.
  virtual std::optional<Inflow> inflow() const { return {}; }
  /// Whether the rows are shuffled by the seed when they are loaded.
  virtual bool shuffled() const { return true; }
  /// Whether the shards depend on the rows' classes, which a regression does not have.
  virtual bool by_class() const { return false; }
  /// Whether even the shards' sizes depend on the classes, which a timing-only run does not read.
  virtual bool sizes_by_class() const { return false; }
  /// Whether a rank's share of a step's batch is in proportion to its shard, whose size is left to chance.
  virtual bool uneven() const { return false; }
  /// Whether a rank's share of a step's batch is in proportion to its speed.
  virtual bool by_speed() const { return false; }
  /// The rows of each of P ranks, P at most their number; each has at least one.
  virtual DataShards shards(const Owned& owned, int parts) const = 0;
};

/// iid, contiguous, by_label, dirichlet, quantity, stream
const base::Registry<Partition>& partitions();

}  // namespace simgrad::training
