#include "outputs/files/byte_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "outputs/files/temporary_name.h"

namespace simgrad::outputs {

namespace {
constexpr std::size_t block = std::size_t{1} << 16;
}

struct ByteFile::Packer {
  Packer() {
    constexpr int window_of_gzip = 15 + 16, memory = 8;
    base::check(
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_of_gzip, memory, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib packs");
  }
  ~Packer() { deflateEnd(&stream); }

  z_stream stream = {};
};

ByteFile::ByteFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  file_ = std::fopen(temporary_.c_str(), "wbx");
  if (!file_) refuse(errno);
  if (path_.ends_with(".gz")) packer_ = std::make_unique<Packer>();
}

ByteFile::~ByteFile() {
  if (!file_) return;
  std::fclose(file_);
  std::remove(temporary_.c_str());
}

void ByteFile::refuse(int reason) const {
  throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path_, std::strerror(reason)));
}

void ByteFile::put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse(errno);
}

void ByteFile::write(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= block) flush();
}

void ByteFile::flush() {
  if (!packer_) {
    put(waiting_);
    waiting_.clear();
    return;
  }
  z_stream& stream = packer_->stream;
  const bool last = waiting_.empty();
  stream.next_in = reinterpret_cast<Bytef*>(waiting_.data());
  stream.avail_in = static_cast<uInt>(waiting_.size());
  std::string packed(block, '\0');
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    put(std::string_view(packed).substr(0, packed.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  waiting_.clear();
}

void ByteFile::close() {
  if (!waiting_.empty()) flush();
  if (packer_) flush();
  // A full disk may be reported only by the close.
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_.c_str());
    refuse(reason);
  }
}

}  // namespace simgrad::outputs
