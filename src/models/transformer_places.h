/// Where the matrices, biases and norms of a transformer stand in w. transformer_shape.h says their order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/transformer_shape.h"

namespace simgrad::models {

constexpr std::int64_t nowhere = -1;

/// A matrix (outputs x inputs) and its biases.
struct LinearPlace {
  std::int64_t outputs = 0, inputs = 0;
  std::int64_t matrix = 0;
  std::int64_t biases = nowhere;
};

struct NormPlace {
  std::int64_t gains = 0;
  std::int64_t biases = nowhere;
};

struct BlockPlaces {
  LinearPlace attention_in, attention_out, feed_forward_in, feed_forward_out;
  NormPlace attention_norm, feed_forward_norm;  ///< before the two parts
  // A block of experts has these instead of the feed-forward part's two.
  LinearPlace router;
  std::vector<LinearPlace> experts_in, experts_out;
};

/// The parts of a transformer in forward order: 0 the embedding, 1 + 2 b and 2 + 2 b the attention and the feed-forward
/// part of block b, then the head.
struct PartRange {
  std::int64_t first = 0, end = 0;
};
PartRange all_parts(const TransformerShape& shape);

struct TransformerPlaces {
  explicit TransformerPlaces(const TransformerShape& shape) : TransformerPlaces(shape, all_parts(shape)) {}
  /// The places of some parts that stand one behind the other.
  TransformerPlaces(const TransformerShape& shape, PartRange parts)
      : TransformerPlaces(shape, parts, share_of(shape, whole(shape))) {}
  /// The places of such parts with a tensor rank's share of the products, and of the experts that `expert` ranks share.
  /// A tied head without the embedding has a copy of it where an untied head has its matrix.
  TransformerPlaces(const TransformerShape& shape, PartRange parts, const TransformerShare& share, int expert = 1);

  std::int64_t embedding = nowhere;
  std::int64_t positions = nowhere;
  std::vector<BlockPlaces> blocks;  ///< the first may lack its attention's places, the last its feed-forward part's
  LinearPlace head;                 ///< its matrix may be the embedding
  NormPlace last_norm;
  std::int64_t parameters = 0;
  TransformerShare share;
};

}  // namespace simgrad::models
