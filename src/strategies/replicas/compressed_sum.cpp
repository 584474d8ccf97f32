#include "strategies/replicas/compressed_sum.h"

#include <utility>

#include "collectives/ring.h"

namespace simgrad::strategies {

using cluster::Communicator;
using values::Tensor;

Tensor CompressedSum::operator()(const Communicator& comm, Tensor x, std::int64_t first) {
  const training::Compressor& compressor = encoder_.compressor();
  if (compressor.exact() || comm.size() == 1) return algorithm_(comm, std::move(x));
  if (compressor.sums())
    return encoder_.sum(comm, x, first, [&](const Tensor& codes) { return algorithm_(comm, codes); });
  const std::int64_t n = x.size();
  const std::int64_t P = comm.size();
  const Tensor code = encoder_(comm, x, first);
  const Tensor sum = collectives::gathered_sum(comm, code);
  encoder_.charge_decoding(comm, n, P, first);
  comm.charge_reduction(static_cast<double>(P - 1) * encoder_.add_flops(n, first));
  return compressor.concluded(sum);
}

}  // namespace simgrad::strategies
