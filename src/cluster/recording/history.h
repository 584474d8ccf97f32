/// An actor's recent past, as those who wait for it see it.
#pragma once

#include <cstddef>
#include <vector>

#include "record/time_part.h"

namespace simgrad::cluster {

/// A stretch of time that ends at `until_s`, and the part of waiting that it is for a rank that waits meanwhile.
struct Stretch {
  double until_s = 0.0;
  record::TimePart cause = record::TimePart::wait_other;
};

/// The last stretches, without gaps. A wait that began before them is unexplained until they begin.
class History {
 public:
  void begin(double now, std::size_t most) {
    begin_s_ = now;
    most_ = most;
  }
  void add(double until_s, record::TimePart cause);
  double until_s() const { return stretches_.empty() ? begin_s_ : stretches_.back().until_s; }
  /// Appends the stretches from `from_s` to `to_s`, or to the last one's end.
  void copy(double from_s, double to_s, std::vector<Stretch>& to) const;

 private:
  double begin_s_ = 0.0;
  std::size_t most_ = 128;
  std::vector<Stretch> stretches_;
};

/// A member's time from the last collective that it left to the one at which it arrives.
struct SinceCollective {
  double left_s = 0.0;
  record::TimeParts caused;  ///< by the causes of waiting that it is for others

  /// Returns the record of a later instant: the end of work that lasts so long during the collective (BlockWorkScope).
  SinceCollective with_work(double seconds) const {
    SinceCollective later = *this;
    later.caused[record::TimePart::wait_gradient] += seconds;
    return later;
  }
};

/// The last arrival at a collective, which the other members waited for; where they work on blocks beside it, the end
/// of the last one's work.
struct Lateness {
  double last_s = 0.0;
  SinceCollective of_last;

  /// The causes of waiting in the collective, of a member that arrived at `arrival_s` and waited for `wait_s` in all.
  /// Up to its lead over the last arrival: the work that took the last member longer than this one since the collective
  /// before. The rest: the others' transfers and sums.
  record::TimeParts causes(double arrival_s, const SinceCollective& own, double wait_s) const;
};

}  // namespace simgrad::cluster
