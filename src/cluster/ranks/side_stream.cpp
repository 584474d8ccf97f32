#include "cluster/ranks/side_stream.h"

#include <deque>
#include <iterator>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/ranks/after_collective.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// Shared by the rank and its side actor, whichever lives longer.
struct SideStream::Queue final : AfterCollective {
  struct Piece {
    Task task;
    Then then;
    bool collective = false;  ///< and no more
  };

  explicit Queue(const Communicator& rank) : comm(rank.for_side_actor(&actor)) {}

  ActorState actor;
  Communicator comm;  ///< the side actor's
  std::deque<Piece> pieces;
  std::deque<values::Tensor> results;  ///< those that nobody has asked for yet
  int first_result = 0;                ///< the number of the first of them
  int started = 0;
  int awaited = -1;          ///< the task that the rank is blocked on
  bool busy = false;         ///< a task is under way
  bool killed = false;       ///< the rank was
  Then then;                 ///< of the collective under way
  sg4::SemaphorePtr filled;  ///< null: the side actor was not needed yet
  sg4::SemaphorePtr over = sg4::Semaphore::create(0);

  int finished() const { return first_result + static_cast<int>(results.size()); }
  Piece next() {
    Piece piece = std::move(pieces.front());
    pieces.pop_front();
    return piece;
  }

  /// Goes on with the tasks for which the side actor is not needed. Returns whether the next one is for it.
  bool advance() {
    while (!busy && !pieces.empty()) {
      busy = true;
      // The spans of a recorded actor begin and end in the task.
      if (!pieces.front().collective || actor.track() || !comm.may_compute()) return true;
      if (!enter(next())) return false;
    }
    return false;
  }
  /// Returns whether the task is over: nothing was to be done.
  bool enter(Piece piece) {
    actor.settle(comm.now());
    then = std::move(piece.then);
    actor.set_after_collective(this);
    values::Tensor result = piece.task(comm);
    actor.set_after_collective(nullptr);
    if (actor.blocked_on().kind == BlockedOn::Kind::collective) return false;
    finish(then, std::move(result));
    return true;
  }
  void wake_actor() {
    if (filled) return filled->release();
    filled = sg4::Semaphore::create(0);
    comm.world().ranks().start_side_actor(comm.world_rank(comm.rank()),
                                          [queue = std::static_pointer_cast<Queue>(shared_from_this())] {
                                            for (;; queue->filled->acquire()) {
                                              do queue->run();
                                              while (queue->advance());
                                            }
                                          });
  }
  /// In the side actor.
  void run() {
    actor.settle(comm.now());
    const Piece piece = next();
    finish(piece.then, piece.task(comm));
  }
  void finish(const Then& and_then, values::Tensor result) {
    results.push_back(and_then ? and_then(std::move(result)) : std::move(result));
    actor.settle(comm.now());
    busy = false;
    if (awaited == finished() - 1) over->release();
  }

  void go_on(values::Tensor result) override {
    try {
      finish(then, std::move(result));
      if (advance()) wake_actor();
    } catch (const std::exception& error) {  // no actor's guard stands around it
      comm.world().ranks().fail(comm.world_rank(comm.rank()), error.what());
    }
  }
  bool gone() const override { return killed; }
};

SideStream::SideStream(const Communicator& communicator)
    : communicator_(communicator), queue_(std::make_shared<Queue>(communicator)) {
  const int rank = communicator.world_rank(communicator.rank());
  communicator.world().recording().add_side_actor(rank, std::shared_ptr<ActorState>(queue_, &queue_->actor));
  queue_->actor.stands_beside(communicator.world().timekeeper().main(rank));
}

SideStream::~SideStream() { queue_->killed = std::uncaught_exceptions() > exceptions_; }

int SideStream::start(Task task) {
  queue_->pieces.push_back({.task = std::move(task), .then = nullptr});
  if (queue_->advance()) queue_->wake_actor();
  return queue_->started++;
}

int SideStream::start_collective(Task collective, Then then) {
  queue_->pieces.push_back({.task = std::move(collective), .then = std::move(then), .collective = true});
  if (queue_->advance()) queue_->wake_actor();
  return queue_->started++;
}

bool SideStream::over(int number) const { return queue_->finished() > number; }

/// Blocks until the task is over.
void SideStream::block_until(int number) {
  if (over(number)) return;
  queue_->awaited = number;
  {
    const FollowScope following(communicator_.world().timekeeper(), communicator_.world_rank(communicator_.rank()),
                                queue_->actor);
    queue_->over->acquire();
  }
  queue_->awaited = -1;
}

values::Tensor SideStream::wait(int number) {
  block_until(number);
  while (queue_->first_result < number) {  // tasks are asked for in their order; one that is skipped is not wanted
    queue_->results.pop_front();
    ++queue_->first_result;
  }
  values::Tensor result = std::move(queue_->results.front());
  queue_->results.pop_front();
  ++queue_->first_result;
  return result;
}

std::vector<values::Tensor> SideStream::wait_for_all() {
  block_until(queue_->started - 1);
  std::vector<values::Tensor> all(std::make_move_iterator(queue_->results.begin()),
                                  std::make_move_iterator(queue_->results.end()));
  queue_->first_result += static_cast<int>(all.size());
  queue_->results.clear();
  return all;
}

void SideStream::let_others_go_on() { sg4::this_actor::yield(); }

}  // namespace simgrad::cluster
