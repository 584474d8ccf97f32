/// The recording of a world's timelines: tracks emit spans, and each timeline takes as many as its limit allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/by_rank.h"
#include "cluster/recording/timeline_recorder.h"
#include "cluster/recording/track.h"

namespace simgrad::cluster {

class ActorState;

/// A side actor, for as long as it lives, and its track.
struct SideTrack {
  Track* track = nullptr;
  std::weak_ptr<ActorState> actor;
};

/// All tracks and timelines of a world.
class Recorder {
 public:
  /// finish: called when a timeline is full, to complete it with what is not recorded yet, and to stop it.
  Recorder(const std::vector<TimelineLimits>& timelines, int ranks, int workers, const StandIns* stand_ins,
           std::function<double()> now, std::function<void(TimelineRecorder&)> finish);

  /// Whether any timeline shows the rank.
  bool takes(int rank) const;
  /// Makes a track of a rank that some timeline shows.
  Track& new_track(int rank, const std::int64_t* step, bool main, double now);
  void add_side_actor(Track& track, std::weak_ptr<ActorState> actor) { side_.push_back({&track, std::move(actor)}); }
  const std::vector<SideTrack>& side_actors() const { return side_; }

  void take(Track& track, const Interval& interval);
  void take(const record::TimedMessage& message);
  /// Takes intervals ahead of time, and messages.  complete_until_s: later intervals are not all there.
  void take(const std::vector<std::pair<Track*, Interval>>& intervals,
            const std::vector<record::TimedMessage>& messages, double complete_until_s);
  /// Takes an interval into one timeline alone.
  void take(TimelineRecorder& timeline, Track& track, const Interval& interval);
  /// The most spans that any timeline has room for.
  std::size_t room() const;

  std::vector<TimelineRecorder>& timelines() { return timelines_; }
  bool running() const;

 private:
  record::Span span(Track& track, const Interval& interval);
  void finish_full();

  std::vector<TimelineRecorder> timelines_;
  std::function<void(TimelineRecorder&)> finish_;
  std::function<double()> now_;
  std::deque<Track> tracks_;
  std::vector<SideTrack> side_;
  base::ByRank<int> numbered_;  ///< side actors that have worked
};

}  // namespace simgrad::cluster
