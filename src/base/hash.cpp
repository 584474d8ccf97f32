#include "base/hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace simgrad::base {

std::string hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Digest digest(std::span<const std::uint64_t> words) {
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size_bytes());
  return {hash.high64, hash.low64};
}

}  // namespace simgrad::base
