/// Reading a batch's rows from a storage before computing on them, with prefetching.
///
/// Source: D. G. Murray, J. Simsa, A. Klimovic, I. Indyk, "tf.data: A Machine Learning Data Processing Framework", VLDB
/// 2021 (prefetching).
/// Cost per step with r seconds of reading and t seconds of everything else: r + t without prefetching; max(r, t) with
/// it, once the pipeline is full.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/describe.h"
#include "cluster/ranks/side_stream.h"
#include "cluster/ranks/storage.h"

namespace simgrad::training {

enum class InputFrom { memory, local, shared };

/// The section [training.input].
struct InputOptions : base::Described {
  InputFrom from = InputFrom::memory;
  std::optional<double> bytes_per_sample;  ///< none: 8 a feature
  std::optional<double> bandwidth_bytes_per_s;
  std::optional<double> latency_s;       ///< none: 0
  std::optional<std::int64_t> prefetch;  ///< none: 1

  void describe(base::Describer& d) override;
};

/// Reads one worker's batches.
class InputPipeline {
 public:
  /// storage: null where rows are in memory.  row_bytes: bytes of a row where the options give none.
  InputPipeline(const cluster::Communicator& comm, const InputOptions& options, const cluster::Storage* storage,
                std::int64_t row_bytes);

  /// Blocks until so many more rows have been read, or that share of each. Blocked time counts as communicating.
  void next(std::int64_t rows, double share_of_row = 1.0);

 private:
  const cluster::Communicator& comm_;
  const cluster::Storage* storage_;
  double bytes_per_row_;
  std::int64_t prefetch_;
  std::optional<cluster::SideStream> beside_;
  std::int64_t ahead_ = 0;  ///< batches being read
  int asked_ = 0;
};

}  // namespace simgrad::training
