#include "base/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"

namespace simgrad::base {

namespace {

/// Whether the open file is still the one of that name: its last holder may have removed it.
bool is_file_of(int file, const std::filesystem::path& path) {
  struct stat opened = {}, named = {};
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

constexpr std::string_view named_process = "process ";

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

std::string own_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("{}{} on {}\n", named_process, getpid(), host[0] == '\0' ? "this host" : host.data());
}

}  // namespace

DirectoryLock::~DirectoryLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // before the lock ends, so that nobody removes the next one's file
  close(file_);
}

bool DirectoryLock::try_take() {
  for (;;) {
    OpenFile opened = open_own_file(path_.string());
    const int file = opened.descriptor();
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(file, F_SETLK, &whole) != 0) {
      if (errno == EACCES || errno == EAGAIN) return false;
      throw EnvironmentError(fmt::format("{}: cannot be locked: {}", path_.string(), std::strerror(errno)));
    }
    if (!is_file_of(file, path_)) continue;
    const std::string name = own_name();
    const bool written = ftruncate(file, 0) == 0 && write(file, name.data(), name.size()) > 0;
    static_cast<void>(written);  // the name is for messages alone
    file_ = opened.release();
    return true;
  }
}

std::string DirectoryLock::holder() const {
  // Other contents than a lock's are nobody's name.
  constexpr std::uintmax_t bytes_most = 512;
  try {
    const std::string text = read_file(path_.string(), {.bytes_most = bytes_most, .links = Links::refuse});
    const std::string name = text.substr(0, text.find('\n'));
    if (name.starts_with(named_process) && std::ranges::all_of(name, is_printable)) return name;
  } catch (const std::runtime_error&) {
  }
  return "another process";
}

}  // namespace simgrad::base
