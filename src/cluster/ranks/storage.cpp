#include "cluster/ranks/storage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;

/// Readers that share a bandwidth equally. A disk of SimGrid would round what each of them has read between two events
/// of the clock to whole bytes: it stands still where events are near each other.
class Storage::SharedDisk {
 public:
  SharedDisk(const Cluster& cluster, double bandwidth_bytes_per_s)
      : cluster_(cluster), bandwidth_bytes_per_s_(bandwidth_bytes_per_s) {}
  ~SharedDisk() {
    if (timer_) timer_->remove();
  }
  SharedDisk(const SharedDisk&) = delete;
  SharedDisk& operator=(const SharedDisk&) = delete;

  /// Blocks the calling actor, which may be killed meanwhile.
  void read(double bytes) {
    const sg4::SemaphorePtr end = sg4::Semaphore::create(0);
    let_time_pass();
    const Reading reading(*this, bytes, *end);
    end->acquire();
  }
  /// Blocks like read(), but another actor may end it early by releasing woken. Returns whether all has been read.
  bool read_unless(double bytes, sg4::Semaphore& woken) {
    let_time_pass();
    const Reading reading(*this, bytes, woken);
    woken.acquire();
    if (!reading.over) woken.release();
    return reading.over;
  }

 private:
  /// One reader, as long as it lives.
  struct Reading {
    /// at_end: released when all is read.
    Reading(SharedDisk& its_disk, double bytes, sg4::Semaphore& at_end)
        : disk(its_disk), end_bytes(disk.bytes_of_each_ + bytes), semaphore(&at_end) {
      place = disk.readers_.emplace(end_bytes, this);
      disk.wake_first();
    }
    ~Reading() {
      if (over) return;
      disk.let_time_pass();
      disk.readers_.erase(place);
      disk.wake_first();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    SharedDisk& disk;
    double end_bytes;
    std::multimap<double, Reading*>::iterator place;
    sg4::SemaphorePtr semaphore;
    bool over = false;
  };

  double bytes_per_s_of_each() const { return bandwidth_bytes_per_s_ / static_cast<double>(readers_.size()); }
  void let_time_pass() {
    const double now = cluster_.now();
    if (readers_.empty())
      bytes_of_each_ = 0.0;
    else
      bytes_of_each_ += (now - since_s_) * bytes_per_s_of_each();
    since_s_ = now;
  }
  void wake_first() {
    if (timer_) timer_->remove();
    timer_ = nullptr;
    if (readers_.empty()) return;
    const double left_bytes = std::max(0.0, readers_.begin()->first - bytes_of_each_);
    timer_ = Timer::set(since_s_ + left_bytes / bytes_per_s_of_each(), [this] { end_first(); });
  }
  void end_first() {
    timer_ = nullptr;
    let_time_pass();
    bytes_of_each_ = readers_.begin()->first;  // without the clock's rounding
    while (!readers_.empty() && readers_.begin()->first <= bytes_of_each_) {
      readers_.begin()->second->over = true;
      readers_.begin()->second->semaphore->release();
      readers_.erase(readers_.begin());
    }
    wake_first();
  }

  const Cluster& cluster_;
  double bandwidth_bytes_per_s_;
  double bytes_of_each_ = 0.0;               ///< that each reader has read since there was none
  double since_s_ = 0.0;                     ///< the time of which that is true
  std::multimap<double, Reading*> readers_;  ///< by bytes_of_each_ at their ends
  Timer* timer_ = nullptr;                   ///< of the first end
};

Storage::Storage(Cluster& cluster, Place place, double bandwidth_bytes_per_s, double latency_s, record::TimePart part)
    : bandwidth_bytes_per_s_(bandwidth_bytes_per_s),
      latency_s_(latency_s),
      part_(part),
      place_(place),
      cluster_(cluster) {
  if (place == Place::shared) shared_ = std::make_unique<SharedDisk>(cluster, bandwidth_bytes_per_s);
}

Storage::~Storage() = default;

/// A host is what the network takes for one: a place with several ranks, or several devices inside one machine.
void Storage::find_hosts_with_several_ranks(const Communicator& comm) const {
  const World& world = comm.world();
  std::map<int, std::vector<int>> ranks_by_place;
  for (int rank = 0; rank < world.size(); ++rank) ranks_by_place[world.host(rank)].push_back(rank);
  std::map<int, std::vector<int>> ranks_by_host;
  int first = ranks_by_place.begin()->first;
  for (const auto& [place, ranks] : ranks_by_place) {
    if (place != first && !cluster_.options().inside_host(first, place)) first = place;
    ranks_by_host[first].insert(ranks_by_host[first].end(), ranks.begin(), ranks.end());
  }
  by_rank_.assign(static_cast<std::size_t>(world.size()), nullptr);
  for (const auto& [host, ranks] : ranks_by_host) {
    if (ranks.size() < 2) continue;
    const auto& disk = of_hosts_[host] = std::make_unique<SharedDisk>(cluster_, bandwidth_bytes_per_s_);
    for (const int rank : ranks) by_rank_[static_cast<std::size_t>(rank)] = disk.get();
  }
}

/// The disk that the calling rank shares with others; null: it has one to itself.
Storage::SharedDisk* Storage::disk_of(const Communicator& comm) const {
  if (place_ != Place::host) return shared_.get();
  if (by_rank_.empty()) find_hosts_with_several_ranks(comm);
  return by_rank_[static_cast<std::size_t>(comm.world_rank(comm.rank()))];
}

void use_disk(const Communicator& comm, double seconds, double bytes, record::TimePart part) {
  if (!(seconds > 0.0)) return;
  const BusyScope busy(comm.world().cluster(), comm.actor(), part,
                       {.work = record::Work::read, .bytes = std::llround(bytes)});
  sg4::this_actor::sleep_for(seconds);
}

void Storage::read(const Communicator& comm, std::int64_t bytes) const {
  SharedDisk* const disk = disk_of(comm);
  const double alone_s = static_cast<double>(bytes) / bandwidth_bytes_per_s_;
  const BusyScope reading(comm.world().cluster(), comm.actor(), part_, {.work = record::Work::read, .bytes = bytes});
  if (const double seconds = disk ? latency_s_ : latency_s_ + alone_s; seconds > 0.0)
    sg4::this_actor::sleep_for(seconds);
  if (disk && bytes > 0) disk->read(static_cast<double>(bytes));
}

bool Storage::read_unless(const Communicator& comm, std::int64_t bytes, sg4::Semaphore& woken) const {
  SharedDisk* const disk = disk_of(comm);
  const double alone_s = static_cast<double>(bytes) / bandwidth_bytes_per_s_;
  const BusyScope reading(comm.world().cluster(), comm.actor(), part_, {.work = record::Work::read, .bytes = bytes});
  if (const double seconds = disk ? latency_s_ : latency_s_ + alone_s; seconds > 0.0)
    if (const bool undisturbed = woken.acquire_timeout(seconds); !undisturbed) {
      woken.release();
      return false;
    }
  return !disk || bytes == 0 || disk->read_unless(static_cast<double>(bytes), woken);
}

}  // namespace simgrad::cluster
