/// A part of a stream's key.
#pragma once

#include <cstdint>

namespace simgrad::base {

/// A rank and how often it has begun its step again, as one number: another one for each pair of a rank below 2^17 and
/// a count below 2^15.
constexpr std::uint32_t rank_and_retry(std::uint32_t rank, std::uint32_t retry) {
  return (rank & 0xFFFFu) | (retry & 0x7FFFu) << 16 | (rank >> 16) << 31;
}

}  // namespace simgrad::base
