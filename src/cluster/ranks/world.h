/// The ranks of one training: the owner of their parts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/fabric/tenant.h"
#include "cluster/stand_ins.h"
#include "values/wire_format.h"

namespace simgrad::record {
struct Record;
}

namespace simgrad::cluster {

class Cluster;
class CollectiveLog;
class ComputedCollectives;
class MeasuredCollectives;
class Membership;
class Messenger;
class Ranks;
class TimelineRecording;
class Timekeeper;
class EqualWork;
class Localities;
class Traffic;

class World final : public Tenant {
 public:
  /// Ranks 0 .. workers-1 are workers, the next `servers` servers.  hosts: where each rank lives; empty: rank r on
  /// host r. Messages between ranks of one host take no time and count no bytes.
  World(Cluster& cluster, std::string name, int workers, int servers, std::vector<int> hosts = {});
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Cluster& cluster() const { return cluster_; }
  const std::string& name() const { return name_; }
  int workers() const { return workers_; }
  int servers() const { return size_ - workers_; }
  int size() const { return size_; }
  double now() const;
  int host(int rank) const;
  bool same_host(int rank, int other) const { return host(rank) == host(other); }
  bool alive(int rank) const;

  /// The world's time counts from now on; else from the clock's zero.
  void begin();
  double start_s() const { return start_s_; }
  /// Ends the training: accounts are cut, transfers that have started count in full, all actors but the calling one
  /// die. Nothing later is recorded.
  void end();
  bool ended() const override { return ended_; }
  /// Returns the use of ranks, hosts, links and collectives, and the timelines. Only after the end.
  void fill(record::Record& record) const;

  /// The format in which numbers travel that have a longer one; float64: as they are.
  values::Format travels_as() const { return travels_as_; }
  void set_travels_as(values::Format format) { travels_as_ = format; }

  /// Whether collectives are computed as long as no others are on their links; see ComputedCollectives.
  bool computes_collectives() const;

  /// Whether ranks have different parts of a model, so that groups of ranks sum beside each other. Before the
  /// beginning.
  bool cut_model() const { return cut_model_; }
  void set_cut_model(bool cut) { cut_model_ = cut; }

  /// The collectives that take the time that was measured; null: none do.
  const MeasuredCollectives* measured() const { return measured_.get(); }

  /// Some ranks stand for others, which have no actors. Before the beginning.
  void set_stand_ins(std::unique_ptr<const StandIns> stand_ins);
  /// Null: every rank is simulated.
  const StandIns* stand_ins() const { return stand_ins_.get(); }
  /// The rank that is simulated for that one: mostly itself.
  int simulated(int rank) const { return stand_ins_ ? stand_ins_->of[static_cast<std::size_t>(rank)] : rank; }
  /// The ranks that a simulated one stands for.
  int repeats() const { return stand_ins_ ? stand_ins_->times : 1; }
  /// Whether the first of these ranks that is simulated stands for all of them.
  bool one_stands_for_all(const std::vector<int>& ranks) const;

  /// A rank that stands for a group has ended a collective so much earlier or later than others of it.
  void stand_ins_spread(double seconds) { spread_s_ += seconds; }
  /// Whether these differences may have changed the ninth digit of the time.
  bool stand_ins_differ() const { return spread_s_ > 1e-9 * (now() - start_s_); }

  /// Kills all actors; their accounts wait. For a recovery, which then starts new actors, and for the end.
  void kill_actors() override;
  bool can_move() const override;
  std::string blocked_ranks() const override;
  /// Whether a recovery is under way, in which no rank moves and which is no deadlock; may be null.
  std::function<bool()> recovering;

  Ranks& ranks() { return *ranks_; }
  const Ranks& ranks() const { return *ranks_; }
  EqualWork& equal_work() { return *equal_work_; }
  Membership& membership() { return *membership_; }
  const Membership& membership() const { return *membership_; }
  Timekeeper& timekeeper() { return *timekeeper_; }
  const Timekeeper& timekeeper() const { return *timekeeper_; }
  Messenger& messenger() { return *messenger_; }
  const Messenger& messenger() const { return *messenger_; }
  ComputedCollectives& computed_collectives() { return *computed_collectives_; }
  Localities& localities() { return *localities_; }
  CollectiveLog& collective_log() { return *collective_log_; }
  TimelineRecording& recording() { return *recording_; }
  Traffic& traffic() { return *traffic_; }
  const Traffic& traffic() const { return *traffic_; }

 private:
  Cluster& cluster_;
  std::string name_;
  int workers_;
  int size_;
  bool ended_ = false;
  bool cut_model_ = false;
  values::Format travels_as_ = values::Format::float64;
  double start_s_ = 0.0;
  double spread_s_ = 0.0;
  std::unique_ptr<const StandIns> stand_ins_;
  std::unique_ptr<record::Record> at_end_;  ///< ranks, hosts, links, bytes and messages; null before the end
  std::unique_ptr<Timekeeper> timekeeper_;
  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<EqualWork> equal_work_;
  std::unique_ptr<Membership> membership_;
  std::unique_ptr<Traffic> traffic_;
  std::unique_ptr<TimelineRecording> recording_;
  std::unique_ptr<Messenger> messenger_;
  std::unique_ptr<Localities> localities_;
  std::unique_ptr<CollectiveLog> collective_log_;
  std::unique_ptr<const MeasuredCollectives> measured_;
  std::unique_ptr<ComputedCollectives> computed_collectives_;
};

}  // namespace simgrad::cluster
