/// Durations of collectives, beside their durations on an idle network.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/by_rank.h"
#include "record/record.h"

namespace simgrad::cluster {

class CollectiveCalls;

/// The collectives of a world. A call that is broken off, by a failure or by the end of the training, does not count.
class CollectiveLog {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;
  /// The time of one call on an idle network when all members call at once, in seconds.
  using Prediction = std::function<double()>;

  /// Finds the calls, or makes them; only a new entry asks for the prediction.  name: the algorithm.  bytes: of one
  /// member's input.
  CollectiveCalls& calls(const Members& members, int generation, std::string_view name, std::int64_t bytes,
                         const Prediction& prediction);

  /// Sums over groups of equal size.
  std::vector<record::CollectiveUse> uses() const;

 private:
  using Key = std::tuple<int, std::string, std::int64_t>;  ///< generation, name, bytes
  std::map<std::pair<Key, std::vector<int>>, std::shared_ptr<CollectiveCalls>> all_;
  std::map<std::pair<Key, const std::vector<int>*>, CollectiveCalls*> known_;  ///< found without looking at the members
  std::vector<CollectiveCalls*> order_;
};

/// One collective among the same members: the n-th call of each member is one call of all.
class CollectiveCalls {
 public:
  using Members = CollectiveLog::Members;

  CollectiveCalls(Members members, std::string_view name, std::int64_t bytes, double predicted_s);

  void arrive(int member, double now);
  void leave(int member, double now);
  /// A whole call.
  void add(double mean_arrival_s, double last_arrival_s, double end_s);

  const record::CollectiveUse& use() const { return use_; }
  bool holds(const Members& members) const { return members_ == members; }

 private:
  struct Open {
    int come = 0;
    int gone = 0;
    double sum_s = 0.0;  ///< sum of the arrivals
    double last_s = 0.0;
  };
  Open& open(std::int64_t call) { return open_[static_cast<std::size_t>(call - first_open_)]; }

  Members members_;                            ///< kept, so that no other communicator's members get the same address
  record::CollectiveUse use_;                  ///< with sums instead of means
  base::ByRank<std::int64_t> arrived_, left_;  ///< calls, of each member
  std::deque<Open> open_;
  std::int64_t first_open_ = 0;
};

}  // namespace simgrad::cluster
