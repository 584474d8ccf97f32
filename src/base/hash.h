/// Hashes of contents.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace simgrad::base {

/// XXH3-128 of the bytes, as 32 hexadecimal digits: equal on every machine and in every release.
std::string hash(std::string_view bytes);

/// Whether the text is exactly so many hexadecimal digits, in lower case as hash() writes them.
bool is_hexadecimal(std::string_view text, std::size_t digits);

/// 128 bits.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Digest&) const = default;
};

/// XXH3-128 of the words' bytes.
Digest digest(std::span<const std::uint64_t> words);

}  // namespace simgrad::base
