/// The ranks of one training: their actors, their accounts of time, the messages between them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/account.h"
#include "cluster/ranks/core_load.h"
#include "cluster/ranks/packet.h"
#include "cluster/usage/link_bins.h"
#include "record/record.h"

namespace simgrid::s4u {
class Actor;
class Comm;
class Mailbox;
}  // namespace simgrid::s4u

namespace simgrad::cluster {

/// One direction between two ranks: its mailbox, and what it has carried.
struct Channel {
  simgrid::s4u::Mailbox* mailbox = nullptr;
  int source = 0;
  int target = 0;
  bool local = false;  ///< both live on one host: nothing goes over a wire
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

/// A packet on its way; lives until it has been received.
struct Message {
  Packet packet;
  Channel* channel = nullptr;
  simgrid::s4u::Comm* transfer = nullptr;  ///< the sender's; null once received, or once its host is gone
  bool counted = false;                    ///< its bytes are in the channel's
  record::Work work = record::Work::send;  ///< what it is part of, where somebody records
  std::int64_t step = -1;                  ///< of its sender
};

/// What a rank does now: for accounts cut at the end, and for the texts of deadlocks.
struct BlockedOn {
  enum class Kind : unsigned char { nothing, sending, receiving, meeting };
  static constexpr int anybody = -1;
  Kind kind = Kind::nothing;
  int peer = anybody;
  simgrid::s4u::Comm* transfer = nullptr;
  bool complete =
      false;  ///< of a meeting: everybody has come; else: what it waits for is under way, or it waits for so long only
};

/// One actor's: what it does, and where its time goes.
struct ActorState {
  Account account;
  BlockedOn blocked_on;

  /// For whoever records: the transfer, or the work, that begins.
  void shows(const SpanLabel& label, bool transfer = true) {
    if (Track* const track = account.track()) transfer ? track->transfer(label) : track->begin(label);
  }
};

class CollectiveLog;
struct AlphaBetaGamma;
class ComputedCollectives;
class Recorder;
class TimelineRecorder;
struct TimelineLimits;

/// Who listens for what a rank says, and so wants to know when it is lost while all others go on, when that is known,
/// and when it is back.
class MembershipListener {
 public:
  virtual ~MembershipListener() = default;
  virtual void on_crash(int rank) = 0;
  virtual void on_detected(int rank) = 0;
  virtual void on_rejoin(int rank) = 0;
};

class World {
 public:
  /// Ranks 0 .. workers-1 are workers, the next `servers` servers.  hosts: where each rank lives; empty: rank r on
  /// host r. Messages between ranks of one host take no time and count no bytes. A host has a core for each worker that
  /// lives on it, and one at least; where more ranks than that compute at a time, they share its speed fairly.
  World(Cluster& cluster, std::string name, int workers, int servers, std::vector<int> hosts = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Cluster& cluster() const { return cluster_; }
  int workers() const { return workers_; }
  int servers() const { return servers_; }
  int size() const { return workers_ + servers_; }
  double now() const { return cluster_.now(); }
  int host(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).host; }
  bool same_host(int rank, int other) const { return host(rank) == host(other); }

  World& ranks() { return *this; }
  const World& ranks() const { return *this; }
  World& membership() { return *this; }
  const World& membership() const { return *this; }
  World& recording() { return *this; }

  /// The world's time counts from now on; else from the clock's zero.
  void begin();
  double start_s() const { return start_s_; }
  /// Ranks of another world compute on that host, too: all share its speed fairly.
  void share_cores(int host);

  /// Before its time counts: what happens is recorded on as many tapes. It changes nothing.
  void start(const std::vector<TimelineLimits>& tapes);
  /// After the end: what each of them holds.
  std::vector<record::Timeline> timelines() const;

  /// Starts an actor of a rank. The main one's time is the rank's time; others serve it beside and end with it.
  /// Whatever it throws ends the run, with rank, step and virtual time in the text; PeerLost goes to `on_peer_lost`.
  void start(int rank, std::function<void()> body);
  /// Returns SimGrid's number of the actor.
  std::int64_t start_side_actor(int rank, std::function<void()> body);
  std::function<void(int rank)> on_peer_lost;
  /// Whether a recovery is under way, in which nobody moves and all is well; may be null.
  std::function<bool()> recovering;

  /// The rank's virtual time passes: flops at the host's nominal speed times the rank's relative one.
  void compute(int rank, double flops, record::Work what = record::Work::compute) {
    compute(rank, flops, &ranks_[static_cast<std::size_t>(rank)], what);
  }
  void set_relative_speed(int rank, double speed);
  double relative_speed(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).relative_speed; }

  /// For the texts of errors.
  void set_step(int rank, std::int64_t step) { ranks_[static_cast<std::size_t>(rank)].step = step; }
  std::int64_t step(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).step; }
  /// The rank whose actor runs now, or -1.
  int current_rank() const;

