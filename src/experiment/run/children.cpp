#include "experiment/run/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/units.h"

namespace simgrad::experiment {

namespace {

std::atomic<bool> asked_to_stop = false;

double real_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The children for whose pipes there are descriptors. A child inherits them all, and opens files of its own.
int children_most() {
  constexpr rlim_t own = 32;
  struct rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return std::numeric_limits<int>::max();
  const rlim_t left = files.rlim_cur > 2 * own ? files.rlim_cur - own : files.rlim_cur / 2;
  return static_cast<int>(std::clamp<rlim_t>(left, 1, std::numeric_limits<int>::max()));
}

/// Longer texts of errors are cut.
constexpr std::size_t longest_error = 4000;

}  // namespace

bool interrupted() { return asked_to_stop; }

void watch_for_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { asked_to_stop = true; };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // a second Ctrl-C ends us at once
  sigaction(SIGINT, &action, nullptr);
  action.sa_flags = SA_RESTART;  // timeout(1) sends the signal twice, and so may a terminal that closes
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // the program was started with nohup
  sigaction(SIGHUP, &action, nullptr);
}

Children::Children(int jobs, const ChildLimits& limits)
    : jobs_(std::min(jobs, children_most())), limits_(limits), slot_taken_(static_cast<std::size_t>(jobs_), false) {
  void* shared = mmap(nullptr, sizeof(training::Pulse) * slot_taken_.size(), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw base::EnvironmentError(fmt::format("no shared memory: {}", std::strerror(errno)));
  pulses_ = static_cast<training::Pulse*>(shared);
}

Children::~Children() {
  running_.clear();
  munmap(pulses_, sizeof(training::Pulse) * slot_taken_.size());
}

bool Children::start(std::size_t task, const std::function<std::string(training::Pulse*)>& body,
                     const base::ChildOptions& options, double data_bytes) {
  const auto free = std::find(slot_taken_.begin(), slot_taken_.end(), false);
  base::check(free != slot_taken_.end(), "a job is free");
  const auto slot = static_cast<int>(free - slot_taken_.begin());
  training::Pulse* const pulse = pulses_ + slot;
  *pulse = {};
  try {
    running_.push_back(
        {base::ChildProcess([&] { return body(pulse); }, options), task, slot, real_now_s(), data_bytes});
  } catch (const base::EnvironmentError&) {
    if (running_.empty()) throw;
    jobs_ = static_cast<int>(running_.size());
    return false;
  }
  *free = true;
  return true;
}

Children::Ended Children::end(Child child) {
  slot_taken_[static_cast<std::size_t>(child.slot)] = false;
  base::ChildEnd end = child.process.wait();
  Ended ended{.task = child.task, .wall_s = real_now_s() - child.started_s, .pulse = pulses_[child.slot]};
  using Kind = base::ChildEnd::Kind;
  if (end.kind == Kind::died) ended.error = fmt::format("the simulating process {}", end.death);
  if (end.kind == Kind::threw) ended.error = end.text.substr(0, longest_error);
  if (end.kind == Kind::returned) ended.answer = std::move(end.text);
  if (!child.killed.empty() && end.kind == Kind::died) ended.error = std::move(child.killed);
  return ended;
}

/// Kills children that exceed a limit.
void Children::enforce_limits() {
  for (Child& child : running_) {
    if (!child.killed.empty()) continue;
    const double elapsed_s = real_now_s() - child.started_s;
    if (limits_.time_s && elapsed_s > *limits_.time_s)
      child.killed = fmt::format("stopped after {} of real time, the limit of a run",
                                 base::format_quantity(*limits_.time_s, base::Unit::seconds));
    else if (limits_.memory_bytes &&
             child.data_bytes + child.process.memory_bytes().value_or(0.0) > *limits_.memory_bytes)
      child.killed = fmt::format("stopped at {} of memory, the limit of a run",
                                 base::format_quantity(*limits_.memory_bytes, base::Unit::bytes));
    if (!child.killed.empty()) child.process.kill();
  }
}

std::optional<Children::Ended> Children::reap(double wait_s) {
  constexpr double look_every_s = 0.02;
  if (limits_.any()) {
    enforce_limits();
    wait_s = std::min(wait_s, look_every_s);
  }
  std::vector<pollfd> pipes;
  for (const Child& child : running_)
    pipes.push_back({.fd = child.process.descriptor(), .events = POLLIN, .revents = 0});
  if (pipes.empty() || poll(pipes.data(), pipes.size(), static_cast<int>(1000.0 * wait_s)) <= 0) return std::nullopt;
  const auto speaks = std::ranges::find_if(pipes, [](const pollfd& pipe) { return pipe.revents != 0; });
  const auto child = running_.begin() + (speaks - pipes.begin());
  Child gone = std::move(*child);
  running_.erase(child);
  return end(std::move(gone));
}

double Children::progress() const {
  double sum = 0.0;
  for (const Child& child : running_) sum += pulses_[child.slot].share;
  return sum;
}

std::vector<Children::Running> Children::running() const {
  std::vector<Running> all;
  for (const Child& child : running_)
    all.push_back({.task = child.task, .elapsed_s = real_now_s() - child.started_s, .pulse = pulses_[child.slot]});
  return all;
}

}  // namespace simgrad::experiment
