#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/place.h"

namespace simgrad::base {

namespace {

[[noreturn]] void refuse(const std::string& path, const char* cannot_be, int reason) {
  throw EnvironmentError(fmt::format("{}: cannot be {}: {}", path, cannot_be, std::generic_category().message(reason)));
}

/// The kind of something that is no regular file.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a link";
  return "a device";
}

/// "64 MiB", "1.5 GiB"
std::string size_text(std::uintmax_t bytes) {
  constexpr std::array<const char*, 4> units{"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024.0 && unit + 1 < units.size(); ++unit) size /= 1024.0;
  return fmt::format("{:.4g} {}", size, units[unit]);
}

[[noreturn]] void refuse_size(const std::string& path, const Reading& reading) {
  throw ScenarioError(
      fmt::format("{}: has more than {}, the most that is read of it", path, size_text(reading.bytes_most)));
}

void refuse_nul(const std::string& path, std::string_view beginning) {
  const std::size_t nul = beginning.find('\0');
  if (nul == std::string_view::npos) return;
  throw ScenarioError(fmt::format("{}: a NUL byte, expected text in UTF-8 or ASCII", place_in(beginning, nul, path)));
}

/// Whether a file is made by the system when it is read, as those of /proc and /sys: they have no size, and may have no
/// end.
bool is_made_by_system(int file) {
  struct statfs system = {};
  if (fstatfs(file, &system) != 0) return false;
  constexpr std::array<long, 5> kinds{PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC};
  return std::ranges::find(kinds, static_cast<long>(system.f_type)) != kinds.end();
}

/// Reads what an open file has next; 0 bytes at its end. Waits for a pipe.
class FileReader {
  using Clock = std::chrono::steady_clock;

 public:
  FileReader(const OpenFile& file, const std::string& path, const Reading& reading)
      : file_(file), path_(path), wait_(reading.pipe_wait_s) {
    struct stat found = {};
    if (fstat(file.descriptor(), &found) != 0) refuse(path, "read", errno);
    pipe_ = S_ISFIFO(found.st_mode);
    expected_ = static_cast<std::uintmax_t>(std::max<off_t>(found.st_size, 0));
  }

  /// The size that the file says it has.
  std::uintmax_t expected() const { return expected_; }

  std::size_t read_into(char* to, std::size_t most) {
    const auto until = Clock::now() + std::chrono::ceil<std::chrono::milliseconds>(wait_);
    for (;;) {
      const ssize_t size = read(file_.descriptor(), to, most);
      // Nothing from a pipe that has never held anything: its writer may be yet to come.
      if (size > 0 || (size == 0 && (begun_ || !pipe_))) {
        begun_ = true;
        return static_cast<std::size_t>(size);
      }
      if (size < 0 && errno != EINTR && errno != EAGAIN) refuse(path_, "read", errno);
      if (size < 0 && errno == EINTR) continue;
      wait_for_pipe(size < 0, until);
    }
  }

 private:
  void wait_for_pipe(bool has_writer, Clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0)
      throw EnvironmentError(fmt::format(
          "{}: is a pipe to which nobody has written for {:.3g} s; expected the text of a file", path_, wait_.count()));
    // Without a writer poll() returns at once.
    if (!has_writer) std::this_thread::sleep_for(std::chrono::milliseconds(std::min<std::int64_t>(left, 10)));
    pollfd waited{.fd = file_.descriptor(), .events = POLLIN, .revents = 0};
    if (has_writer) poll(&waited, 1, static_cast<int>(left));
  }

  const OpenFile& file_;
  const std::string& path_;
  std::chrono::duration<double> wait_;
  std::uintmax_t expected_ = 0;
  bool pipe_ = false, begun_ = false;
};

/// Takes the name of a program's own file from what is not one. Returns whether what is there now may be opened.
bool name_is_free(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return true;  // the opening tells the reason
  if (S_ISDIR(found.st_mode))
    throw EnvironmentError(fmt::format("{}: is a directory; expected a regular file, or nothing", path));
  if (S_ISREG(found.st_mode) && found.st_nlink <= 1) return true;
  if (unlink(path.c_str()) != 0 && errno != ENOENT) refuse(path, "replaced", errno);
  return false;
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(other.release()) {}

int OpenFile::release() { return std::exchange(descriptor_, -1); }

OpenFile open_regular(const std::string& path, Links links, Pipes pipes) {
  // Without O_NONBLOCK the call waits for a pipe's writer.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == Links::refuse ? O_NOFOLLOW : 0);
  OpenFile file(open(path.c_str(), flags));
  if (file.descriptor() < 0) {
    if (errno == ELOOP && links == Links::refuse)
      throw EnvironmentError(fmt::format("{}: is a link; expected a regular file", path));
    refuse(path, "opened", errno);
  }
  struct stat found = {};
  if (fstat(file.descriptor(), &found) != 0) refuse(path, "read", errno);
  if (S_ISREG(found.st_mode) && is_made_by_system(file.descriptor()))
    throw EnvironmentError(fmt::format("{}: is what the system says of itself; expected a file on a disk", path));
  const bool readable = S_ISREG(found.st_mode) || (S_ISFIFO(found.st_mode) && pipes == Pipes::read);
  if (!readable)
    throw EnvironmentError(fmt::format("{}: is {}; expected a regular file", path, kind_of(found.st_mode)));
  return file;
}

OpenFile open_own_file(const std::string& path) {
  // Somebody who puts back what is taken away is not outlasted.
  for (int attempts = 16; attempts > 0; --attempts) {
    if (!name_is_free(path)) continue;
    OpenFile file(
        open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (file.descriptor() < 0 && errno == ELOOP) continue;
    if (file.descriptor() < 0) refuse(path, "made", errno);
    struct stat found = {};
    if (fstat(file.descriptor(), &found) != 0) refuse(path, "read", errno);
    if (S_ISREG(found.st_mode) && found.st_nlink <= 1) return file;
  }
  throw EnvironmentError(fmt::format("{}: cannot be made: another program puts something else there", path));
}

std::string read_file(const std::string& path, const Reading& reading) {
  constexpr std::size_t block = std::size_t{1} << 16;
  const OpenFile file = open_regular(path, reading.links, reading.pipes);
  FileReader reader(file, path, reading);
  if (reader.expected() > reading.bytes_most) refuse_size(path, reading);
  if (reader.expected() > text_bytes_most) require_memory(static_cast<double>(reader.expected()), path);
  // One byte more than expected, so that the end of the file is seen without another round.
  std::string text(std::max<std::size_t>(static_cast<std::size_t>(reader.expected()) + 1, block), '\0');
  std::size_t length = 0, checked = reading.contents == Contents::text ? 0 : block;
  while (const std::size_t size = reader.read_into(text.data() + length, text.size() - length)) {
    length += size;
    if (checked < block) {  // a pipe may give a byte at a time
      const std::size_t end = std::min(length, block);
      refuse_nul(path, std::string_view(text).substr(0, end));
      checked = end;
    }
    if (length > reading.bytes_most) refuse_size(path, reading);
    if (length < text.size()) continue;
    if (text.size() > text_bytes_most) require_memory(2.0 * static_cast<double>(text.size()), path);
    text.resize(2 * text.size());
  }
  text.resize(length);
  return text;
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw EnvironmentError(fmt::format("{}: cannot be made: {}", path.string(), error.message()));
}

void refuse_linked_folder(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, unknown)))
    throw EnvironmentError(
        fmt::format("{}: is a link; expected a folder, since what lies behind a link is not the program's to change",
                    path.string()));
}

void make_own_folder(const std::filesystem::path& path) {
  refuse_linked_folder(path);
  make_directory(path);
}

}  // namespace simgrad::base
