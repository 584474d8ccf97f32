/// A pool of child processes: SimGrid allows one simulation a process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "experiment/run/child_limits.h"
#include "training/session/pulse.h"

namespace simgrad::experiment {

/// At most `jobs` children at a time, or fewer where the system has no descriptors or processes for as many. The parent
/// must not have started threads.
class Children {
 public:
  explicit Children(int jobs, const ChildLimits& limits = {});
  ~Children();  ///< kills the children that still run
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  bool full() const { return static_cast<int>(running_.size()) >= jobs_; }
  bool empty() const { return running_.empty(); }

  /// Runs `body` in a child, which dies with the parent. `body` may write its signs of life to the place it gets.
  /// options: of the child.  data_bytes: of its data, which it has from its parent; they count as its memory.
  /// Returns false if the system has no room beside the children that run: from then on they are `full`.
  /// Errors: EnvironmentError if there is no room for a single one.
  bool start(std::size_t task, const std::function<std::string(training::Pulse* pulse)>& body,
             const base::ChildOptions& options = {}, double data_bytes = 0.0);

  struct Ended {
    std::size_t task = 0;
    std::string answer = {};  ///< the body's result
    std::string error = {};   ///< the text of the body's error, or how the process died; "" if the body returned
    double wall_s = 0.0;
    training::Pulse pulse = {};  ///< the last one
  };
  /// Returns a child that has ended; waits up to `wait_s` for one, or until a signal arrives.
  std::optional<Ended> reap(double wait_s);
  /// The sum of the running children's shares.
  double progress() const;

  struct Running {
    std::size_t task = 0;
    double elapsed_s = 0.0;  ///< real time since its start
    training::Pulse pulse;
  };
  std::vector<Running> running() const;

 private:
  struct Child {
    base::ChildProcess process;
    std::size_t task = 0;
    int slot = 0;
    double started_s = 0.0;
    double data_bytes = 0.0;
    std::string killed = {};  ///< the reason, if a limit was exceeded
  };
  Ended end(Child child);
  void enforce_limits();

  int jobs_;
  ChildLimits limits_;
  training::Pulse* pulses_;  ///< one slot a job, shared with the children
  std::vector<bool> slot_taken_;
  std::vector<Child> running_;
};

/// True if SIGINT, SIGTERM or SIGHUP has arrived since watch_for_interrupts.
bool interrupted();
void watch_for_interrupts();

}  // namespace simgrad::experiment
