/// What each rank of a run did when, and what went over the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::record {

/// The four parts of a rank's time.
enum class Activity : unsigned char { compute, communicate, wait, down };
std::string_view name(Activity activity);

/// What is done, or waited for: a small closed set, so that viewers that colour by name have few colours to tell apart.
enum class Work : unsigned char {
  idle,  ///< nothing: others are to come, or the training is over for this rank
  gradient,
  forward,
  backward,
  update,
  reduce,
  average,
  encode,
  compute,  ///< of a strategy's own
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
  count
};
std::string_view name(Work work);

/// A stretch of time in which a rank does one thing. Times are simulated seconds since the run began.
struct Span {
  int rank = 0;
  /// 0: the rank itself, whose spans are an exact partition of its time. k > 0: the k-th actor beside it, when it is at
  /// work.
  int lane = 0;
  Activity kind = Activity::wait;
  int name = 0;            ///< in Timeline::names; of a wait: what is waited for
  std::int64_t step = -1;  ///< updates made before; -1: the training has not begun
  int peer = -1;           ///< the rank at the other end; -1: none
  std::int64_t bytes = 0;  ///< payload
  double from_s = 0.0;
  double to_s = 0.0;
};

/// One message between ranks of different hosts: the transfer, latency included.
struct Message {
  int source = 0;
  int target = 0;
  std::int64_t bytes = 0;
  std::int64_t step = -1;  ///< of the source as it sends
  int name = 0;            ///< in Timeline::names
  double start_s = 0.0;
  double end_s = 0.0;
};

struct Timeline {
  std::vector<std::string> names;  ///< of every Work, in its order
  std::vector<Span> spans;         ///< by rank, lane and time
  std::vector<Message> messages;   ///< in the order of their starts
  double from_s = 0.0;
  double to_s = 0.0;                    ///< every lane ends here; what would go on is cut
  bool whole = true;                    ///< all ranks, all steps, to the end of the run
  bool full = false;                    ///< it was cut for want of room; not in its file
  std::int64_t last_step = -1;          ///< in which anything was done, recorded or not; not in its file
  std::vector<int> ranks;               ///< those recorded: some workers, then some servers
  std::vector<std::string> rank_names;  ///< of each of these: "rank 3 (host-3)", "server 0 (host-4)"
};

}  // namespace simgrad::record
