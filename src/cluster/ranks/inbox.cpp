#include "cluster/ranks/inbox.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/flow_network.h"
#include "cluster/fabric/interference.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/storage.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// Arrivals that nobody has taken yet; shared by the server and those who receive for it, whichever live longer.
struct Inbox::Queue final : ParcelTaker {
  Queue(Communicator beside, int first) : communicator(std::move(beside)), first_member(first) {}

  void receive(std::size_t place) { communicator.receive_next(first_member + static_cast<int>(place), *this, place); }
  void arrived(std::size_t place, Message& message, double start_s) override {
    Packet packet = communicator.world().messenger().take(message);
    put(communicator, *this, {first_member + static_cast<int>(place), std::move(packet)}, start_s);
    receive(place);
  }

  const Communicator communicator;
  const int first_member;
  struct Entry {
    Arrival arrival;
    double transfer_start_s = 0.0;
  };
  std::deque<Entry> entries;
  sg4::SemaphorePtr filled = sg4::Semaphore::create(0);
};

namespace {

std::vector<int> members_from(int first, int count) {
  std::vector<int> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), first);
  return members;
}

}  // namespace

Inbox::Inbox(const Communicator& communicator, int first, int count, OnLoss on_loss, int ahead)
    : communicator_(communicator), queue_(std::make_shared<Queue>(communicator.for_side_actor(), first)) {
  if (communicator.world().cluster().flows()) {  // where nobody is ever lost
    communicator.world().messenger().keep(queue_);
    for (int place = 0; place < count; ++place)
      for (int i = 0; i < ahead; ++i) queue_->receive(static_cast<std::size_t>(place));
    return;
  }
  receivers_.emplace(
      communicator, members_from(first, count), [this, ahead](int member) { return body(member, ahead); },
      [this, on_loss](int member) {
        if (on_loss == OnLoss::reported)
          put(communicator_, *queue_, {.source = member, .packet = {}, .lost = true}, -1.0);
      });
}

PeerActors::Body Inbox::body(int member, int ahead) const {
  return [queue = queue_, member, ahead] {
    std::deque<Pending> posted;
    for (;;) {
      while (std::cmp_less(posted.size(), ahead)) posted.push_back(queue->communicator.start_receive(member));
      Packet packet = posted.front().wait();
      put(queue->communicator, *queue, {member, std::move(packet)}, posted.front().start_s());
      posted.pop_front();
    }
  };
}

Inbox::~Inbox() = default;

void Inbox::put(const Communicator& communicator, Queue& queue, Arrival arrival, double transfer_start_s) {
  queue.entries.push_back({std::move(arrival), transfer_start_s});
  queue.filled->release();
  ActorState& main = communicator.world().timekeeper().main(communicator.world_rank(communicator.rank()));
  if (main.blocked_on().receives_from_anybody()) main.ends_by_itself();
}

Inbox::Arrival Inbox::next() { return *take({}); }

std::optional<Inbox::Arrival> Inbox::next_until(double virtual_s) {
  const double left_s = virtual_s - communicator_.now();
  if (queue_->entries.empty() && !(left_s > 0.0)) return {};
  return take(std::max(left_s, 0.0));
}

std::optional<Inbox::Arrival> Inbox::take(std::optional<double> timeout_s) {
  World& world = communicator_.world();
  BlockedScope blocked(world.cluster(), &world.timekeeper().main(world_rank()),
                       {.kind = BlockedOn::Kind::receiving, .ends_by_itself = timeout_s || !queue_->entries.empty()});
  blocked.label({.work = record::Work::receive});
  if (!timeout_s || !queue_->entries.empty())
    queue_->filled->acquire();
  else if (queue_->filled->acquire_timeout(*timeout_s))
    return {};
  Queue::Entry entry = std::move(queue_->entries.front());
  queue_->entries.pop_front();
  if (blocked.track()) {
    const int source = communicator_.world_rank(entry.arrival.source);
    blocked.label({world.recording().transfer_work(source, world_rank(), record::Work::receive), source,
                   entry.arrival.packet.bytes()});
  }
  blocked.started(entry.transfer_start_s);
  blocked.awaited(world.timekeeper().main(communicator_.world_rank(entry.arrival.source)));
  return std::move(entry.arrival);
}

bool Inbox::compute(double flops) {
  World& world = communicator_.world();
  base::check(!world.ranks().shares_cores(world_rank()), "a computation that may be given up shares no cores");
  const double seconds = world.ranks().nominal_s(world_rank(), flops);
  const int host = world.host(world_rank());
  const double lasting_s = seconds > 0.0 ? world.cluster().duration(host, seconds) : 0.0;
  Interference* const interference = world.cluster().flows() ? world.cluster().flows()->interference() : nullptr;
  if (interference && lasting_s > 0.0) {
    const BusyScope busy(world.cluster(), &world.timekeeper().main(world_rank()), {.work = record::Work::gradient});
    if (!interference->compute_unless(host, lasting_s, *queue_->filled, [&] { return !queue_->entries.empty(); }))
      return false;
  } else if (!undisturbed_for(lasting_s)) {
    return false;
  }
  world.ranks().count_flops(flops);
  return true;
}

bool Inbox::use_storage(const Storage& storage, std::int64_t bytes) {
  return queue_->entries.empty() && storage.read_unless(communicator_, bytes, *queue_->filled);
}

bool Inbox::undisturbed_for(double seconds) {
  if (!queue_->entries.empty()) return false;
  if (!(seconds > 0.0)) return true;
  World& world = communicator_.world();
  bool undisturbed = false;
  {
    const BusyScope busy(world.cluster(), &world.timekeeper().main(world_rank()), {.work = record::Work::gradient});
    undisturbed = queue_->filled->acquire_timeout(seconds);
  }
  if (!undisturbed) queue_->filled->release();  // next() will take it
  return undisturbed;
}

}  // namespace simgrad::cluster
