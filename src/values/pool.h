/// The threads that compute: as many of oneTBB's as the options ask for.
///
/// By default TBB starts at most one worker less than the machine has cores, because it expects the caller to work too.
/// The timeline never does: it may be on an actor's small stack. A global limit of N + 1 allows N workers. Once a Pool
/// has existed this process must not fork: the child would wait for threads that it does not have.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <utility>

namespace simgrad::values {

class Pool {
 public:
  explicit Pool(int threads)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
        arena_(threads, 0) {
    arena_.initialize();
  }

  /// Runs the task on one of the threads. It must not throw, and must not wait for another task.
  template <class Task>
  void start(Task task) {
    arena_.enqueue(std::move(task));
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace simgrad::values
