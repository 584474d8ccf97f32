#include "experiment/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

std::atomic<bool> asked_to_stop = false;

double real_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string reason(const char* what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

/// What the child wrote to its error pipe until it ended.
std::string read_all(int pipe) {
  std::string text;
  std::array<char, 1024> buffer{};
  for (ssize_t n = 0; (n = read(pipe, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  close(pipe);
  return text;
}

/// Interrupts are the parent's: a terminal sends them to the whole group. They are blocked rather than ignored, because
/// SimGrid has a handler for SIGINT that ends the process; and before the fork, so that no child is ever without.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    sigprocmask(SIG_BLOCK, &interrupts, &before_);
  }
  ~InterruptsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// With which a child ends whose text tells of an UnwrittenError.
constexpr int code_of_unwritten = 73;

[[noreturn]] void be_child(const std::function<void(double*)>& body, double* progress, int errors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before we could ask to die with it
  std::string error;
  int code = 0;
  try {
    body(progress);
  } catch (const UnwrittenError& failure) {
    error = failure.what();
    code = code_of_unwritten;
  } catch (const std::exception& failure) {
    error = failure.what();
    if (error.empty()) error = "an error without a text";
  } catch (...) {
    error = "an unknown error";
  }
  error.resize(std::min<std::size_t>(error.size(), 4000));  // what a pipe surely holds
  const bool told = error.empty() || write(errors, error.data(), error.size()) > 0;
  // No destructors: SimGrid's take seconds for a large cluster.
  _exit(told ? code : 1);
}

}  // namespace

bool interrupted() { return asked_to_stop; }

void watch_for_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { asked_to_stop = true; };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // a second one ends us at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Children::Children(int jobs) : jobs_(jobs), slot_taken_(static_cast<std::size_t>(jobs), false) {
  void* shared = mmap(nullptr, sizeof(double) * static_cast<std::size_t>(jobs), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw base::EnvironmentError(reason("no shared memory"));
  progress_ = static_cast<double*>(shared);
}

Children::~Children() {
  for (const Child& child : running_) {
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
    close(child.errors);
  }
  munmap(progress_, sizeof(double) * static_cast<std::size_t>(jobs_));
}

void Children::start(std::size_t task, const std::function<void(double*)>& body) {
  const auto free = std::find(slot_taken_.begin(), slot_taken_.end(), false);
  base::check(free != slot_taken_.end(), "a job is free");
  const auto slot = static_cast<int>(free - slot_taken_.begin());
  progress_[slot] = 0.0;
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw base::EnvironmentError(reason("no pipe"));
  const pid_t parent = getpid();
  const InterruptsBlocked blocked;
  const pid_t process = fork();
  if (process < 0) throw base::EnvironmentError(reason("no process"));
  if (process == 0) {
    close(ends[0]);
    be_child(body, progress_ + slot, ends[1], parent);
  }
  close(ends[1]);
  *free = true;
  running_.push_back({process, task, slot, ends[0], real_now_s()});
}

Children::Ended Children::end(const Child& child) {
  slot_taken_[static_cast<std::size_t>(child.slot)] = false;
  Ended ended{.task = child.task, .error = read_all(child.errors), .wall_s = real_now_s() - child.started_s};
  int status = 0;
  waitpid(child.process, &status, 0);
  if (WIFSIGNALED(status))
    ended.error =
        fmt::format("the simulating process died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) == code_of_unwritten && !ended.error.empty())
    ended.unwritten = std::exchange(ended.error, {});
  else if (ended.error.empty() && WEXITSTATUS(status) != 0)
    ended.error = fmt::format("the simulating process ended with {}", WEXITSTATUS(status));
  return ended;
}

std::optional<Children::Ended> Children::reap(double wait_s) {
  // A child holds its end of the pipe for as long as it lives: that the pipe speaks or closes is the news.
  std::vector<pollfd> pipes;
  for (const Child& child : running_) pipes.push_back({.fd = child.errors, .events = POLLIN, .revents = 0});
  if (pipes.empty() || poll(pipes.data(), pipes.size(), static_cast<int>(1000.0 * wait_s)) <= 0) return std::nullopt;
  const auto speaks = std::ranges::find_if(pipes, [](const pollfd& pipe) { return pipe.revents != 0; });
  const auto child = running_.begin() + (speaks - pipes.begin());
  const Child gone = *child;
  running_.erase(child);
  return end(gone);
}

double Children::progress() const {
  double sum = 0.0;
  for (const Child& child : running_) sum += progress_[child.slot];
  return sum;
}

}  // namespace simgrad::experiment
