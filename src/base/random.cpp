#include "base/random.h"

#include <Random123/philox.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/errors.h"
#include "base/normals.h"

namespace simgrad::base {

Stream::Stream(const Key& key) {
  // Two Philox words hold the seed; the counter holds the rest, with its first word left to count the blocks.
  // A step needs more than 32 bits only beyond any run's length; its high half joins the purpose.
  key_ = {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)};
  const auto purpose = static_cast<std::uint32_t>(key.purpose);
  counter_ = {0, static_cast<std::uint32_t>(key.step), key.rank,
              (purpose << 24) | (static_cast<std::uint32_t>((key.step >> 32) & 0xFFu) << 16) | key.attempt};
}

void Stream::refill() {
  r123::Philox4x32 philox;
  const auto drawn = philox({{counter_[0], counter_[1], counter_[2], counter_[3]}}, {{key_[0], key_[1]}});
  ++counter_[0];
  block_ = {(std::uint64_t{drawn[1]} << 32) | drawn[0], (std::uint64_t{drawn[3]} << 32) | drawn[2]};
  left_ = 2;
}

std::uint64_t Stream::bits() {
  if (left_ == 0) refill();
  return block_[static_cast<std::size_t>(2 - left_--)];
}

double Stream::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double Stream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  // Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

void fill_normals(Stream& stream, std::span<double> x) {
  constexpr std::size_t most = 64;
  std::array<double, most> radius{}, angle{};
  // One function after the other, so that neither waits for the results of another.
  for (; x.size() >= 2; x = x.subspan(std::min(2 * most, x.size() / 2 * 2))) {
    const std::size_t pairs = std::min(most, x.size() / 2);
    for (std::size_t i = 0; i < pairs; ++i) {
      radius[i] = 1.0 - stream.uniform();
      angle[i] = 2.0 * std::numbers::pi * stream.uniform();
    }
    for (std::size_t i = 0; i < pairs; ++i) radius[i] = std::sqrt(-2.0 * std::log(radius[i]));
    for (std::size_t i = 0; i < pairs; ++i) {
      x[2 * i] = radius[i] * std::cos(angle[i]);
      x[2 * i + 1] = radius[i] * std::sin(angle[i]);
    }
  }
  if (!x.empty()) x[0] = stream.normal();
}

std::uint64_t Stream::below(std::uint64_t n) {
  check(n >= 1, "below(n) needs n >= 1");
  // The largest multiple of n that fits: draws above it would favour the small numbers.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
  for (;;) {
    const std::uint64_t draw = bits();
    if (draw < limit) return draw % n;
  }
}

Permutation::Permutation(const Stream::Key& key, std::uint64_t n) : n_(n) {
  check(n >= 1, "a permutation needs at least one element");
  const auto width = static_cast<std::uint32_t>(std::bit_width(n - 1));
  // Halves of a few bits have too few round functions to be nearly uniform; from 256 on they are.
  half_bits_ = std::max(4u, (width + 1) / 2);
  Stream stream(key);
  for (std::uint32_t& round_key : round_keys_) round_key = static_cast<std::uint32_t>(stream.bits());
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  const auto mixed = [](std::uint64_t half, std::uint32_t round_key) {
    // The finaliser of MurmurHash3 (A. Appleby) keyed by the round.
    std::uint64_t x = half ^ (std::uint64_t{round_key} << 17) ^ round_key;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
  };
  do {
    std::uint64_t left = i >> half_bits_;
    std::uint64_t right = i & mask;
    for (const std::uint32_t round_key : round_keys_) {
      const std::uint64_t next = left ^ (mixed(right, round_key) & mask);
      left = right;
      right = next;
    }
    i = (left << half_bits_) | right;
  } while (i >= n_);
  return i;
}

}  // namespace simgrad::base
