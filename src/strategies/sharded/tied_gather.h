/// The all-gather of a head's own parameters and of the embedding that it multiplies by, as one collective.
///
/// Source: DeepSpeed, ZeRO-3, registering external parameters: a parameter that the pass through another module uses is
/// gathered for that module, too.  https://deepspeed.readthedocs.io/en/stable/zero3.html
#pragma once

#include <cstdint>
#include <vector>

#include "values/tensor.h"

namespace simgrad::strategies {

class TiedGather {
 public:
  /// head, embedding: their numbers.  anew: nothing else gathers the embedding, so that each member brings its shard of
  /// it; else the numbers are known from the embedding's own passes, and members bring equal parts of the whole.
  TiedGather(int members, std::int64_t head, std::int64_t embedding, bool anew);

  /// The lengths of what each member brings.
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  /// The numbers that this member brings.  head: its shard.  embedding: its shard where that comes anew, else all of
  /// it.
  values::Tensor brought(int member, const values::Tensor& head, const values::Tensor& embedding) const;
  /// The head's parameters, or the embedding.  all: what the members have brought, one behind the other.
  values::Tensor head(const values::Tensor& all) const { return part(all, true); }
  values::Tensor embedding(const values::Tensor& all) const { return part(all, false); }

 private:
  std::int64_t of_head(std::size_t member) const;
  values::Tensor part(const values::Tensor& all, bool head) const;

  std::int64_t head_;
  bool anew_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace simgrad::strategies
