/// Hogwild: the cores of one host update one shared memory without locks.
///
/// Source: F. Niu, B. Recht, C. Re, S. J. Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
/// Descent", NIPS 2011, Algorithm 1. A read or a write of the whole vector is one moment of virtual time, so that no
/// update is lost. Gradients are stale instead: a core reads, computes, and adds to the numbers that are there by then.
/// Cost per update: t_c + t_update on one of P cores; no network.
///
/// With a sparse model (and sgd or adagrad, and no l2) a core reads, and changes, only the parameters of the keys in
/// its batch, as in the source: t_update is the optimizer's flops on those. The numbers are the dense ones, because a
/// parameter without a gradient stays as it is. Momentum, adam and l2 move all parameters at every update, and pay for
/// that; so does a run without numbers, which has no keys.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

struct Hogwild : Strategy {
  static constexpr base::About about{
      .kind = "hogwild",
      .summary = "the cores of one host update one shared memory without locks; every rank is a core",
      .cost = "P updates in t_c + t_update; no network; with a sparse model t_update is of the batch's keys alone",
      .source = "F. Niu, B. Recht, C. Re, S. Wright, HOGWILD!: A Lock-Free Approach to Parallelizing SGD, 2011"};

  Traits traits(int P) const override;
  void operator()(Worker& core) const override;

 private:
  void update_rows(Worker& core) const;
};

}  // namespace simgrad::strategies
