/// Counter-based random streams: a draw depends on its key alone, never on earlier draws.
///
/// Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace simgrad::base {

/// The purpose of a stream: streams of different purposes are independent under one seed.
enum class Purpose : std::uint32_t {
  data,
  split,
  shuffle,
  batch,
  initial_values,
  straggler,
  failure,
  test,
  partition,
  sharding,
  jitter,
  background,
  clients,
  graph,
  pairs,
  compression,
  clicks,
  requests,
  pace,
  faulty
};

/// A stream of Philox4x32-10 draws.
class Stream {
 public:
  struct Key {
    std::uint64_t seed = 0;
    Purpose purpose = Purpose::test;
    std::uint64_t step = 0;
    std::uint32_t rank = 0;
    std::uint16_t attempt = 0;  ///< counts the repetitions of a step after failures
  };
  explicit Stream(const Key& key);

  std::uint64_t bits();                  ///< 64 uniform bits
  double uniform();                      ///< in [0, 1)
  double normal();                       ///< mean 0, standard deviation 1
  std::uint64_t below(std::uint64_t n);  ///< uniform in 0 .. n-1, without bias; n >= 1

 private:
  void refill();

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint64_t, 2> block_{};
  int left_ = 0;
  double spare_normal_ = 0.0;
  bool has_spare_ = false;
};

/// A pseudo-random permutation of 0 .. n-1 by a key, each image computed by itself in O(1): a Feistel network on the
/// smallest even-width power of two (at least 256) that holds n, walked until the image is below n.
/// Source: J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002.
class Permutation {
 public:
  Permutation(const Stream::Key& key, std::uint64_t n);
  std::uint64_t operator()(std::uint64_t i) const;
  std::uint64_t size() const { return n_; }

 private:
  std::uint64_t n_;
  std::uint32_t half_bits_;
  std::array<std::uint32_t, 6> round_keys_{};
};

}  // namespace simgrad::base
