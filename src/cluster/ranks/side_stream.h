/// Work that goes on beside a rank's main actor: one task after the other, as on a stream of a graphics processor.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

class SideStream {
 public:
  /// Does the work with the communicator of the side actor. Returns the rank's result.
  using Task = std::function<values::Tensor(const Communicator&)>;

  /// Starts a side actor of the communicator's rank. It ends with the rank's generation.
  explicit SideStream(const Communicator& communicator);

  /// Queues a task and returns at once; its number, from 0 on.
  int start(Task task);
  /// Blocks until that task is over. Meanwhile the rank computes, communicates and waits as the side actor does.
  values::Tensor wait(int number);
  /// Blocks until that task is over; its result stays.
  void wait_until_over(int number) { block_until(number); }
  /// Blocks until all tasks since the last one that was asked for are over; their results.
  std::vector<values::Tensor> wait_for_all();

 private:
  struct Queue;
  void block_until(int number);
  const Communicator& communicator_;
  std::shared_ptr<Queue> queue_;
};

}  // namespace simgrad::cluster
