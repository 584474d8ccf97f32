/// Files that are being written, under names that nobody else takes for results.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace simgrad::outputs {

/// A new file beside the one that it becomes, since a rename is atomic only within one file system: NAME.<16 random
/// hexadecimal digits>.tmp. The name is no process number, because shards may write to one directory from several
/// hosts.
///
/// The file has a shared lock (flock) as long as it is being written. The lock ends with the process in whatever way it
/// dies, so that other commands can tell a file that a killed writer has left from one that is being written.
/// Errors of all members: base::EnvironmentError with the name of the file to be and the system's reason.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path);
  /// Removes the file, unless it was kept.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }
  void write(std::string_view bytes);
  /// Ends the writing, and gives the file its name: readers find the whole file there, or an earlier one.
  /// made_of: a hash of all that the contents follow from, for is_made_of; empty: none.
  void keep(const std::string& made_of = {});
  /// As keep, and returns only when the file and its name are on the disk: they outlast the machine's death.
  void keep_on_disk();

 private:
  [[noreturn]] void refuse(int reason) const;
  void close_stream();
  void take_name();
  /// Makes a file with a new name, and locks it. Returns false if another command has removed it in between.
  bool made();

  std::string path_;
  std::string name_;
  int lock_ = -1;  ///< an open file of its own, so that the lock outlasts the stream
  std::FILE* stream_ = nullptr;
};

/// Whether a file was kept with this hash under this name, and nobody has changed it since, so that it need not be
/// written again. The hash, the size and the time of the last change are in an extended attribute of the file, where
/// they are none of its contents. A file system without such attributes answers no.
bool is_made_of(const std::string& path, const std::string& hash);

/// Whether a file's name is one of those that temporary files have.
bool is_temporary_name(std::string_view name);
/// The name of the file that a temporary file becomes; empty if `name` is no temporary file's.
std::string_view final_name(std::string_view name);

/// Removes a temporary file if its writer is gone. One whose lock somebody has stays, and so does one on a file system
/// without locks, and what is no regular file.
void remove_abandoned(const std::string& file);

/// Puts a second name for the file `from` at `path`, or a copy where the file system or its rights refuse one. A file
/// that is there is replaced, and is never seen in part. Follows no link.
/// Errors: base::EnvironmentError naming the file that cannot be read or written, also for a `from` that is no regular
/// file.
void link_or_copy(const std::string& from, const std::string& path);

}  // namespace simgrad::outputs
