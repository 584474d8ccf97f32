/// MapReduce: reducers broadcast the parameters, every worker maps its rows to the sum of their gradients (the
/// combiner), the reducers reduce the sums and update.
///
/// Source: C.-T. Chu et al., "Map-Reduce for Machine Learning on Multicore", NIPS 2006 (k-means, too); J. Dean,
/// S. Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004; in memory: M. Zaharia et al.,
/// "Resilient Distributed Datasets", NSDI 2012.
/// Cost per step, one reducer, a split a worker: t_c + 2 alpha + 2 P M beta + P M gamma + t_update; its NIC carries
/// everything. Another broadcast: its own cost, with P + 1 members, for alpha + P M beta. r reducers: max(M, P M / r)
/// beta for P M beta, P M gamma / r. Without the combiner a worker sends (its rows) M, and the reducer adds as many.
/// Splits: mapreduce_splits.cpp. Disks: storage.h. With recovery = "continue" the one reducer knows which results have
/// come, and deals the splits that are lost to the others, one by one.
#pragma once

#include "collectives/broadcast.h"
#include "strategies/buckets/bucket_options.h"
#include "strategies/compression.h"
#include "strategies/job.h"
#include "strategies/mapreduce/storage.h"
#include "strategies/reductions/reduction.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

class SplitOrders;

struct MapReduce : Strategy, BucketOptions {
  static constexpr base::About about{
      .kind = "mapreduce",
      .summary = "reducers broadcast the parameters, workers map their rows to gradient sums, the reducers reduce them",
      .cost =
          "one reducer: t_c + 2 alpha + 2 P M beta + P M gamma + t_update a step; r reducers: max(M, P M / r) for P M",
      .source = "C.-T. Chu et al., Map-Reduce for Machine Learning on Multicore, 2006"};

  Job job = Job::gradient;
  base::Slot<collectives::Broadcast> broadcast{collectives::broadcasts(), "flat"};
  bool combiner = true;
  std::int64_t reducers = 1;
  std::int64_t splits = 1;  ///< a worker
  bool speculative = false;
  std::optional<double> slow_factor;  ///< default 1.5
  Reduce reduce = mean_by_rows();
  base::Slot<IntermediateStorage> storage{storages(), "memory"};
  Compression compression = no_compression();
  Compression parameter_compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;
  std::shared_ptr<const Strategy> alone() const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

 private:
  // Splits (mapreduce_splits.cpp).
  void map_splits(Worker& worker) const;
  // Buckets (mapreduce_buckets.cpp).
  void describe_buckets(base::Describer& d);
  void refuse_hosts_first(base::Describer& d) const;
  void describe_reductions(base::Describer& d);
  void map_in_buckets(Worker& worker) const;
  void reduce_in_buckets(Server& server) const;
  std::function<std::vector<std::int64_t>(const training::Learning&)> dealt_in_buckets() const;
  UnitBuckets buckets(const training::Learning& learning) const;
  void reduce_splits(Server& server) const;
  bool deals_splits(const training::Participant& self) const;
  /// The flops of mapping a split.
  double split_flops(const Worker& worker, std::int64_t step, int split, int all) const;
  /// Reads a split of so many rows, maps it and writes its sum. Returns whether it finished before the next round.
  bool map_split(const Worker& worker, SplitOrders& master, int split, int all, std::int64_t rows) const;
  double map_flops(const training::Learning& learning, int split, int all) const;
  Tensor mapped(const Worker& worker, const Tensor& w, std::int64_t step, int split, int all) const;
  std::int64_t sum_size(const training::Learning& learning) const;

  /// Blocks until every reducer's stretch of the parameters is there.
  Tensor parameters(Worker& worker, const training::Encoder& code) const;
  /// Bytes of a number that is sent.
  static std::int64_t number_bytes(const training::Learning& learning);
  /// The numbers that travel to a reducer of `size` parameters or sums for so many rows: one sum, or every row's own.
  std::int64_t numbers_sent(const training::Learning& learning, std::int64_t size, std::int64_t rows) const;
  /// Each reducer's stretch of a worker's sum over so many rows, encoded; without a combiner with the bytes of the
  /// rows.
  std::vector<cluster::Packet> sliced(const Worker& worker, training::Encoder& code, const Tensor& x,
                                      std::int64_t rows) const;
  /// The update with the reduction of so many codes.  Virtual time: decoding, the disk's, the additions that a combiner
  /// would have saved, the update.
  void finish_round(Server& server, State& state, const Tensor& codes_sum, const training::Encoder& code,
                    std::int64_t sums) const;
  /// Reads or writes so many bytes of sums or parameters, where these are on disk.
  void use_disk(const training::Participant& self, std::int64_t bytes) const;
};

}  // namespace simgrad::strategies
