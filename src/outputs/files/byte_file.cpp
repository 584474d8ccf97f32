#include "outputs/files/byte_file.h"

#include <zlib.h>

#include <utility>

#include "base/errors.h"

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

ByteFile::ByteFile(const std::string& path) : file_(path) {
  if (path.ends_with(".gz")) packer_ = std::make_unique<Packer>();
}

ByteFile::~ByteFile() = default;

void ByteFile::write(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= block) flush();
}

void ByteFile::flush() {
  if (!packer_) {
    file_.write(waiting_);
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
    file_.write(std::string_view(packed).substr(0, packed.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  waiting_.clear();
}

void ByteFile::close() {
  if (!waiting_.empty()) flush();
  if (packer_) flush();
  file_.keep();
}

}  // namespace simgrad::outputs
