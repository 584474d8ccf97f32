/// States that ranks have reported, kept to go on from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "training/state.h"

namespace simgrad::training {

/// The states of the last complete step, and of later ones until they are complete. A step is complete when all ranks
/// that report have reached it.
class Snapshots {
 public:
  using States = std::map<int, State>;  ///< by rank

  /// Keeps a rank's state. Returns whether its step is complete with it: `reporters` ranks have reached it. Earlier
  /// steps are dropped then.
  bool keep(int rank, const State& state, int reporters);
  /// Drops steps that are not complete: no rank will reach them any more.
  void settle();
  /// Drops a rank's states: its memory is gone.
  void forget(int rank);
  void clear();

  /// The rank of the complete step's whose memory went last.
  std::optional<int> last_forgotten() const { return last_forgotten_; }

  std::optional<std::int64_t> complete_step() const { return complete_; }
  /// The complete step's states; and whether none of them is gone.
  States& states() { return by_step_.at(*complete_); }
  const States& states() const { return by_step_.at(*complete_); }
  bool whole() const { return complete_ && !forgotten_; }

 private:
  std::map<std::int64_t, States> by_step_;
  std::optional<std::int64_t> complete_;
  bool forgotten_ = false;  ///< a state of the complete step was dropped
  std::optional<int> last_forgotten_;
};

}  // namespace simgrad::training
