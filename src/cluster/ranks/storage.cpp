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
    let_time_pass();
    const Reading reading(*this, bytes);
    reading.semaphore->acquire();
  }

 private:
  /// One reader, as long as it lives.
  struct Reading {
    Reading(SharedDisk& its_disk, double bytes) : disk(its_disk), end_bytes(disk.bytes_of_each_ + bytes) {
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
    sg4::SemaphorePtr semaphore = sg4::Semaphore::create(0);
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
    : bandwidth_bytes_per_s_(bandwidth_bytes_per_s), latency_s_(latency_s), part_(part) {
  if (place == Place::shared) shared_ = std::make_unique<SharedDisk>(cluster, bandwidth_bytes_per_s);
}

Storage::~Storage() = default;

void use_disk(const Communicator& comm, double seconds, double bytes, record::TimePart part) {
  if (!(seconds > 0.0)) return;
  const BusyScope busy(comm.world().cluster(), comm.actor(), part,
                       {.work = record::Work::read, .bytes = std::llround(bytes)});
  sg4::this_actor::sleep_for(seconds);
}

void Storage::read(const Communicator& comm, std::int64_t bytes) const {
  const double alone_s = static_cast<double>(bytes) / bandwidth_bytes_per_s_;
  const BusyScope reading(comm.world().cluster(), comm.actor(), part_, {.work = record::Work::read, .bytes = bytes});
  if (const double seconds = shared_ ? latency_s_ : latency_s_ + alone_s; seconds > 0.0)
    sg4::this_actor::sleep_for(seconds);
  if (shared_ && bytes > 0) shared_->read(static_cast<double>(bytes));
}

}  // namespace simgrad::cluster
