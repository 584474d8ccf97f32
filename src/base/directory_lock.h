/// A lock on a directory, so that one process at a time writes to it.
#pragma once

#include <filesystem>
#include <string>

namespace simgrad::base {

/// The lock is a file ".lock" in the directory, with a lock of the operating system on it (fcntl), which ends with the
/// process in whatever way it dies. Children do not inherit it. The file is removed with the lock; one that a killed
/// process has left holds nobody up. On a file system without locks every process gets the lock.
class DirectoryLock {
 public:
  explicit DirectoryLock(std::filesystem::path directory) : path_(std::move(directory) / ".lock") {}
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Takes the lock unless another process has it. Returns whether this process has it now.
  /// Errors: EnvironmentError if the file cannot be made.
  bool try_take();
  /// Returns the process that has the lock, as it wrote itself down: "process 123 on host"; "another process" if it
  /// has not done so yet.
  std::string holder() const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace simgrad::base
