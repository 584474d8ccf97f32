/// Reading rows from a storage before computing on them: each batch, with prefetching, or all of a worker's once.
///
/// Source: D. G. Murray, J. Simsa, A. Klimovic, I. Indyk, "tf.data: A Machine Learning Data Processing Framework", VLDB
/// 2021 (prefetching).
/// Cost per step with r seconds of reading and t seconds of everything else: r + t without prefetching; max(r, t) with
/// it, once the pipeline is full. Rows that stay in memory: row_source.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/describe.h"
#include "cluster/ranks/side_stream.h"
#include "training/learning/batches.h"
#include "training/learning/row_source.h"

namespace simgrad::cluster {
class Inbox;
}

namespace simgrad::training {

enum class InputFrom { memory, local, shared };

/// The section [training.input].
struct InputOptions : base::Described {
  InputFrom from = InputFrom::memory;
  std::optional<double> bytes_per_sample;  ///< none: 8 a feature
  std::optional<double> bandwidth_bytes_per_s;
  std::optional<double> latency_s;       ///< none: 0
  std::optional<std::int64_t> prefetch;  ///< none: 1
  bool cache = false;                    ///< rows stay in memory once they are read
  double flops_per_sample = 0.0;

  void describe(base::Describer& d) override;

  /// row_bytes: bytes of a row where the options give none.
  RowSource::Terms terms(std::int64_t row_bytes) const;
};

/// Reads one worker's rows.
class InputPipeline {
 public:
  /// source: null where rows take no time.
  InputPipeline(const cluster::Communicator& comm, RowSource* source, const Batches& batches);

  /// Blocks until the rows have been read; where rows are cached, until all rows of their part are in memory. Blocked
  /// time counts as communicating. Returns the flops that what was read then takes.
  double next(const RowsToRead& rows);
  /// As next(), but gives up when a message comes in or is there already; nothing then. A batch that is read ahead is
  /// never given up.
  std::optional<double> next_unless(cluster::Inbox& news, const RowsToRead& rows);
  /// The rows that were read last are in memory from now on.
  void keep(const RowsToRead& rows);

 private:
  struct Amount {
    std::int64_t bytes = 0;
    double flops = 0.0;
  };
  std::optional<Amount> to_read(const RowsToRead& rows);
  /// The number of a part in the rank's memory: of its own part, one number, whatever its place among the ranks.
  static int key(const RowsToRead& rows) { return rows.is_split ? rows.part : 0; }
  std::int64_t of_part(const RowsToRead& rows) const { return batches_.rows_of(rows.part, rows.parts); }
  CachedRows& cached() { return source_->cached_by(comm_.world_rank(comm_.rank())); }

  const cluster::Communicator& comm_;
  RowSource* source_;
  const Batches& batches_;
  std::optional<cluster::SideStream> beside_;
  std::int64_t ahead_ = 0;  ///< batches being read
  int asked_ = 0;
};

}  // namespace simgrad::training
