/// Dynamic loss scales: float16 gradients are computed 2^e times as large, so that small ones are not rounded to zero.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace simgrad::training {

/// The scales of the ranks. A gradient that has overflowed is not applied, and the scale is halved; after 2000 updates
/// without an overflow it is doubled. Where servers hold the state, all ranks have one scale.
/// Source: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018; numbers as in torch.cuda.amp.GradScaler.
class LossScales {
 public:
  /// own: whether every rank has a scale of its own.
  explicit LossScales(bool own) : own_(own) {}

  /// e of the gradient that the rank computes next.
  int exponent(int rank) const;
  /// The rank has a summed gradient whose numbers are finite, or are not. Returns whether to apply it.
  bool applies(int rank, bool finite);
  /// A sentence about updates that were left out, or empty.
  std::string note() const;

 private:
  struct Scale {
    int exponent = 16;
    int clean = 0;  ///< updates since the latest change
  };
  int key(int rank) const { return own_ ? rank : 0; }

  bool own_;
  std::map<int, Scale> scales_;  ///< of the ranks that have applied a gradient
  std::int64_t skipped_ = 0;
};

}  // namespace simgrad::training