  bool alive(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).alive; }
  /// The rank's host goes down, with all its ranks' actors and their transfers; their time is `down` until revive.
  void crash(int rank);
  void revive(int rank);

  // Failures in place, where nobody else stops (world_in_place.cpp). A rank that is back is another incarnation of it,
  // whose mailboxes have other names: nothing that was meant for the one before reaches it.

  void set_keeps_going() { keeps_going_ = true; }
  bool keeps_going() const { return keeps_going_; }
  /// As crash; who is blocked on a lost rank gets PeerLost at once.
  void lose(int rank);
  /// The others know that the rank was lost, unless they know already.
  void announce(int rank);
  /// As revive; announces the loss before.
  void rejoin(int rank);
  /// Another incarnation of a living rank: whatever others expect of it fails.
  void start_over(int rank);
  int incarnation(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).incarnation; }
  double lost_at_s(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)).lost_at_s; }

  /// All actors die; their accounts wait. For a recovery, which then starts new ones, and for the end.
  void kill_actors();

  /// The training ends here: accounts are cut, transfers that have started count in full, all actors die (but not the
  /// one that calls). Whatever happens later is not recorded.
  void end();
  bool ended() const { return ended_; }

  /// At the natural end of a synchronous training: who sent what nobody received, or "".
  std::string left_behind() const;
  /// Everything that blocks a rank, "rank 0 (step 3) waits to receive from rank 1; ...".
  std::string who_waits() const;
  /// Whether every living rank is blocked on a transfer that has not started, so that nothing can ever happen.
  bool stuck() const;

  void fill(record::Record& record) const;

  /// Whether a collective among these ranks takes what its own recurrence says: nothing contends and nothing fails.
  bool uncontended() const;

 private:
  friend class Communicator;
  friend class Inbox;
  friend class ComputedCollectives;
  friend class WorkScope;
  friend class SideStream;
  friend class Pending;
  friend class Responder;

  /// The activity is that of its main actor.
  struct Rank : ActorState {
    ActorState* followed = nullptr;   ///< blocked on an actor beside, whose time since then is its own
    double followed_compute_s = 0.0;  ///< what that actor had done before
    double followed_communicate_s = 0.0;
    std::int64_t step = -1;
    double relative_speed = 1.0;
    int host = 0;
    int incarnation = 0;
    double lost_at_s = -std::numeric_limits<double>::infinity();
    bool announced = true;
    bool shares_cores = false;  ///< with another rank of its host
    bool alive = true;
    bool running = false;  ///< its main actor has not ended
  };

  void compute(int rank, double flops, ActorState* activity, record::Work what);
  /// What a message between two ranks is unless it is part of something that has a name.
  record::Work work_of(int source, int target, record::Work otherwise) const;
  void record_side_actor(int rank, const std::shared_ptr<ActorState>& activity);
  void finish(TimelineRecorder& tape);
  void record_unrecorded(TimelineRecorder& tape, double now);
  std::vector<Interval> untold(const Rank& rank, double now) const;
  std::int64_t bytes_coming(int rank) const;
  record::Message recorded(const Message& message, double now) const;
  /// What the rank is blocked in, itself or by the actor beside that it waits for.
  static const BlockedOn& blocked_in(const Rank& rank) {
    return rank.followed ? rank.followed->blocked_on : rank.blocked_on;
  }
  void settle_down(Rank& rank);
  std::int64_t start_actor(int rank, bool main, std::function<void()> body);
  /// Whatever is expected of these ranks and has not started fails.
  void break_off(const std::function<bool(int rank)>& lost);
  std::string mailbox_name(int generation, int source, int target) const;
  void rename_mailboxes(int rank);
  void run_guarded(int rank, bool main, const std::function<void()>& body);
  void follow(Rank& rank, ActorState& beside);
  void settle(Rank& rank);
  void settle_all();
  void count(Message& message);
  void count_started(Message& message);
  void count_links();
  void count_wires();
  void count_hosts();
  void keep_in_bins(const Message& message);
  void keep_background();
  void count_bins();
  /// The longest latency and the narrowest link on the ways between members next to each other.
  AlphaBetaGamma idle_costs(const std::vector<int>& members) const;
  Channel& channel(int generation, int source, int target);
  Message& new_message();
  void release(Message& message);
  Message** new_landing();

  Cluster& cluster_;
  std::string name_;
  int workers_;
  int servers_;
  std::vector<Rank> ranks_;
  bool own_hosts_ = true;                    ///< no two ranks live on one
  std::unordered_map<int, CoreLoad> loads_;  ///< of the hosts whose ranks share cores
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::deque<Message> messages_;
  std::vector<Message*> free_messages_;
  std::deque<Message*> landings_;  ///< where SimGrid puts what is received; they outlive the actors that wait for it
  std::vector<Message**> free_landings_;
  std::vector<int> rank_of_actor_;  ///< by SimGrid's actor number; -1: none of ours
  std::vector<std::int64_t> actors_;
  std::unique_ptr<ComputedCollectives> computed_collectives_;
  std::unique_ptr<CollectiveLog> collectives_;
  std::unique_ptr<Recorder> recorder_;  ///< null where nobody asks
  std::shared_ptr<std::vector<MembershipListener*>> membership_listeners_ =
      std::make_shared<std::vector<MembershipListener*>>();
  Message nothing_;  ///< what a rank receives instead of a message that will never come
  bool keeps_going_ = false;
  std::unique_ptr<LinkBins> bins_;         ///< null where nobody asks
  Background::Carried background_before_;  ///< that other traffic had carried when the world began
  Background::Carried background_bytes_;   ///< and since then, when last looked at
  double background_since_s_ = 0.0;
  bool ended_ = false;
  double start_s_ = 0.0;
  double end_s_ = 0.0;
  record::Record cut_;  ///< ranks, links, bytes and messages as they were at the end
};

/// The actor that calls waits for so long.
void pause(double seconds);
/// At the natural end of a synchronous training: who sent what nobody received, or "".
std::string left_behind(const World& world);
/// Everything that blocks a rank, "rank 0 (step 3) waits to receive from rank 1; ...".
std::string blocked_ranks(const World& world);
/// Whether every living rank is blocked on a transfer that has not started, so that nothing can ever happen.
bool stuck(const World& world);

}  // namespace simgrad::cluster
