/// Recording of timelines: tracks tell what they do, tapes take as much of it as they are to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/recording/timeline_recorder.h"
#include "cluster/recording/track.h"

namespace simgrad::cluster {

struct ActorState;

/// All tracks and tapes of a world.
class Recorder {
 public:
  /// finish: called when a tape is full, to give it what has not been told yet, and to stop it.
  Recorder(const std::vector<TimelineLimits>& tapes, int workers, int servers, std::function<double()> now,
           std::function<void(TimelineRecorder&)> finish);

  bool takes(int rank) const;
  /// Of a rank that some tape takes.
  Track& new_track(int rank, const std::int64_t* step, bool main, double now);
  /// An actor beside, for as long as it lives.
  void add_beside(Track& track, std::weak_ptr<ActorState> activity) {
    beside_.emplace_back(&track, std::move(activity));
  }
  const std::vector<std::pair<Track*, std::weak_ptr<ActorState>>>& beside() const { return beside_; }

  void take(Track& track, const Interval& interval);
  /// What tracks will do, told ahead of time; and the messages.
  /// complete_until: what happens later is not all told.
  void take(const std::vector<std::pair<Track*, Interval>>& intervals, const std::vector<record::Message>& messages,
            double complete_until_s);
  void take(const record::Message& message);
  /// Into one tape alone.
  void take(TimelineRecorder& tape, Track& track, const Interval& interval);
  /// How many more spans any tape has room for.
  std::size_t room() const;

  std::vector<TimelineRecorder>& tapes() { return tapes_; }
  bool running() const;

 private:
  record::Span span(Track& track, const Interval& interval);
  void finish_full();

  std::vector<TimelineRecorder> tapes_;
  std::function<void(TimelineRecorder&)> finish_;
  std::function<double()> now_;
  std::deque<Track> tracks_;
  std::vector<std::pair<Track*, std::weak_ptr<ActorState>>> beside_;
  std::vector<int> numbered_;  ///< by rank: how many actors beside have worked
};

}  // namespace simgrad::cluster
