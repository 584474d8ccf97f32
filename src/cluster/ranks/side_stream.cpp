#include "cluster/ranks/side_stream.h"

#include <deque>
#include <iterator>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// Shared by the rank and its side actor, whichever lives longer.
struct SideStream::Queue {
  ActorState actor;
  std::deque<Task> tasks;
  std::deque<values::Tensor> results;  ///< those that nobody has asked for yet
  int first_result = 0;                ///< the number of the first of them
  int started = 0;
  int awaited = -1;  ///< the task that the rank is blocked on
  sg4::SemaphorePtr filled = sg4::Semaphore::create(0);
  sg4::SemaphorePtr over = sg4::Semaphore::create(0);

  int finished() const { return first_result + static_cast<int>(results.size()); }
};

SideStream::SideStream(const Communicator& communicator)
    : communicator_(communicator), queue_(std::make_shared<Queue>()) {
  const int rank = communicator.world_rank(communicator.rank());
  communicator.world().recording().add_side_actor(rank, std::shared_ptr<ActorState>(queue_, &queue_->actor));
  queue_->actor.stands_beside(communicator.world().timekeeper().main(rank));
  const auto run = [queue = queue_, comm = communicator.for_side_actor(&queue_->actor)] {
    for (;;) {
      queue->filled->acquire();
      queue->actor.settle(comm.now());
      const Task task = std::move(queue->tasks.front());
      queue->tasks.pop_front();
      queue->results.push_back(task(comm));
      queue->actor.settle(comm.now());
      if (queue->awaited == queue->finished() - 1) queue->over->release();
    }
  };
  communicator.world().ranks().start_side_actor(rank, run);
}

int SideStream::start(Task task) {
  queue_->tasks.push_back(std::move(task));
  queue_->filled->release();
  return queue_->started++;
}

/// Blocks until the task is over.
void SideStream::block_until(int number) {
  if (queue_->finished() > number) return;
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

}  // namespace simgrad::cluster
