/// Torus: hosts in a grid of any number of dimensions, each joined to two neighbours in every dimension.
#pragma once

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Links: torus-i, each with cluster.bandwidth each way and cluster.latency. Host i is at i = x + k_x (y + k_y (z +
/// ...)). A message goes through the dimensions in order, in each the shorter way round. A slice is a box of a torus:
/// its hosts are the cluster's, and a dimension is closed to a ring only if the slice spans the whole of it. Elsewhere
/// the slice ends, and messages within it take the direct way, as in slices of a TPU pod.
struct Torus : Wired {
  static constexpr base::About about{
      .kind = "torus",
      .summary = "hosts in a wrapped grid, joined to two neighbours in every dimension",
      .cost =
          "hops x latency + bytes / bandwidth; bisection bandwidth 2 (hosts / k) bandwidth, k the longest dimension "
          "(even, above 2)",
      .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004"};

  std::vector<double> shape;  ///< hosts in each dimension; empty: a square just large enough
  std::vector<double> slice;  ///< of these, those of the cluster, in each dimension; empty: all

  void describe(base::Describer& d) override;
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  std::string workers_refusal(std::int64_t workers) const override;
  std::string unfilled(int hosts, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t hosts) const override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;

 private:
  /// A dimension of the hosts there are.
  struct Side {
    int size = 1;
    bool closed = true;  ///< to a ring
  };
  std::vector<Side> sides(std::int64_t hosts) const;
};

}  // namespace simgrad::cluster
