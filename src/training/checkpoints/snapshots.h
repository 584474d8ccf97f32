/// States that ranks have reported, kept to go on from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "training/state.h"

namespace simgrad::training {

/// The states of the last complete step, and of later ones until they are complete. A step is complete when all ranks
/// that report have reached it.
///
/// Where every rank keeps another one's state beside its own, a state is gone once both memories are.
class Snapshots {
 public:
  using States = std::map<int, State>;  ///< by rank

  /// From now on each rank's state is in another rank's memory, too.  holders: by rank, the rank with its copy.
  void copy_to(std::vector<int> holders) { holders_ = std::move(holders); }

  /// Keeps a rank's state. Returns whether its step is complete with it: `reporters` ranks have reached it. Earlier
  /// steps are dropped then.
  bool keep(int rank, const State& state, int reporters);
  /// Drops steps that are not complete: no rank will reach them any more.
  void settle();
  /// A rank's memory is gone, with its states and with the copies in it.
  void forget(int rank);
  /// A rank has its state of the complete step again, and the copy that it keeps.
  void regain(int rank);
  void clear();

  /// The rank of the complete step's whose memory went last.
  std::optional<int> last_forgotten() const { return last_forgotten_; }

  std::optional<std::int64_t> complete_step() const { return complete_; }
  /// The complete step's states; and whether none of them is gone.
  States& states() { return by_step_.at(*complete_); }
  const States& states() const { return by_step_.at(*complete_); }
  bool whole() const { return complete_ && !forgotten_; }
  /// The rank from whose memory that rank's state of the complete step comes: its own, or that of its copy.
  int memory_of(int rank) const;

 private:
  void drop(std::int64_t step, int rank);

  std::map<std::int64_t, States> by_step_;
  std::vector<int> holders_;                         ///< empty: no copies
  std::map<std::int64_t, std::set<int>> copy_only_;  ///< by step, ranks whose state is in the copy alone
  std::map<std::int64_t, std::set<int>> copyless_;   ///< ranks whose state is in their own memory alone
  std::optional<std::int64_t> complete_;
  bool forgotten_ = false;  ///< a state of the complete step was dropped
  std::optional<int> last_forgotten_;
};

}  // namespace simgrad::training
