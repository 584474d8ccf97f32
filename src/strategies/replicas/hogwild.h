/// Hogwild: the cores of one host update one shared memory without locks.
///
/// Source: F. Niu, B. Recht, C. Re, S. J. Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
/// Descent", NIPS 2011, Algorithm 1. Reads and writes of the whole vector are each one moment of virtual time, so that
/// updates are lost to nobody; what is shared is stale instead: a core reads, computes, and adds to what is there by
/// then. Cost per update: t_c + t_update on one of P cores; no network.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Hogwild : Strategy {
  static constexpr base::About about{
      .kind = "hogwild",
      .summary = "the cores of one host update one shared memory without locks; every rank is a core",
      .cost = "P updates in t_c + t_update; no network",
      .source = "F. Niu, B. Recht, C. Re, S. Wright, HOGWILD!: A Lock-Free Approach to Parallelizing SGD, 2011"};

  std::vector<int> hosts(int P) const override { return std::vector<int>(static_cast<std::size_t>(P), 0); }
  bool synchronous() const override { return false; }
  std::optional<training::Holder> holder() const override { return training::Holder::memory; }
  /// With its only host all memory is gone.
  std::vector<cluster::Recovery> recoveries() const override {
    return {cluster::Recovery::restart, cluster::Recovery::wait};
  }
  void operator()(Worker& core) const override;
};

}  // namespace simgrad::strategies
