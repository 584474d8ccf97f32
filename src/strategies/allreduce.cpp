#include "strategies/allreduce.h"

#include <array>

#include "collectives/ring.h"

namespace simgrad::strategies {

namespace {

constexpr std::array algorithms{
    base::Choice{"ring", "reduce-scatter and all-gather around a ring: least bytes, P-dependent latency"}};

}  // namespace

void Allreduce::describe(base::Describer& d) {
  d.choice("algorithm", algorithm, algorithms, "how the sum is made");
}

void Allreduce::operator()(Worker& worker) const {
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = worker.gradient(state.w);
    worker.update(state, collectives::ring_allreduce(worker.comm(), g));
  }
}

}  // namespace simgrad::strategies
