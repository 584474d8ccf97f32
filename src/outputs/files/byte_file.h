/// A file that is written in pieces, compressed if its name ends in ".gz".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "outputs/files/temporary_file.h"

namespace simgrad::outputs {

/// Writes to a temporary name; close() renames the file to its name. A file that is never closed is removed.
/// Equal contents give equal files, compressed ones too: they hold no time of writing.
class ByteFile {
 public:
  /// Errors of all members: base::EnvironmentError with the file's name and the system's reason.
  explicit ByteFile(const std::string& path);
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  void write(std::string_view bytes);
  void close();

 private:
  struct Packer;
  void flush();

  TemporaryFile file_;
  std::string waiting_;  ///< buffered bytes
  std::unique_ptr<Packer> packer_;
};

/// Returns what a ByteFile has written, unpacked. Errors: base::EnvironmentError for a file that cannot be opened or
/// read; base::ScenarioError, with the file's name, for one that is no file, is cut short or damaged.
std::string read_byte_file(const std::string& path);

}  // namespace simgrad::outputs
