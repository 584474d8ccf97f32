/// Durations of collectives, beside their durations on an idle network.
#pragma once

#include <algorithm>
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
#include "cluster/recording/history.h"
#include "record/record.h"

namespace simgrad::cluster {

class ActorState;
class CollectiveCalls;
class World;

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

  void cut(const World& world, double now);
  void forget_actors();

  /// Sums over groups of equal size.
  std::vector<record::CollectiveUse> uses() const;

 private:
  using Key = std::tuple<int, std::string, std::int64_t>;  ///< generation, name, bytes
  std::map<std::pair<Key, std::vector<int>>, std::shared_ptr<CollectiveCalls>> all_;
  std::map<std::pair<Key, const std::vector<int>*>, CollectiveCalls*> known_;  ///< found without looking at the members
  std::vector<CollectiveCalls*> order_;
};

/// One call that is over: sums over its members, and the last of them.
struct CollectiveCall {
  double arrivals_s = 0.0;
  double durations_s = 0.0;
  double exposed_s = 0.0;
  double last_arrival_s = 0.0;
  double last_end_s = 0.0;

  void arrive(double at_s) {
    arrivals_s += at_s;
    last_arrival_s = std::max(last_arrival_s, at_s);
  }
  /// awaited_since_s: since when the member's rank has waited for its end; infinity: it does not.
  void end(double arrival_s, double at_s, double awaited_since_s) {
    durations_s += std::max(0.0, at_s - arrival_s);
    exposed_s += std::max(0.0, at_s - std::max(arrival_s, awaited_since_s));
    last_end_s = std::max(last_end_s, at_s);
  }
};

/// One collective among the same members: the n-th call of each member is one call of all.
class CollectiveCalls {
 public:
  using Members = CollectiveLog::Members;

  CollectiveCalls(Members members, std::string_view name, std::int64_t bytes, double predicted_s);

  /// actor: whose time is the member's; null: nobody's is kept.  A member's waiting in a call in which nobody ends
  /// before all have arrived is put down to the last arrival as it leaves.
  void arrive(int member, double now, ActorState* actor = nullptr);
  void leave(int member, double now, ActorState* actor = nullptr);
  /// At the end of the training: puts the waiting in calls under way down to the last arrival, or to a member that has
  /// not come.
  void cut(const World& world, double now);
  /// The actors of calls under way are gone.
  void forget_actors();
  /// So many whole calls, of groups that are alike.
  void add(const CollectiveCall& call, std::int64_t groups = 1);

  /// When a member has come to the call in which `of` is; infinity: it has not come yet.
  double arrived_s(int member, int of) const;
  const record::CollectiveUse& use() const { return use_; }
  bool holds(const Members& members) const { return members_ == members; }

 private:
  struct Open {
    int come = 0;
    int gone = 0;
    CollectiveCall call;
    Lateness lateness;
  };
  struct Arrival {
    double at_s = 0.0;
    double ready_s = 0.0;     ///< the end of its rank's work beside the call; at_s where there is none
    record::TimeParts parts;  ///< the actor's, before the call
    SinceCollective since;
    ActorState* actor = nullptr;  ///< null: no waiting is to be put down
  };
  void explain(Arrival& arrival, const Lateness& lateness, double now) const;
  Open& open(std::int64_t call) { return open_[static_cast<std::size_t>(call - first_open_)]; }

  Members members_;                            ///< kept, so that no other communicator's members get the same address
  record::CollectiveUse use_;                  ///< with sums instead of means
  base::ByRank<std::int64_t> arrived_, left_;  ///< calls, of each member
  base::ByRank<Arrival> arrivals_;             ///< each member's last
  std::deque<Open> open_;
  std::int64_t first_open_ = 0;
};

}  // namespace simgrad::cluster
