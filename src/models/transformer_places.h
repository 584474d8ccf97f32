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
};

struct TransformerPlaces {
  explicit TransformerPlaces(const TransformerShape& shape);

  std::int64_t embedding = 0;
  std::int64_t positions = nowhere;
  std::vector<BlockPlaces> blocks;
  LinearPlace head;  ///< its matrix may be the embedding
  NormPlace last_norm;
  std::int64_t parameters = 0;
};

}  // namespace simgrad::models
