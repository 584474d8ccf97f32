#include "outputs/files/byte_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/errors.h"

namespace simgrad::outputs {

namespace {
constexpr std::size_t block = std::size_t{1} << 16;

/// A packed file that is being read, closed at the end.
class PackedFile {
 public:
  PackedFile(const std::string& path, base::Links links) {
    base::OpenFile opened = base::open_regular(path, links);
    file_ = gzdopen(opened.descriptor(), "rb");
    if (!file_) throw base::EnvironmentError(fmt::format("{}: cannot be read: there is no memory for it", path));
    opened.release();
  }
  ~PackedFile() { gzclose_r(file_); }
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  /// Appends the next bytes, a block at most. Returns false at the end and at a fault.
  bool read(std::string& text, std::size_t bytes_most) {
    const std::size_t before = text.size(), wanted = std::min(block, bytes_most);
    text.resize(before + wanted);
    const int size = gzread(file_, text.data() + before, static_cast<unsigned>(wanted));
    text.resize(before + static_cast<std::size_t>(std::max(size, 0)));
    return size > 0;
  }
  int fault() {
    int number = Z_OK;
    gzerror(file_, &number);
    return number;
  }

 private:
  gzFile file_ = nullptr;
};

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

ByteFile::ByteFile(const std::string& path, NamedBy by) {
  if (by == NamedBy::command_line && is_written_in_place(path))
    file_there_.emplace(path);
  else
    file_.emplace(path);
  if (path.ends_with(".gz")) packer_ = std::make_unique<Packer>();
}

ByteFile::~ByteFile() = default;

void ByteFile::write(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= block) flush();
}

void ByteFile::pass_on(std::string_view bytes) {
  if (file_)
    file_->write(bytes);
  else
    file_there_->write(bytes);
}

void ByteFile::flush() {
  if (!packer_) {
    pass_on(waiting_);
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
    pass_on(std::string_view(packed).substr(0, packed.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  waiting_.clear();
}

void ByteFile::close() {
  if (!waiting_.empty()) flush();
  if (packer_) flush();
  if (file_)
    file_->keep();
  else
    file_there_->close();
}

std::string read_byte_file(const std::string& path, std::size_t bytes_most, base::Links links) {
  PackedFile file(path, links);
  std::string text;
  while (text.size() <= bytes_most && file.read(text, block)) {
  }
  if (text.size() > bytes_most)
    throw base::ScenarioError(
        fmt::format("{}: unpacks to more than {} bytes, the most that simgrad writes there", path, bytes_most));
  const int fault = file.fault();
  if (fault == Z_ERRNO) throw base::EnvironmentError(fmt::format("{}: cannot be read", path));
  if (fault != Z_OK && fault != Z_STREAM_END)
    throw base::ScenarioError(fmt::format("{}: is cut short or damaged; type simgrad run again", path));
  return text;
}

std::string beginning_of_byte_file(const std::string& path, std::size_t bytes) {
  std::string text;
  try {
    PackedFile file(path, base::Links::refuse);
    while (text.size() < bytes && file.read(text, bytes - text.size())) {
    }
  } catch (const base::EnvironmentError&) {
    text.clear();
  }
  return text;
}

}  // namespace simgrad::outputs
