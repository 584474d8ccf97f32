/// The parameters that each of s servers holds.
///
/// Source: M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014 (ranges of keys);
/// by hash of the key: J. Dean et al., "Large Scale Distributed Deep Networks", NIPS 2012, and many after it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "values/dispatcher.h"
#include "values/tensor.h"

namespace simgrad::training {

enum class Sharding {
  range,  ///< s contiguous stretches whose lengths differ by at most one
  hash,   ///< each parameter by a fixed hash of its place: the lengths are as hashing gives them
  keys,   ///< a table's rows by their keys, equally many each (SparseLearning deals them)
  none    ///< every server holds all of them
};

/// Deals the parameters to s servers. One server holds all of them, as they are.
class Shards {
 public:
  struct Stretch {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  Shards(Sharding sharding, int servers, std::int64_t parameters, values::Dispatcher& dispatcher);
  /// Every server has a range of each piece, one behind the other.  lengths: of the pieces, in the order of the
  /// parameters.
  Shards(int servers, const std::vector<std::int64_t>& lengths, values::Dispatcher& dispatcher);

  int servers() const { return static_cast<int>(first_.size()) - 1; }
  std::int64_t count(int server) const;
  /// The first parameter of a server's part, among all as they are dealt.
  std::int64_t first(int server) const { return first_.at(static_cast<std::size_t>(server)); }
  /// Where that piece of a server's part is among the parameters, and where in the part. Only where there are pieces.
  Stretch stretch(int server, std::size_t piece) const;
  Stretch in_part(int server, std::size_t piece) const;
  /// Each server's part of x, in the order of the servers.  x: (d).
  std::vector<values::Tensor> split(const values::Tensor& x) const;
  /// The vector of these parts, one of each server.  Returns (d).
  values::Tensor whole(std::span<const values::Tensor> parts) const;

 private:
  using Order = std::shared_ptr<const std::vector<std::int64_t>>;
  values::Tensor permuted(const char* name, const values::Tensor& x, const Order& order) const;

  std::vector<values::Tensor> split_pieces(const values::Tensor& x) const;
  values::Tensor whole_of_pieces(std::span<const values::Tensor> parts) const;

  values::Dispatcher* dispatcher_;
  std::vector<std::int64_t> first_;   ///< the beginning of each server's part among the dealt ones, and their number
  std::vector<std::int64_t> pieces_;  ///< the beginning of each piece, and their end; empty: one piece
  Order dealt_;                       ///< by place among the dealt: the parameter; null: as they are
  Order place_;                       ///< by parameter: its place among the dealt
};

}  // namespace simgrad::training
