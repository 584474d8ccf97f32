#include "outputs/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/hash.h"

namespace simgrad::outputs {

namespace {

constexpr std::string_view temporary_ending = ".tmp";
constexpr std::size_t digits = 16;

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}{}", path, random(), random(), temporary_ending);
}

constexpr const char* attribute = "user.simgrad.made_of";

/// The attribute of a file as it is now. The name is in it, for copies keep attributes and times.
std::string attribute_text(const std::string& path, const std::string& hash, const struct stat& file) {
  return fmt::format("{} {} {} {}.{:09}", hash, std::filesystem::path(path).filename().string(), file.st_size,
                     file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

/// An open file, closed at the end.
struct Opened {
  explicit Opened(int number) : file(number) {}
  ~Opened() {
    if (file >= 0) close(file);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  const int file;
};

/// Waits until a file is on the disk. A file system that cannot tell (a pipe's, some of FUSE) is taken at its word.
bool synchronised(int file) { return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == EROFS; }

/// Makes a second name for an open file. Returns false if that is refused.
bool linked(int source, const std::string& path) {
  flock(source, LOCK_SH | LOCK_NB);  // the lock is the file's, whatever its names are
  const std::string name = temporary_name(path);
  // By the descriptor: its name may be another file's by now.
  const std::string itself = fmt::format("/proc/self/fd/{}", source);
  if (linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  const bool renamed = std::rename(name.c_str(), path.c_str()) == 0;
  std::remove(name.c_str());  // it is there still if both names were the file's already
  return renamed;
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) {
  // An earlier loss of the race is rare, and a file system whose files never have links is not waited for.
  for (int attempts = 8; attempts > 0 && !made(); --attempts) {
  }
  const int written = fcntl(lock_, F_DUPFD_CLOEXEC, 0);
  if (written >= 0) stream_ = fdopen(written, "wb");
  if (stream_) return;
  const int reason = errno;
  if (written >= 0) close(written);
  std::remove(name_.c_str());
  close(lock_);
  refuse(reason);
}

bool TemporaryFile::made() {
  if (lock_ >= 0) close(lock_);
  name_ = temporary_name(path_);
  lock_ = open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (lock_ < 0) refuse(errno);
  struct stat file = {};
  while (flock(lock_, LOCK_SH) != 0 && errno == EINTR) {
  }
  return fstat(lock_, &file) != 0 || file.st_nlink > 0;
}

TemporaryFile::~TemporaryFile() {
  if (stream_) std::fclose(stream_);
  if (!name_.empty()) std::remove(name_.c_str());
  close(lock_);
}

void TemporaryFile::refuse(int reason) const {
  throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path_, std::strerror(reason)));
}

void TemporaryFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) refuse(errno);
}

void TemporaryFile::close_stream() {
  // A full disk may be reported only by the close.
  if (std::fclose(std::exchange(stream_, nullptr)) != 0) refuse(errno);
}

void TemporaryFile::take_name() {
  if (std::rename(name_.c_str(), path_.c_str()) != 0) refuse(errno);
  name_.clear();
}

void TemporaryFile::keep(const std::string& made_of) {
  close_stream();
  struct stat file = {};
  if (!made_of.empty() && fstat(lock_, &file) == 0) {
    const std::string text = attribute_text(path_, made_of, file);
    // Without the attribute the file is written again next time.
    static_cast<void>(fsetxattr(lock_, attribute, text.data(), text.size(), 0));
  }
  take_name();
}

void TemporaryFile::keep_on_disk() {
  close_stream();
  if (!synchronised(lock_)) refuse(errno);
  take_name();
  const std::filesystem::path directory = std::filesystem::path(path_).parent_path();
  const Opened names(open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (names.file < 0 || !synchronised(names.file)) refuse(errno);
}

bool is_made_of(const std::string& path, const std::string& hash) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  std::array<char, 1024> found;
  const ssize_t size = lgetxattr(path.c_str(), attribute, found.data(), found.size());
  return size > 0 && std::string_view(found.data(), static_cast<std::size_t>(size)) == attribute_text(path, hash, file);
}

bool is_temporary_name(std::string_view name) { return !final_name(name).empty(); }

std::string_view final_name(std::string_view name) {
  if (!name.ends_with(temporary_ending)) return {};
  name.remove_suffix(temporary_ending.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view number = name.substr(dot + 1);
  return base::is_hexadecimal(number, digits) ? name.substr(0, dot) : std::string_view();
}

void remove_abandoned(const std::string& file) {
  // NFS asks for the right to write where a lock is exclusive.
  int opened = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) opened = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const Opened left(opened);
  struct stat found = {};
  if (left.file < 0 || fstat(left.file, &found) != 0 || !S_ISREG(found.st_mode)) return;
  if (flock(left.file, LOCK_EX | LOCK_NB) == 0) std::remove(file.c_str());
}

void link_or_copy(const std::string& from, const std::string& path) {
  const base::OpenFile source = base::open_regular(from, base::Links::refuse);
  if (linked(source.descriptor(), path)) return;
  TemporaryFile copy(path);
  std::string piece(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t size = read(source.descriptor(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      throw base::EnvironmentError(fmt::format("{}: cannot be copied to {}: {}", from, path, std::strerror(errno)));
    if (size == 0) break;
    copy.write(std::string_view(piece).substr(0, static_cast<std::size_t>(size)));
  }
  copy.keep();
}

}  // namespace simgrad::outputs
