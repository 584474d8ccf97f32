#include "serving/stage_events.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::serving {

using cluster::Message;
using record::TimePart;
using record::Work;

/// A stage is free, or in a pass. It takes the messages of the stage before it; the first one those of the last.
class StageEvents::Stage final : public cluster::ParcelTaker {
 public:
  Stage(Service& service, int replica, int number)
      : service_(service),
        world_(service.world()),
        replica_(replica),
        number_(number),
        leader_(service.leader(replica, number)),
        actor_(&world_.timekeeper().main(leader_)) {
    const int stages = service.layout().pipeline;
    if (stages == 1) return;
    const int before = service.leader(replica, (number + stages - 1) % stages);
    in_ = &world_.messenger().channel(0, before, leader_);
    out_ = &world_.messenger().channel(0, leader_, service.leader(replica, (number + 1) % stages));
    if (first()) in_->receiver = nullptr;  // tokens come beside the stage's work
  }

  void start() {
    if (!in_) return;
    ask();
    wait();
  }

  /// There may be work for the first stage.
  void call() {
    if (flight_ || over()) return;
    if (Flight* const flight = service_.next(replica_)) begin(*flight);
  }

  void arrived(std::size_t /*place*/, Message& message, double start_s) override {
    guarded([&] {
      arrived_ = &message;
      sent_s_ = start_s;
      if (first())
        take_tokens();
      else if (!flight_)
        take();
    });
  }

 private:
  bool first() const { return number_ == 0; }
  bool over() const { return world_.ended() || service_.cluster().failed(); }

  /// Whatever it throws ends the run, as it would from an actor.
  template <class Act>
  void guarded(const Act& act) {
    if (over()) return;
    try {
      act();
    } catch (const std::exception& error) {
      world_.ranks().fail(leader_, error.what());
    }
  }
  template <class Act>
  void at(double time_s, const Act& act) {
    service_.cluster().at(time_s, [this, act] { guarded(act); });
  }

  /// Asks for the next message.
  void ask() { coming_ = world_.messenger().receive(*in_, *this, 0); }

  /// A later stage is free, and waits for a message.
  void wait() {
    if (first()) return;
    free_s_ = world_.now();
    if (arrived_) return take();
    if (!actor_->track()) return;
    blocked_.emplace(service_.cluster(), actor_,
                     cluster::BlockedOn{.kind = cluster::BlockedOn::Kind::receiving,
                                        .peer = in_->source,
                                        .transfer = &coming_,
                                        .other_end = &in_->sender});
    blocked_->label({work(Work::receive, in_->source, leader_), in_->source, 0});
  }

  Work work(Work otherwise, int source, int target) const {
    return world_.recording().transfer_work(source, target, otherwise);
  }

  /// The message that has come.
  Flight& take_message() {
    const cluster::Packet packet = world_.messenger().take(*std::exchange(arrived_, nullptr));
    return service_.flight(packet.note<FlightNumber>().number);
  }

  void take() {
    service_.count_receiving(replica_, number_, world_.now() - std::max(free_s_, sent_s_));
    if (blocked_) {
      blocked_->started(sent_s_);
      if (blocked_->track() && !in_->local)
        blocked_->label({blocked_->track()->label().work, in_->source, arrived_->packet.bytes()});
      blocked_.reset();
    }
    Flight& flight = take_message();
    flight_ = &flight;  // a message of a neighbour on the same host may come while the next one is asked for
    ask();
    begin(flight);
  }

  /// The first stage takes the tokens that the last one has chosen.
  void take_tokens() {
    service_.finish(take_message().number);
    ask();
    call();
  }

  void begin(Flight& flight) {
    flight_ = &flight;
    const PassSeconds pass_seconds = service_.pass(flight, number_);
    const double computed_s = world_.now() + pass_seconds.compute_s;
    if (!actor_->track()) return at(computed_s + pass_seconds.exchange_s, [this] { end(); });
    busy_.emplace(service_.cluster(), actor_, TimePart::compute_other, cluster::SpanLabel{.work = Work::forward});
    at(computed_s, [this, pass_seconds] {
      busy_.reset();
      busy_.emplace(service_.cluster(), actor_, TimePart::communicate_transfer,
                    cluster::SpanLabel{.work = Work::allreduce});
      at(world_.now() + pass_seconds.exchange_s, [this] { end(); });
    });
  }

  void end() {
    busy_.reset();
    Flight& flight = *std::exchange(flight_, nullptr);
    if (out_)
      send(flight);
    else
      service_.finish(flight.number);
    if (first())
      call();
    else
      wait();
  }

  void send(const Flight& flight) {
    Message& message = world_.messenger().new_message();
    message.channel = out_;
    message.packet = cluster::Packet(values::Tensor(), FlightNumber{flight.number});
    message.packet.extra_bytes = service_.message_bytes(flight, number_);
    message.step = world_.ranks().step(leader_);
    message.work = work(Work::send, leader_, out_->target);
    world_.messenger().send(message);
  }

  Service& service_;
  cluster::World& world_;
  int replica_, number_, leader_;
  cluster::ActorState* actor_;  ///< of the stage's first rank
  cluster::Channel *in_ = nullptr, *out_ = nullptr;
  Flight* flight_ = nullptr;                      ///< in its pass; null: the stage is free
  cluster::AnyTransfer coming_;                   ///< of the message that was asked for last
  Message* arrived_ = nullptr;                    ///< it has come, and is not taken yet
  double sent_s_ = 0.0;                           ///< the start of its transfer
  double free_s_ = 0.0;                           ///< since when the stage is free
  std::optional<cluster::BusyScope> busy_;        ///< while somebody records
  std::optional<cluster::BlockedScope> blocked_;  ///< likewise
};

bool StageEvents::possible(const cluster::Cluster& cluster, const Layout& layout) {
  return (layout.pipeline == 1 || cluster.flows() != nullptr) && cluster.background() == nullptr;
}

StageEvents::StageEvents(Service& service) : service_(service) {
  for (int replica = 0; replica < service.layout().replicas(); ++replica)
    for (int stage = 0; stage < service.layout().pipeline; ++stage)
      stages_.push_back(std::make_unique<Stage>(service, replica, stage));
}

StageEvents::~StageEvents() = default;

void StageEvents::start() {
  for (const std::unique_ptr<Stage>& stage : stages_) stage->start();
}

/// The rank's main actor: SimGrid's clock goes on as long as there is one.
void StageEvents::start_beside(int rank, std::function<void()> body) {
  service_.world().ranks().start(rank, std::move(body));
}

void StageEvents::call(int replica) { stages_[static_cast<std::size_t>(replica * service_.layout().pipeline)]->call(); }

}  // namespace simgrad::serving
