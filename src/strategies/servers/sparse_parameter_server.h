/// Sparse parameter server: only a batch's keys of a sparse model travel, and their gradients go back to the servers
/// that hold them.
///
/// A worker finds the distinct keys of its next batch, asks their servers for them (4 bytes a key), is answered with
/// their numbers, and pushes keys and gradients; the request for the next batch rides on that push. So a step takes a
/// message to and one from each server, however many keys there are. Dense parameters are dealt to the servers, or
/// (dense = "allreduce") replicated on the workers and all-reduced, on request with the rows of the hottest keys, while
/// the servers apply the other keys' gradients as consistency says.
///
/// Source: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014 (sparse pushes and
/// pulls by key); S. Kim et al., "Parallax: Sparsity-aware Data Parallel Training of Deep Neural Networks", EuroSys
/// 2019, and X. Lian et al., "Persia: An Open, Hybrid System Scaling Deep Learning-based Recommenders up to 100
/// Trillion Parameters", KDD 2022 (dense parameters all-reduced, embeddings on servers); A. Renz-Wieland et al., "NuPS:
/// A Parameter Server for Machine Learning with Non-Uniform Parameter Access", SIGMOD 2022 (hot keys replicated, the
/// others not). Cost per step, u distinct keys of w numbers, P workers, one server: t_c + 2 alpha + P u (4 + 4 + 8 w +
/// 8 w) beta + updates.
#pragma once

#include "strategies/servers/parameter_server.h"
#include "values/wire_format.h"

namespace simgrad::training {
struct SparseOptions;
}

namespace simgrad::strategies {

enum class DenseOn {
  servers,   ///< dealt to them in equal stretches, which are pulled and pushed whole
  allreduce  ///< replicas on the workers
};

struct SparseParameterServer : Strategy {
  static constexpr base::About about{
      .kind = "sparse_parameter_server",
      .summary =
          "only a batch's keys of a sparse model travel: pulled from the servers that hold them, pushed back as "
          "gradients",
      .cost =
          "bsp, one server, u distinct keys of w numbers a worker: t_c + 2 alpha + P u (8 + 16 w) beta + updates a "
          "step",
      .source = "M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014"};

  Consistency consistency = Consistency::bsp;
  std::int64_t shards = 1;
  Placement placement = Placement::dedicated;
  Sharding dealt_by = Sharding::range;
  std::optional<std::int64_t> staleness_bound;
  std::int64_t cache_bound = 0;
  DenseOn dense = DenseOn::servers;
  std::int64_t hot_keys = 0;
  values::Format values = values::Format::float64;
  Part part = Part::sum;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

  training::SparseOptions learning_options() const;
  bool stale() const { return consistency == Consistency::asp || (consistency == Consistency::ssp && bound() > 0); }

 private:
  static constexpr std::int64_t default_bound = 1;
  std::int64_t bound() const { return staleness_bound.value_or(default_bound); }
  void refuse_contradictions(base::Describer& d) const;
  void serve_bsp(Server& server) const;
  void serve_stale(Server& server) const;
};

}  // namespace simgrad::strategies
