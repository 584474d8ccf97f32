/// The recording of a world's timelines.
#pragma once

#include <memory>
#include <vector>

#include "cluster/recording/timeline_recorder.h"
#include "cluster/recording/track.h"

namespace simgrad::cluster {

class ActorState;
class Recorder;
class World;
struct UnfinishedCollectives;
struct Message;

/// Recording does not change the simulation.
class TimelineRecording {
 public:
  explicit TimelineRecording(World& world);
  ~TimelineRecording();

  /// Before the world's time counts: records as many timelines.
  void start(const std::vector<TimelineLimits>& timelines);
  /// Whether anybody asked for a timeline.
  bool asked_for() const { return recorder_ != nullptr; }
  /// Whether some timeline is not complete yet.
  bool running() const;
  /// Ends all timelines now.
  void finish();
  /// The recorded timelines. Only after the end.
  std::vector<record::Timeline> timelines() const;

  /// Records a side actor of the rank, if the rank is recorded. Its spans end with the actor.
  void add_side_actor(int rank, const std::shared_ptr<ActorState>& actor);
  /// A message that has been received, or is cut.
  void take(const Message& message);
  Recorder& recorder() { return *recorder_; }

  /// The work that a message between two ranks is: a push, a pull, or `otherwise`.
  record::Work transfer_work(int source, int target, record::Work otherwise) const;

 private:
  void finish(TimelineRecorder& timeline);
  void record_unfinished(TimelineRecorder& timeline, double now);
  void record_unfinished_ranks(TimelineRecorder& timeline, const UnfinishedCollectives& collectives, double now);
  std::vector<Interval> unrecorded(int rank, const UnfinishedCollectives& collectives, double now) const;
  std::int64_t bytes_coming(int rank) const;
  record::TimedMessage recorded(const Message& message, double now) const;

  World& world_;
  std::unique_ptr<Recorder> recorder_;  ///< null where nobody asks
};

}  // namespace simgrad::cluster
