#include "collectives/ring.h"

#include "collectives/chunks.h"

namespace simgrad::collectives {

using values::Tensor;

Tensor ring_allreduce(const cluster::Communicator& comm, const Tensor& x) {
  const int P = comm.size();
  const int r = comm.rank();
  if (P == 1) return x;
  const int right = (r + 1) % P;
  const int left = (r + P - 1) % P;
  const auto mod = [P](int i) { return static_cast<std::size_t>(((i % P) + P) % P); };
  std::vector<Tensor> chunk = split(x, P);

  // Reduce-scatter: chunk r - s - 1 arrives in step s, having visited s + 1 ranks already.
  for (int s = 0; s < P - 1; ++s) {
    const Tensor partial = comm.exchange(chunk[mod(r - s)], right, left).tensor;
    comm.charge_reduction(static_cast<double>(partial.size()));
    chunk[mod(r - s - 1)] = partial + chunk[mod(r - s - 1)];
  }
  // All-gather: rank r starts with chunk r + 1 complete.
  for (int s = 0; s < P - 1; ++s) chunk[mod(r - s)] = comm.exchange(chunk[mod(r + 1 - s)], right, left).tensor;
  return values::concatenate(chunk);
}

}  // namespace simgrad::collectives
