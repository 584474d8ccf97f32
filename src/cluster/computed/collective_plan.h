/// The phases and groups of a computed collective, and its members' times in them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "cluster/recording/history.h"

namespace simgrad::cluster {

class CollectiveCalls;
struct CallsOver;
struct CollectiveGroup;

/// One group's part of a phase.
struct PlannedPart {
  CollectiveGroup* group = nullptr;
  std::shared_ptr<const CollectiveTiming> timing;
  std::string signature;  ///< of the timing
  const AlphaBetaGamma* costs = nullptr;
  std::vector<int> positions = {};         ///< of its members in the collective; empty: all, in their order
  std::optional<std::int64_t> bytes = {};  ///< of one member's input; empty: as the members bring it
  bool last = false;                       ///< of the last phase
  int alike = -1;  ///< an earlier part whose members leave at the same times if they come at the same times
  // Where its calls are counted, if `bytes` is given; null: not looked up yet.
  mutable CallsOver* over = nullptr;
  mutable CollectiveCalls* calls = nullptr;

  std::size_t position(std::size_t member) const {
    return positions.empty() ? member : static_cast<std::size_t>(positions[member]);
  }
};

struct PlannedPhase {
  static constexpr int nowhere = -1;
  /// A member's part, and its number there.
  struct Place {
    int part = nowhere;
    int member = 0;
  };

  std::vector<PlannedPart> parts;
  std::vector<Place> places = {};  ///< by member; empty: one part of all

  Place place(std::size_t member) const { return places.empty() ? Place{0, static_cast<int>(member)} : places[member]; }
};

/// Finds parts of the phase that are alike.
void find_alike(PlannedPhase& phase);

struct CollectivePlan {
  explicit CollectivePlan(std::vector<PlannedPhase> all);

  std::vector<PlannedPhase> phases;
  bool knows_deaths;  ///< that of all timings
};

/// The times of one part; members are numbered in its group.
struct PartTimes {
  std::vector<double> arrivals;
  Until until;
  std::vector<MemberTiming> timings;
  Lateness lateness = {};                               ///< of its last arrival
  std::shared_ptr<const AlphaBetaGamma> own = nullptr;  ///< the part's costs with its MembersOwn; null: it has none

  const AlphaBetaGamma& costs(const PlannedPart& part) const { return own ? *own : *part.costs; }
  /// The seconds of a member's work on all blocks, from its arrival on.
  double work_s(std::size_t member) const {
    return own && !own->block_s.empty() ? static_cast<double>(arrivals.size()) * own->block_s[member] : 0.0;
  }
};

/// The facts about members that change a collective's times, and are those of one collective alone.
struct MembersOwn {
  Deaths deaths = {};
  std::vector<double> block_s = {};  ///< by member, as AlphaBetaGamma has it; empty: none
};

/// The times of all parts of a collective, as far as they lie before `until`.
class CollectiveTimes {
 public:
  CollectiveTimes(const CollectivePlan& plan, std::span<const double> arrivals, const Until& until,
                  MembersOwn own = {});
  /// Less of the whole.  until: no later than that of the whole.
  CollectiveTimes(const CollectiveTimes& whole, const Until& until);

  /// Says which arrivals were the last.  since: by member, of the arrivals at the collective.  order: in which members
  /// have arrived.  missing: called with a member that has not come to its part; returns the lateness of that part.
  void find_lateness(std::span<const SinceCollective> since, std::span<const int> order,
                     const std::function<Lateness(std::size_t)>& missing);

  /// A member's time in all phases.
  const MemberTiming& of(std::size_t member) const { return whole_[member]; }
  /// The causes of its waiting from `from_s` to `to_s`.  counted: the times whose computing and communicating lies
  /// before `from_s`; null: nothing does.
  record::TimeParts causes(std::size_t member, const SinceCollective& since, double from_s, double to_s,
                           const CollectiveTimes* counted = nullptr) const;

  std::size_t phases() const { return phases_.size(); }
  const PartTimes& part(std::size_t phase, std::size_t part) const { return phases_[phase][part]; }

  /// Calls visit(planned part, its times) in the order of the phases.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t phase = 0; phase < phases_.size(); ++phase)
      for (std::size_t p = 0; p < phases_[phase].size(); ++p) visit(plan_.phases[phase].parts[p], phases_[phase][p]);
  }

 private:
  class Walked;
  /// One more part of the last phase.
  void add(const PlannedPart& part, std::vector<double> arrivals, const Until& until, Walked& walked);
  /// The member's part in the last phase before this one in which it has a part; null: in none.
  const PartTimes* before(std::size_t phase, std::size_t member) const;

  const CollectivePlan& plan_;
  MembersOwn own_;
  std::vector<std::vector<PartTimes>> phases_;
  std::vector<MemberTiming> whole_;  ///< by member, in all phases
};

}  // namespace simgrad::cluster
