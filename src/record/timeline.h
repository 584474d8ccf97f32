/// The activities of each rank over time, and the messages between ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::record {

/// The four parts of a rank's time.
enum class Activity : unsigned char { compute, communicate, wait, down };
std::string_view name(Activity activity);

/// The work that is done or waited for. The set is small, because viewers give each name a colour.
enum class Work : unsigned char {
  idle,  ///< no work: other ranks are yet to arrive, or the training is over for this rank
  gradient,
  forward,
  backward,
  update,
  reduce,
  average,
  encode,
  compute,  ///< a strategy's own work
  read,
  checkpoint,
  send,
  receive,
  push,
  pull,
  gossip,
  allreduce,
  broadcast,
  reduce_scatter,
  all_gather,
  gather,
  scatter,
  all_to_all,
  restart,
  turn,
  crash,
  weights,    ///< the part of a backward pass that makes the gradients of the parameters
  recompute,  ///< activations, once more before the backward pass
  count
};
std::string_view name(Work work);

/// An interval of time in which a rank does one thing. Times are simulated seconds since the run began.
struct Span {
  int rank = 0;
  /// 0: the rank itself, whose spans are an exact partition of its time. k > 0: its k-th side actor, which has spans
  /// only where it works.
  int lane = 0;
  Activity kind = Activity::wait;
  int name = 0;            ///< in Timeline::names; for a wait, the work that is waited for
  std::int64_t step = -1;  ///< number of updates before; -1: the training has not begun
  int peer = -1;           ///< the rank at the other end; -1: none
  std::int64_t bytes = 0;  ///< payload
  double from_s = 0.0;
  double to_s = 0.0;
  int cause = -1;  ///< of a wait: the TimePart that most of it is (record/time_part.h); -1: not known
  int micro = -1;  ///< the micro-batch that the rank works on or waits for, of a step on a mesh; -1: none
};

/// One message between ranks of different hosts: the transfer, latency included.
struct TimedMessage {
  int source = 0;
  int target = 0;
  std::int64_t bytes = 0;
  std::int64_t step = -1;  ///< the source's step as it sends
  int name = 0;            ///< in Timeline::names
  double start_s = 0.0;
  double end_s = 0.0;
};

struct Timeline {
  std::vector<std::string> names;      ///< the name of every Work, in the order of the enumeration
  std::vector<Span> spans;             ///< by rank, lane and time
  std::vector<TimedMessage> messages;  ///< in the order of their starts
  double from_s = 0.0;
  double to_s = 0.0;                    ///< the end of every lane; longer spans are cut
  bool whole = true;                    ///< all ranks, all steps, to the end of the run
  bool full = false;                    ///< true if the timeline reached its limit and was cut; not in the file
  std::int64_t last_step = -1;          ///< the last step with any activity, recorded or not; not in the file
  std::vector<int> ranks;               ///< the recorded ranks: some workers, then some servers
  std::vector<std::string> rank_names;  ///< a name for each of `ranks`: "rank 3 (host-3)", "server 0 (host-4)"
};

}  // namespace simgrad::record
