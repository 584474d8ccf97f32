/// Files and directories on the disk of the machine that simulates.
///
/// A file that is read here may be somebody else's: it may have no end, be a device, or be a pipe to which nobody
/// writes. A file that is written may stand in a directory that somebody else has prepared, with links in it that lead
/// elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace simgrad::base {

/// An open file, closed at its end.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// Leaves the descriptor to the caller, who closes it.
  int release();

 private:
  int descriptor_;
};

enum class Links { follow, refuse };
enum class Pipes { refuse, read };

/// Opens a regular file for reading. Never waits.
/// Errors: EnvironmentError for a file that cannot be opened, and for a directory, a device, a pipe, a socket, or a
/// link where links are refused. A pipe is opened where pipes are read.
OpenFile open_regular(const std::string& path, Links links = Links::follow, Pipes pipes = Pipes::refuse);

/// The most bytes of a text that people or small programs write, such as a scenario, a platform, or speeds of hosts.
inline constexpr std::uintmax_t text_bytes_most = std::uintmax_t{64} << 20;

enum class Contents { text, bytes };

/// The limit for a file whose contents have no other: the memory that this process may still take.
inline constexpr std::uintmax_t as_memory_allows = std::numeric_limits<std::uintmax_t>::max();

struct Reading {
  std::uintmax_t bytes_most = text_bytes_most;
  Contents contents = Contents::text;
  Links links = Links::follow;
  /// For what a shell may hand over by a pipe, and what is read once: `simgrad validate <(generate)`.
  Pipes pipes = Pipes::refuse;
  double pipe_wait_s = 10.0;  ///< the longest time between two bytes of a pipe
};

/// The contents of a regular file.
/// Errors: as open_regular; EnvironmentError for a file that cannot be read; ScenarioError for one that has more than
/// `bytes_most` bytes (TooMuchMemory where that is as memory allows), and for a text with a NUL byte in its first 64
/// KiB. EnvironmentError for a pipe to which nobody writes.
std::string read_file(const std::string& path, const Reading& reading = {});

/// Opens a file of a directory that belongs to the program, for reading and writing at its end. Makes it if there is
/// none. Never waits, and follows no link: what else has that name, such as a link, a pipe, or a file that has another
/// name elsewhere, loses the name to a new file and stays as it is.  Errors: EnvironmentError, also for a directory.
OpenFile open_own_file(const std::string& path);

/// Makes the directory and its parents, unless they exist.  Errors: EnvironmentError.
void make_directory(const std::filesystem::path& path);

/// Refuses a link in the place of a folder that belongs to the program: what lies behind it is somebody else's.
/// Errors: EnvironmentError.
void refuse_linked_folder(const std::filesystem::path& path);

/// Makes a folder of a directory that belongs to the program, unless it exists.
/// Errors: EnvironmentError, also for a link.
void make_own_folder(const std::filesystem::path& path);

}  // namespace simgrad::base
