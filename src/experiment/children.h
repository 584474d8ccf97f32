/// A pool of child processes: SimGrid allows one simulation a process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"

namespace simgrad::experiment {

/// A body's work is done, but a file beside its results could not be written.
class UnwrittenError : public base::EnvironmentError {
 public:
  using base::EnvironmentError::EnvironmentError;
};

/// At most `jobs` children at a time. The parent must not have started threads.
class Children {
 public:
  explicit Children(int jobs);
  ~Children();  ///< ends those that still run
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  bool full() const { return static_cast<int>(running_.size()) >= jobs_; }
  bool empty() const { return running_.empty(); }

  /// Runs `body` in a child, which dies with the parent. `body` gets a place where it may note its progress, 0 .. 1.
  /// What the body cannot write beside its work it throws as UnwrittenError at its end.
  void start(std::size_t task, const std::function<void(double* progress)>& body);

  struct Ended {
    std::size_t task = 0;
    std::string error;  ///< "" if the body returned; else what it threw, or how the process died
    double wall_s = 0.0;
    std::string unwritten = {};  ///< the text of an UnwrittenError, which is no error of the work
  };
  /// A child that has ended; waits up to `wait_s` for one, or until a signal comes.
  std::optional<Ended> reap(double wait_s);
  /// Sum of the running children's progress.
  double progress() const;

 private:
  struct Child {
    base::ChildProcess process;
    std::size_t task = 0;
    int slot = 0;
    double started_s = 0.0;
  };
  Ended end(Child child);

  int jobs_;
  double* progress_;  ///< a slot a job, shared with the children
  std::vector<bool> slot_taken_;
  std::vector<Child> running_;
};

/// Whether the user has asked to stop, with SIGINT or SIGTERM, since watch_for_interrupts.
bool interrupted();
void watch_for_interrupts();

}  // namespace simgrad::experiment
