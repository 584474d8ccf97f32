/// Work that goes on beside a rank's main actor: one piece after the other, as on a stream of a graphics processor.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

class SideStream {
 public:
  /// Does the work with the communicator of the side actor. Returns the rank's result.
  using Task = std::function<values::Tensor(const Communicator&)>;
  /// Takes a result over, and returns that of the task. Takes no virtual time.
  using Then = std::function<values::Tensor(values::Tensor)>;

  /// The side actor of the communicator's rank starts with the first task that needs it. It ends with the rank's
  /// generation.
  explicit SideStream(const Communicator& communicator);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// Queues a task and returns at once; its number, from 0 on.
  int start(Task task);
  /// Queues a task that is one collective at most, whose result is returned as it is.  then: what is done with the
  /// result; or null.  Where collectives are computed, the side actor is not needed: the task is called by the actor or
  /// the timer that has come to it, its collective is entered without blocking, and ends by a timer.
  int start_collective(Task collective, Then then = nullptr);
  /// Blocks until that task is over. Meanwhile the rank computes, communicates and waits as the side actor does.
  values::Tensor wait(int number);
  /// Whether that task is over.
  bool over(int number) const;
  /// Blocks until that task is over; its result stays.
  void wait_until_over(int number) { block_until(number); }
  /// Blocks until all tasks since the last one that was asked for are over; their results.
  std::vector<values::Tensor> wait_for_all();

  /// In a task: the rank's other actors go on at this instant before it does, and may start further tasks.
  static void let_others_go_on();

 private:
  struct Queue;
  void block_until(int number);
  const Communicator& communicator_;
  int exceptions_ = std::uncaught_exceptions();
  std::shared_ptr<Queue> queue_;
};

}  // namespace simgrad::cluster
