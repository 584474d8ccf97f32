#include "cluster/ranks/side_stream.h"

#include <deque>
#include <simgrid/s4u.hpp>
#include <utility>

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// Shared by the rank and the actor beside it, whichever lives longer.
struct SideStream::Queue {
  ActorState activity;  ///< of the actor beside
  std::deque<Task> tasks;
  std::deque<values::Tensor> results;  ///< of those that are over and were not asked for yet
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
  communicator.world().record_side_actor(rank, std::shared_ptr<ActorState>(queue_, &queue_->activity));
  communicator.world().start_side_actor(rank, [queue = queue_, comm = communicator.for_side_actor(&queue_->activity)] {
    for (;;) {
      queue->filled->acquire();
      queue->activity.account.settle(comm.now());
      const Task task = std::move(queue->tasks.front());
      queue->tasks.pop_front();
      queue->results.push_back(task(comm));
      queue->activity.account.settle(comm.now());
      if (queue->awaited == queue->finished() - 1) queue->over->release();
    }
  });
}

int SideStream::start(Task task) {
  queue_->tasks.push_back(std::move(task));
  queue_->filled->release();
  return queue_->started++;
}

values::Tensor SideStream::wait(int number) {
  World& world = communicator_.world();
  World::Rank& self = world.ranks_[static_cast<std::size_t>(communicator_.world_rank(communicator_.rank()))];
  if (queue_->finished() <= number) {
    queue_->awaited = number;
    world.follow(self, queue_->activity);
    queue_->over->acquire();
    world.settle(self);
    queue_->awaited = -1;
  }
  while (queue_->first_result < number) {  // tasks are asked for in their order; who skips one does not want it
    queue_->results.pop_front();
    ++queue_->first_result;
  }
  values::Tensor result = std::move(queue_->results.front());
  queue_->results.pop_front();
  ++queue_->first_result;
  return result;
}

}  // namespace simgrad::cluster
