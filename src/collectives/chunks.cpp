#include "collectives/chunks.h"

namespace simgrad::collectives {

std::vector<values::Tensor> split(const values::Tensor& x, int P) {
  const std::int64_t least = x.size() / P;
  const std::int64_t longer = x.size() % P;
  std::vector<values::Tensor> chunks;
  chunks.reserve(static_cast<std::size_t>(P));
  for (std::int64_t first = 0; static_cast<int>(chunks.size()) < P; first += chunks.back().size())
    chunks.push_back(values::slice(x, first, least + (static_cast<int>(chunks.size()) < longer ? 1 : 0)));
  return chunks;
}

}  // namespace simgrad::collectives
