/// A file that is written in pieces, compressed if its name ends in ".gz".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "outputs/files/file_in_place.h"
#include "outputs/files/temporary_file.h"

namespace simgrad::outputs {

enum class NamedBy {
  program,       ///< what has the name is replaced
  command_line,  ///< a device, a pipe or a link's target is written to, as by write_named_file
};

/// Writes to a temporary name; close() renames the file to its name. A file that is never closed is removed.
/// Equal contents give equal files, compressed ones too: they hold no time of writing.
class ByteFile {
 public:
  /// Errors of all members: base::EnvironmentError with the file's name and the system's reason.
  explicit ByteFile(const std::string& path, NamedBy by = NamedBy::program);
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  void write(std::string_view bytes);
  void close();

 private:
  struct Packer;
  void flush();
  void pass_on(std::string_view bytes);

  std::optional<TemporaryFile> file_;      ///< one of the two
  std::optional<FileInPlace> file_there_;  ///< one of the two
  std::string waiting_;                    ///< buffered bytes
  std::unique_ptr<Packer> packer_;
};

/// Returns what a ByteFile has written, unpacked. A small file may unpack to any size: it is read up to `bytes_most`.
/// Errors: base::EnvironmentError for a file that cannot be opened or read, and for what is no regular file;
/// base::ScenarioError, with the file's name, for one that is cut short, is damaged or has more bytes.
std::string read_byte_file(const std::string& path, std::size_t bytes_most, base::Links links = base::Links::follow);

/// The first bytes of what a ByteFile has written, unpacked, or fewer where it has fewer; nothing where it cannot be
/// read. Follows no link.
std::string beginning_of_byte_file(const std::string& path, std::size_t bytes);

}  // namespace simgrad::outputs
