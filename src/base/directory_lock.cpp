#include "base/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/errors.h"

namespace simgrad::base {

namespace {

/// Whether the open file is still the one of that name: its last holder may have removed it.
bool is_file_of(int file, const std::filesystem::path& path) {
  struct stat opened = {}, named = {};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::string own_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on {}\n", getpid(), host[0] == '\0' ? "this host" : host.data());
}

}  // namespace

DirectoryLock::~DirectoryLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // before the lock ends, so that nobody removes the next one's file
  close(file_);
}

bool DirectoryLock::try_take() {
  for (;;) {
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) throw EnvironmentError(fmt::format("{}: cannot be made: {}", path_.string(), std::strerror(errno)));
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(file, F_SETLK, &whole) != 0) {
      const int reason = errno;
      close(file);
      if (reason == EACCES || reason == EAGAIN) return false;
      throw EnvironmentError(fmt::format("{}: cannot be locked: {}", path_.string(), std::strerror(reason)));
    }
    if (!is_file_of(file, path_)) {
      close(file);
      continue;
    }
    const std::string name = own_name();
    const bool written = ftruncate(file, 0) == 0 && pwrite(file, name.data(), name.size(), 0) > 0;
    static_cast<void>(written);  // the name is for messages alone
    file_ = file;
    return true;
  }
}

std::string DirectoryLock::holder() const {
  std::string name;
  std::getline(std::ifstream(path_), name);
  return name.empty() ? "another process" : name;
}

}  // namespace simgrad::base
