/// Hogwild: the cores of one host update one shared memory without locks.
///
/// Source: F. Niu, B. Recht, C. Re, S. J. Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
/// Descent", NIPS 2011, Algorithm 1. A read or a write of the whole vector is one moment of virtual time, so that no
/// update is lost. Gradients are stale instead: a core reads, computes, and adds to the numbers that are there by then.
/// Cost per update: t_c + t_update on one of P cores; no network.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Hogwild : Strategy {
  static constexpr base::About about{
      .kind = "hogwild",
      .summary = "the cores of one host update one shared memory without locks; every rank is a core",
      .cost = "P updates in t_c + t_update; no network",
      .source = "F. Niu, B. Recht, C. Re, S. Wright, HOGWILD!: A Lock-Free Approach to Parallelizing SGD, 2011"};

  Traits traits(int P) const override;
  void operator()(Worker& core) const override;
};

}  // namespace simgrad::strategies
