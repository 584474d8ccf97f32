#include "outputs/files/file_in_place.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/say.h"

namespace simgrad::outputs {

namespace {

[[noreturn]] void refuse_in_place(const std::string& path) {
  throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace

FileInPlace::FileInPlace(std::string path) : path_(std::move(path)) {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
  int descriptor = open(path_.c_str(), flags | O_NONBLOCK, 0666);
  std::error_code unknown;
  if (descriptor < 0 && errno == ENXIO && std::filesystem::is_fifo(path_, unknown)) {
    base::say(fmt::format("{}: is a pipe that nobody reads; waiting for a reader", path_));
    descriptor = open(path_.c_str(), flags);
  }
  if (descriptor < 0) refuse_in_place(path_);
  if (const int status = fcntl(descriptor, F_GETFL); status >= 0) fcntl(descriptor, F_SETFL, status & ~O_NONBLOCK);
  stream_ = fdopen(descriptor, "wb");
  if (!stream_) refuse_in_place(path_);
}

FileInPlace::~FileInPlace() {
  if (stream_) std::fclose(stream_);
}

void FileInPlace::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) refuse_in_place(path_);
}

void FileInPlace::close() {
  // A full disk may be reported only by the close.
  if (std::fclose(std::exchange(stream_, nullptr)) != 0) refuse_in_place(path_);
}

bool is_written_in_place(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(path, unknown);
  return std::filesystem::is_other(status) || std::filesystem::is_symlink(status);
}

}  // namespace simgrad::outputs
