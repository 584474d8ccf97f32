#include "cluster/ranks/absorber.h"

#include <map>
#include <optional>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

class Absorber::Taker final : public ParcelTaker {
 public:
  Taker(const Communicator& communicator, const std::vector<int>& members, Absorption absorption)
      : actor_(std::make_shared<ActorState>()),
        communicator_(communicator.for_side_actor(actor_.get())),
        members_(members),
        absorption_(std::move(absorption)) {}

  void begin() {
    communicator_.world().recording().add_side_actor(rank(), actor_);
    for (std::size_t place = 0; place < members_.size(); ++place) receive(place);
  }

  void arrived(std::size_t place, Message& message, double /*start_s*/) override {
    fresh_.push_back({place, communicator_.world().messenger().take(message)});
    if (!std::exchange(called_, true)) calls_->release();
  }

  /// The actor's work.
  void work() {
    World& world = communicator_.world();
    while (!world.ended()) {
      wait();
      for (Entry& entry : std::exchange(fresh_, {})) put(std::move(entry));
      while (!due_.empty() && due_.begin()->first <= world.now() && !world.ended()) {
        const Due taken = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        take(taken);
      }
      if (due_.empty()) busy_.reset();
    }
  }

 private:
  struct Entry {
    std::size_t place = 0;
    Packet packet;
  };
  struct Due {
    Entry entry;
    double flops = 0.0;
  };

  int rank() const { return communicator_.world_rank(communicator_.rank()); }
  void receive(std::size_t place) { communicator_.receive_next(members_[place], *this, place); }

  /// Blocks until messages have come, or one is due.
  void wait() {
    const double left_s = due_.empty() ? -1.0 : due_.begin()->first - communicator_.now();
    if (!due_.empty() && !(left_s > 0.0)) return;
    const bool called = due_.empty() ? (calls_->acquire(), true) : !calls_->acquire_timeout(left_s);
    if (called) called_ = false;
  }

  void put(Entry entry) {
    World& world = communicator_.world();
    const double flops = world.cluster().options().charge_reductions ? absorption_.flops(entry.packet) : 0.0;
    const double nominal_s = world.ranks().nominal_s(rank(), world.ranks().reduction(rank(), flops));
    const double lasting_s = nominal_s > 0.0 ? world.cluster().duration(world.host(rank()), nominal_s) : 0.0;
    if (!busy_) busy_.emplace(world.cluster(), actor_.get(), SpanLabel{.work = record::Work::update});
    due_.emplace(world.now() + lasting_s, Due{std::move(entry), flops});
  }

  void take(const Due& due) {
    World& world = communicator_.world();
    world.ranks().count_flops(due.flops);
    absorption_.take(members_[due.entry.place], due.entry.packet);
    if (!world.ended()) receive(due.entry.place);
  }

  const std::shared_ptr<ActorState> actor_;  ///< busy as long as any message is being taken
  const Communicator communicator_;
  const std::vector<int> members_;
  const Absorption absorption_;
  std::vector<Entry> fresh_;
  std::multimap<double, Due> due_;  ///< by the time at which they are taken
  std::optional<BusyScope> busy_;
  bool called_ = false;  ///< the actor has not seen all fresh messages
  sg4::SemaphorePtr calls_ = sg4::Semaphore::create(0);
};

Absorber::Absorber(const Communicator& communicator, const std::vector<int>& members, Absorption absorption)
    : taker_(std::make_shared<Taker>(communicator, members, std::move(absorption))) {
  communicator.world().messenger().keep(taker_);
  communicator.world().ranks().start_side_actor(communicator.world_rank(communicator.rank()),
                                                [taker = taker_] { taker->work(); });
  taker_->begin();
}

}  // namespace simgrad::cluster
