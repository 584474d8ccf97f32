/// States that ranks have reported, kept to go on from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "training/state.h"

namespace simgrad::training {

/// Of the last step that everybody who reports has reached, and of later ones until they are complete.
class Snapshots {
 public:
  using States = std::map<int, State>;  ///< by rank

  /// Whether the step is complete with it: `reporters` ranks have reached it. Earlier steps are dropped then.
  bool keep(int rank, const State& state, int reporters);
  /// Steps that are not complete are dropped: nobody will reach them any more.
  void settle();
  /// The rank's memory is gone.
  void forget(int rank);
  void clear();

  std::optional<std::int64_t> complete_step() const { return complete_; }
  /// Of the complete step; whether nobody's is gone.
  States& states() { return by_step_.at(*complete_); }
  const States& states() const { return by_step_.at(*complete_); }
  bool whole() const { return complete_ && !forgotten_; }

 private:
  std::map<std::int64_t, States> by_step_;
  std::optional<std::int64_t> complete_;
  bool forgotten_ = false;  ///< a state of the complete step
};

}  // namespace simgrad::training
