#include "strategies/sharded/tied_gather.h"

#include "collectives/ring.h"

namespace simgrad::strategies {

using collectives::ring_shard;
using values::Tensor;

TiedGather::TiedGather(int members, std::int64_t head, std::int64_t embedding, bool anew) : head_(head), anew_(anew) {
  for (int member = 0; member < members; ++member)
    lengths_.push_back(anew ? ring_shard(head, members, member).count + ring_shard(embedding, members, member).count
                            : ring_shard(head + embedding, members, member).count);
}

std::int64_t TiedGather::of_head(std::size_t member) const {
  return ring_shard(head_, static_cast<int>(lengths_.size()), static_cast<int>(member)).count;
}

Tensor TiedGather::brought(int member, const Tensor& head, const Tensor& embedding) const {
  const auto m = static_cast<std::size_t>(member);
  std::int64_t first = 0;
  for (std::size_t before = 0; before < m && !anew_; ++before) first += lengths_[before] - of_head(before);
  const std::vector<Tensor> both{head, values::slice(embedding, first, lengths_[m] - of_head(m))};
  return values::concatenate(both);
}

Tensor TiedGather::part(const Tensor& all, bool head) const {
  std::vector<Tensor> chunks(lengths_.size());  // in the order of the vector
  std::int64_t at = 0;
  for (std::size_t m = 0; m < lengths_.size(); ++m) {
    const std::int64_t head_length = of_head(m);
    chunks[(m + 1) % chunks.size()] =
        head ? values::slice(all, at, head_length) : values::slice(all, at + head_length, lengths_[m] - head_length);
    at += lengths_[m];
  }
  return values::concatenate(chunks);
}

}  // namespace simgrad::strategies
