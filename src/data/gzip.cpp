#include "data/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"

namespace simgrad::data {

namespace {

constexpr int gzip_only = 16 + MAX_WBITS;  // tells zlib to expect gzip's header and check sum

/// The most bytes in one call: zlib counts in 32 bits.
uInt portion(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

class Inflation {
 public:
  explicit Inflation(std::string_view bytes) : left_(bytes) {
    base::check(inflateInit2(&stream_, gzip_only) == Z_OK, "zlib starts");
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }

  /// Fills up to `count` bytes. Returns their number, which is smaller at the end.
  std::size_t fill(char* to, std::size_t count, const std::string& path) {
    std::size_t done = 0;
    while (done < count && !ended_) {
      const uInt in = portion(left_.size());
      const uInt out = portion(count - done);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));  // zlib only reads it
      stream_.avail_in = in;
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      left_.remove_prefix(in - stream_.avail_in);
      done += out - stream_.avail_out;
      if (status == Z_STREAM_END) {
        ended_ = !gzipped(left_);  // anything else that follows is padding
        if (!ended_) base::check(inflateReset(&stream_) == Z_OK, "zlib starts again");
      } else if (status == Z_BUF_ERROR || (status == Z_OK && left_.empty() && stream_.avail_out > 0)) {
        throw base::ScenarioError(fmt::format("{}: the compressed data end early, expected a whole gzip file", path));
      } else if (status != Z_OK) {
        throw base::ScenarioError(fmt::format("{}: the compressed data are damaged ({}), expected a gzip file", path,
                                              stream_.msg ? stream_.msg : "unknown"));
      }
    }
    return done;
  }

 private:
  z_stream stream_{};
  std::string_view left_;
  bool ended_ = false;
};

}  // namespace

bool gzipped(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string inflated(std::string_view bytes, std::size_t most, const std::string& path) {
  // The file says what it holds, but only its bytes prove it: memory grows with them.
  constexpr std::size_t first = 1 << 16;
  Inflation inflation(bytes);
  std::string result;
  for (std::size_t room = std::min(most, first);; room = result.size() > most / 2 ? most : 2 * result.size()) {
    const std::size_t done = result.size();
    result.resize(room);
    result.resize(done + inflation.fill(result.data() + done, room - done, path));
    if (result.size() < room || room == most) return result;
  }
}

}  // namespace simgrad::data
