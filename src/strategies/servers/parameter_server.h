/// Parameter server: workers pull parameters from servers, each of which holds a shard, and push gradients to them.
///
/// Source: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014; asp: J. Dean et
/// al., "Large Scale Distributed Deep Networks" (Downpour SGD), NIPS 2012; ssp: Q. Ho et al., "More Effective
/// Distributed ML via a Stale Synchronous Parallel Parameter Server", NIPS 2013; backup workers: J. Chen et al.,
/// "Revisiting Distributed Synchronous SGD", 2016; K-batch: S. Dutta et al., "Slow and Stale Gradients Can Win the
/// Race", AISTATS 2018; staleness-aware: W. Zhang, S. Gupta, X. Lian, J. Liu, "Staleness-aware Async-SGD for
/// Distributed Deep Learning", IJCAI 2016; delay compensation: S. Zheng et al., "Asynchronous Stochastic Gradient
/// Descent with Delay Compensation", ICML 2017. Cost per step, bsp, P workers, s equal shards on servers of their own:
/// t_c + 2 (alpha + max(1, P/s) M beta) + P M/s gamma + t_update/s; colocated, s = P: t_c + 2 (alpha + (P-1)/P M beta)
/// + M gamma + t_update/P. In buckets: bucketed_store.h.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "strategies/buckets/bucket_options.h"
#include "strategies/compression.h"
#include "strategies/reductions/reduction.h"
#include "strategies/servers/server_choices.h"

namespace simgrad::strategies {

struct Bucketing;
struct BucketTravel;

enum class Consistency {
  bsp,  ///< a step's gradients are all summed before the parameters change
  asp,  ///< every gradient is applied as it comes
  ssp   ///< as it comes, but no worker is more than a bound of clocks ahead of the slowest
};

enum class Placement {
  dedicated,  ///< each server on a host of its own
  colocated   ///< server i on worker i's host, whose NIC and cores they share
};

/// The weight of a worker's part of the gradient when it is applied alone.
enum class Part {
  sum,  ///< 1: the parts of all workers add up to one gradient
  mean  ///< P
};

/// The gradient that a worker computes while its step's update goes by without it (backup workers).
enum class Late {
  finish,  ///< computed to its end, sent, and dropped by the servers; then the worker goes on with the present step
  cancel   ///< given up when the new parameters come: every step draws all its gradients' times anew
};

/// The hosts of P workers and of servers placed so; empty: each on its own.
std::vector<int> hosts_of_servers(Placement placement, int P, int servers);

struct ParameterServer : Strategy, BucketOptions {
  static constexpr base::About about{
      .kind = "parameter_server",
      .summary = "workers pull parameters from servers, each of which holds a shard, and push gradients to them",
      .cost =
          "bsp, s servers: t_c + 2 (alpha + max(1, P/s) M beta) + P M/s gamma + t_update/s a step; colocated, s = P: "
          "2 (alpha + (P-1)/P M beta) for both transfers; asp: no waiting, stale gradients, workers out of phase "
          "(training.desynchronise)",
      .source = "M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014"};

  Consistency consistency = Consistency::bsp;
  std::int64_t shards = 1;
  Placement placement = Placement::dedicated;
  Sharding dealt_by = Sharding::range;
  std::optional<std::int64_t> staleness_bound;
  std::int64_t backup_workers = 0;
  Late when_late = Late::finish;  ///< of backup_workers
  std::optional<std::int64_t> k_batch;
  bool staleness_aware = false;
  double delay_compensation = 0.0;
  Part part = Part::sum;
  Reduce reduce = mean_by_rows();
  Compression compression = no_compression();
  Compression parameter_compression = no_compression();
  Pulls pull = Pulls::by_layer;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

 private:
  static constexpr std::int64_t default_bound = 1;
  std::int64_t bound() const { return staleness_bound.value_or(default_bound); }
  bool cancels() const { return backup_workers > 0 && when_late == Late::cancel; }
  /// Whether new parameters interrupt a gradient.
  bool restarts() const { return cancels() || (consistency == Consistency::bsp && k_batch); }
  bool stale() const { return consistency == Consistency::asp || (consistency == Consistency::ssp && bound() > 0); }
  /// The gradients of an update of P workers: one at least, where crashes have left no more workers than backup ones.
  std::int64_t gradients_reduced(std::int64_t P) const {
    return k_batch.value_or(std::max<std::int64_t>(1, P - backup_workers));
  }
  void refuse_contradictions(base::Describer& d) const;
  void refuse_reductions(base::Describer& d) const;
  void refuse_beside_restarts(base::Describer& d) const;
  void describe_buckets(base::Describer& d);
  UnitBuckets buckets(const training::Learning& learning) const;
  BucketTravel travel() const;
  Bucketing bucketing(const Server& server) const;
  std::function<std::vector<std::int64_t>(const training::Learning&)> dealt_in_buckets() const;
  void work_and_restart(Worker& worker) const;
  void work_in_buckets(Worker& worker) const;
  void serve_bsp_in_buckets(Server& server) const;
  void serve_bsp(Server& server) const;
  void serve_first_of_all(Server& server) const;
  void serve_first(std::int64_t enough, Server& server) const;
  void serve_ssp(Server& server) const;
  void serve_asp(Server& server) const;
};

}  // namespace simgrad::strategies
