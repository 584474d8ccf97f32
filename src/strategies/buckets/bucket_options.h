/// The options of strategies whose buckets travel to servers and back, each by itself.
///
/// Source: Y. Peng et al., "A Generic Communication Scheduler for Distributed DNN Training Acceleration"
/// (ByteScheduler), SOSP 2019 (partitions of tensors, credits).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "strategies/buckets/buckets.h"

namespace simgrad::strategies {

struct BucketOptions {
  std::optional<double> bucket_bytes;
  std::int64_t credits = default_credits;  ///< buckets of a rank that are under way at a time
  bool split_layers = false;

  static constexpr std::int64_t default_credits = 1;

 protected:
  /// meaning: of bucket_size.
  void describe_bucket_options(base::Describer& d, std::string_view meaning);
  /// The reason why there are too many buckets, or nothing.
  std::optional<Refusal> split_refusal(const Circumstances& circumstances) const;
  UnitBuckets buckets_of_units(const training::Learning& learning, const training::Compressor& compressor) const;
};

}  // namespace simgrad::strategies
