/// A vector of which a member holds parts.
#pragma once

#include <cstdint>
#include <map>

#include "collectives/lengths.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// Each part as it was brought, received or combined. Lengths alone where only the length of a tensor is seen.
class Parts {
 public:
  /// length: of the whole vector.
  Parts(const Stretch& stretch, values::Tensor x, std::int64_t length);

  /// All of the stretch, which the member holds.
  values::Tensor take(const Stretch& wanted);
  void put(const Stretch& place, values::Tensor x);
  /// Whether there are lengths alone, so that nothing needs to be put.
  bool are_lengths() const { return static_cast<bool>(length_alone_); }

 private:
  /// Makes a part begin at `first`, if one lies across it.
  void cut(std::int64_t first);

  values::Tensor length_alone_;  ///< none: there are numbers, or their lineage
  Stretches stretches_;
  std::map<std::int64_t, values::Tensor> parts_;  ///< by first element
  values::Tensor empty_;                          ///< for stretches of no length
};

}  // namespace simgrad::collectives
