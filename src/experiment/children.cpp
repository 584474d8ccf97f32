#include "experiment/children.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

std::atomic<bool> asked_to_stop = false;

double real_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string reason(const char* what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

/// What the child wrote to its error pipe; it has ended, so that reading cannot block.
std::string read_all(int pipe) {
  std::string text;
  std::array<char, 1024> buffer{};
  for (ssize_t n = 0; (n = read(pipe, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  close(pipe);
  return text;
}

[[noreturn]] void be_child(const std::function<void(double*)>& body, double* progress, int errors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before we could ask to die with it
  signal(SIGINT, SIG_IGN);            // the parent decides, and kills
  signal(SIGTERM, SIG_DFL);
  std::string error;
  try {
    body(progress);
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  error.resize(std::min<std::size_t>(error.size(), 4000));  // what a pipe surely holds
  const bool told = error.empty() || write(errors, error.data(), error.size()) > 0;
  // No destructors: SimGrid's take seconds for a large cluster.
  _exit(told ? 0 : 1);
}

}  // namespace

bool interrupted() { return asked_to_stop; }

void watch_for_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { asked_to_stop = true; };
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

Children::Ended Children::end(Child child, int status) {
  slot_taken_[static_cast<std::size_t>(child.slot)] = false;
  Ended ended{child.task, read_all(child.errors), real_now_s() - child.started_s};
  if (WIFSIGNALED(status))
    ended.error = fmt::format("the simulating process died of signal {} ({})", WTERMSIG(status),
                              strsignal(WTERMSIG(status)));
  else if (ended.error.empty() && WEXITSTATUS(status) != 0)
    ended.error = fmt::format("the simulating process ended with {}", WEXITSTATUS(status));
  return ended;
}

std::optional<Children::Ended> Children::reap(double wait_s) {
  const double until = real_now_s() + wait_s;
  for (auto pause = std::chrono::microseconds(100);; pause = std::min(pause * 2, std::chrono::microseconds(10'000))) {
    for (auto child = running_.begin(); child != running_.end(); ++child) {
      int status = 0;
      if (waitpid(child->process, &status, WNOHANG) != child->process) continue;
      const Child gone = *child;
      running_.erase(child);
      return end(gone, status);
    }
    if (running_.empty() || interrupted() || real_now_s() > until) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

double Children::progress() const {
  double sum = 0.0;
  for (const Child& child : running_) sum += progress_[child.slot];
  return sum;
}

}  // namespace simgrad::experiment
