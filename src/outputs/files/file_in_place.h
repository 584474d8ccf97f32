/// Files that the command line itself names, and that are written where they are.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace simgrad::outputs {

/// A device, a pipe, or the target of a link. A pipe without a reader is told, and its reader is waited for.
/// Errors of all members: base::EnvironmentError with the file's name and the system's reason.
class FileInPlace {
 public:
  explicit FileInPlace(std::string path);
  ~FileInPlace();
  FileInPlace(const FileInPlace&) = delete;
  FileInPlace& operator=(const FileInPlace&) = delete;

  void write(std::string_view bytes);
  void close();

 private:
  std::string path_;
  std::FILE* stream_ = nullptr;
};

/// Whether there is something that is written in place: anything but a file, a directory or nothing. It must never be
/// asked about a file that the command line does not name: what is in a directory may be somebody else's link.
bool is_written_in_place(const std::string& path);

}  // namespace simgrad::outputs
