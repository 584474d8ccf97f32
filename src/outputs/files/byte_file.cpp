#include "outputs/files/byte_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace simgrad::outputs {

namespace {
constexpr std::size_t block = std::size_t{1} << 16;

/// Opens a regular file. A pipe of that name keeps nobody waiting.
gzFile opened(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw base::EnvironmentError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  struct stat found = {};
  gzFile file = fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) ? gzdopen(descriptor, "rb") : nullptr;
  if (file) return file;
  close(descriptor);
  throw base::ScenarioError(fmt::format("{}: there is something that is no file; expected a packed file", path));
}
}  // namespace

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

std::string read_byte_file(const std::string& path) {
  gzFile file = opened(path);
  std::string text, piece(block, '\0');
  int size = 0;
  while ((size = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0)
    text.append(piece, 0, static_cast<std::size_t>(size));
  int fault = Z_OK;
  gzerror(file, &fault);
  gzclose_r(file);
  if (fault == Z_ERRNO) throw base::EnvironmentError(fmt::format("{}: cannot be read", path));
  if (fault != Z_OK && fault != Z_STREAM_END)
    throw base::ScenarioError(fmt::format("{}: is cut short or damaged; type simgrad run again", path));
  return text;
}

}  // namespace simgrad::outputs
