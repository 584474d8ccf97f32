#include "base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"

namespace simgrad::base {

namespace {

/// The last byte of a child that came to its end. A child that dies, or leaves by exit(), has not written it.
constexpr char returned_mark = '+';
constexpr char threw_mark = '-';

/// Blocks SIGINT, SIGTERM and SIGHUP. They are blocked and not ignored, because SimGrid installs a handler for SIGINT
/// that ends the process; and before the fork, so that no child is without it for a moment.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    sigaddset(&interrupts, SIGHUP);
    sigprocmask(SIG_BLOCK, &interrupts, &before_);
  }
  ~InterruptsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// True if this process has more threads than one, as far as the system tells. A thread that has been joined may be
/// listed for a moment, which this waits for.
bool has_threads() {
  for (int tries = 0; tries < 100; ++tries) {
    std::error_code none;
    const std::filesystem::directory_iterator tasks("/proc/self/task", none);
    if (none || std::distance(begin(tasks), end(tasks)) <= 1) return false;
    usleep(1000);
  }
  return true;
}

/// Resident memory that is no file's, by a process's statm.
std::optional<double> own_memory_bytes(const std::string& statm) {
  std::ifstream pages(statm);
  double all = 0.0, resident = 0.0, of_files = 0.0;
  if (!(pages >> all >> resident >> of_files)) return std::nullopt;
  return (resident - of_files) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

bool write_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(pipe, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string read_all(int pipe) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// The body's result or the text of its error, then the mark that tells which.
std::string answer_of(const std::function<std::string()>& body) {
  try {
    return body() + returned_mark;
  } catch (const std::bad_alloc&) {
    return std::string("not enough memory") + threw_mark;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    return std::string(text.empty() ? "an error without a text" : text) + threw_mark;
  } catch (...) {
    return std::string("an unknown error") + threw_mark;
  }
}

/// Lowers the limit: whoever started this process may have set a lower one, which stays.
void lower_limit(decltype(RLIMIT_CPU) resource, std::uintmax_t most) {
  struct rlimit present = {};
  getrlimit(resource, &present);
  present.rlim_cur = static_cast<rlim_t>(std::min<std::uintmax_t>(most, present.rlim_cur));
  setrlimit(resource, &present);
}

/// Holds this process to the limits from now on.
void obey(const ResourceLimits& limits) {
  if (limits.processor_s) {
    signal(SIGXCPU, SIG_DFL);
    lower_limit(RLIMIT_CPU, *limits.processor_s);
    lower_limit(RLIMIT_CORE, 0);
  }
  if (limits.real_s) {
    signal(SIGALRM, SIG_DFL);
    alarm(*limits.real_s);
  }
  if (!limits.writes_files) lower_limit(RLIMIT_FSIZE, 0);
  if (limits.memory_bytes) limit_memory(*limits.memory_bytes);
}

/// Closes what the parent has opened: pipes to other children, the directory's lock, logs. All but the three standard
/// streams and one more.
void close_all_but(int kept) {
  constexpr unsigned first = STDERR_FILENO + 1;
  const auto own = static_cast<unsigned>(kept);
  const bool below = own <= first || close_range(first, own - 1, 0) == 0;
  if (below && close_range(std::max(first, own + 1), ~0U, 0) == 0) return;
  // Linux before 5.9 has no such call.
  const long most = sysconf(_SC_OPEN_MAX);
  for (int file = STDERR_FILENO + 1; file < most; ++file)
    if (file != kept) close(file);
}

[[noreturn]] void be_child(const std::function<std::string()>& body, const ChildOptions& options, int pipe,
                           pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before we could ask to die with it
  close_all_but(pipe);
  if (options.capture_stderr) dup2(pipe, STDERR_FILENO);
  obey(options.limits);
  std::string answer;
  if (options.own_heap)
    std::thread([&] { answer = answer_of(body); }).join();
  else
    answer = answer_of(body);
  _exit(write_all(pipe, answer) ? 0 : 1);
}

std::string death_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace

ChildProcess::ChildProcess(const std::function<std::string()>& body, const ChildOptions& options) {
  check(!has_threads(), "a process that forks has no threads");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("no pipe for a child process: {}", std::strerror(errno)));
  std::fflush(stdout);  // a child that calls exit() would print the buffer again
  const pid_t parent = getpid();
  inherited_bytes_ = own_memory_bytes("/proc/self/statm").value_or(0.0);
  const InterruptsBlocked blocked;
  process_ = fork();
  if (process_ == 0) be_child(body, options, ends[1], parent);
  const int fault = errno;
  close(ends[1]);
  pipe_ = ends[0];
  if (process_ > 0) return;
  close(pipe_);
  throw EnvironmentError(fmt::format("no child process: {}", std::strerror(fault)));
}

ChildProcess::~ChildProcess() { stop(); }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      pipe_(std::exchange(other.pipe_, -1)),
      inherited_bytes_(other.inherited_bytes_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  stop();
  process_ = std::exchange(other.process_, 0);
  pipe_ = std::exchange(other.pipe_, -1);
  inherited_bytes_ = other.inherited_bytes_;
  return *this;
}

std::optional<double> ChildProcess::memory_bytes() const {
  const auto held = own_memory_bytes(fmt::format("/proc/{}/statm", process_));
  return held ? std::optional(std::max(0.0, *held - inherited_bytes_)) : std::nullopt;
}

void ChildProcess::kill() noexcept {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

void ChildProcess::stop() noexcept {
  if (process_ == 0) return;
  kill();
  waitpid(process_, nullptr, 0);
  close(pipe_);
}

ChildEnd ChildProcess::wait() {
  check(process_ > 0, "a child is waited for once");
  ChildEnd end{.kind = ChildEnd::Kind::died, .text = read_all(pipe_), .death = {}, .signal = 0};
  close(pipe_);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  const bool complete = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !end.text.empty();
  if (complete && end.text.back() == returned_mark) end.kind = ChildEnd::Kind::returned;
  if (complete && end.text.back() == threw_mark) end.kind = ChildEnd::Kind::threw;
  if (end.kind == ChildEnd::Kind::died)
    end.death = death_of(status), end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  else
    end.text.pop_back();
  return end;
}

ChildEnd run_in_child(const std::function<std::string()>& body, const ChildOptions& options) {
  return ChildProcess(body, options).wait();
}

}  // namespace simgrad::base
