/// A function that runs in a forked child process: SimGrid simulates once a process, and its crash must not be ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace simgrad::base {

/// The end of a child process.
struct ChildEnd {
  enum class Kind { returned, threw, died };
  Kind kind = Kind::died;
  std::string text;   ///< returned: the function's result. threw: the error's text. died: the bytes that came before
  std::string death;  ///< died: "died of signal 9 (Killed)" or "ended with 3"; else ""
  int signal = 0;     ///< died: of this one; 0: of none
};

/// Limits of a child that works on a file of somebody else. The system holds the child to them.
struct ResourceLimits {
  std::optional<unsigned> processor_s = {};         ///< SIGXCPU ends it
  std::optional<unsigned> real_s = {};              ///< SIGALRM ends it
  std::optional<std::uintmax_t> memory_bytes = {};  ///< beyond its parent's; see limit_memory
  bool writes_files = true;                         ///< else SIGXFSZ ends it; pipes are no files
};

struct ChildOptions {
  bool capture_stderr = false;  ///< the child's standard error comes before the text, also if the child dies
  /// The body runs in a thread, which allocates from a heap of its own: it does not write to the pages of the parent's
  /// heap, each of which would be copied. It may not start children. A heap grows slowly: for bodies that are short.
  bool own_heap = false;
  ResourceLimits limits = {};
};

/// One running child. The child dies with its parent, and leaves SIGINT, SIGTERM and SIGHUP to it: a terminal sends
/// them to both. It has the parent's standard streams, and no other of its open files. No destructors run at the
/// child's end, as SimGrid's take seconds for a large cluster.
class ChildProcess {
 public:
  /// Errors: EnvironmentError if the system has no pipe or no process left; InvariantError if this process has
  /// started threads, for the child would have none of them and perhaps their locks.
  explicit ChildProcess(const std::function<std::string()>& body, const ChildOptions& options = {});
  ~ChildProcess();  ///< kills the child if it still runs
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The descriptor that poll() finds readable when the child returns, throws or dies (or writes to a captured stderr).
  int descriptor() const { return pipe_; }
  /// Memory that the child holds now beyond what it had from its parent at the fork, in bytes. Nothing if the system
  /// does not tell.
  std::optional<double> memory_bytes() const;
  /// Kills the child; wait() is still to be called.
  void kill() noexcept;
  /// Waits for the end of the child. To be called once.
  ChildEnd wait();

 private:
  void stop() noexcept;

  pid_t process_ = 0;  ///< 0: none, or it has ended
  int pipe_ = -1;
  double inherited_bytes_ = 0.0;  ///< the parent's memory at the fork
};

/// Runs `body` in a child and waits for its end. Errors: as ChildProcess.
ChildEnd run_in_child(const std::function<std::string()>& body, const ChildOptions& options = {});

}  // namespace simgrad::base
