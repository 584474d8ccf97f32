/// BytePS: every worker holds a replica; gradients are summed by services on k spare hosts and on the workers' own.
/// Each service's share of the vector makes all network cards equally busy.
///
/// Source: Y. Jiang, Y. Zhu, C. Lan, B. Yi, Y. Cui, C. Guo, "A Unified Architecture for Accelerating Distributed DNN
/// Training in Heterogeneous GPU/CPU Clusters", OSDI 2020. With n workers a spare host sums 2(n-1) / D of the vector
/// and a worker's host (n-k) / D, D = n^2 + k n - 2 k; pushes and pulls at once then take 2 n (n-1) M beta / D. Pushes
/// and pulls overlap as far as the vector is cut in partitions: c of them take (c+1) alpha and, for k = 0, exactly 2
/// (n-1) M beta / n; with spare hosts 1 + 1/c times the optimum, because the first push and the last pull of a spare
/// host overlap with nothing. These times are exact where the ratio of the shares is a ratio of few messages, and
/// approximate elsewhere. In buckets: each is a partition, which is pushed as soon as the backward pass has it, and
/// whose layers the next forward pass updates when it comes to them (bucket_sums.h).
#pragma once

#include <optional>
#include <vector>

#include "strategies/buckets/bucket_options.h"
#include "strategies/compression.h"
#include "strategies/servers/server_choices.h"
#include "strategies/servers/summation_shares.h"

namespace simgrad::strategies {

struct BytePs : Strategy, BucketOptions {
  static constexpr base::About about{
      .kind = "byteps",
      .summary =
          "replicas on the workers; gradients are summed on k spare hosts and on the workers' own, in the best split",
      .cost =
          "t_c + (c+1) alpha + (1 + 1/c) 2 n (n-1) M beta / (n^2 + k n - 2 k) + t_update a step, with k = 0 without "
          "the "
          "1/c; the summing takes at most M gamma; shares travel in a ratio of messages, rounded to at most 8 a "
          "service, 3 with more than 32 services, where that takes up to a sixth more",
      .source = "Y. Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training, 2020"};

  std::int64_t spare_hosts = 0;
  static constexpr std::int64_t default_partitions = 8;
  std::int64_t partitions = default_partitions;
  Compression compression = no_compression();
  Compression answer_compression = no_compression();
  Pulls pull = Pulls::by_layer;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& service) const override;

 private:
  /// The partitions, which are pushed and answered one after the other.
  std::vector<SummedPiece> pieces(const training::Learning& learning) const;
  /// Whether the next forward pass waits for each bucket by itself.
  bool by_layer() const { return bucket_bytes && pull == Pulls::by_layer; }
  UnitBuckets buckets(const training::Learning& learning) const;
};

}  // namespace simgrad::strategies
