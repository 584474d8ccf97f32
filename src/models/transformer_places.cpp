#include "models/transformer_places.h"

namespace simgrad::models {

namespace {

/// Hands out stretches of w, one after another.
class Stretches {
 public:
  explicit Stretches(const TransformerShape& shape) : shape_(shape) {}

  std::int64_t next(std::int64_t count) {
    const std::int64_t first = next_;
    next_ += count;
    return first;
  }
  LinearPlace linear(std::int64_t outputs, std::int64_t inputs) {
    LinearPlace place{.outputs = outputs, .inputs = inputs, .matrix = next(outputs * inputs)};
    if (shape_.biases) place.biases = next(outputs);
    return place;
  }
  NormPlace norm() {
    NormPlace place{.gains = next(shape_.hidden)};
    if (shape_.norm == Norm::layer_norm) place.biases = next(shape_.hidden);
    return place;
  }

 private:
  const TransformerShape& shape_;
  std::int64_t next_ = 0;
};

}  // namespace

TransformerPlaces::TransformerPlaces(const TransformerShape& shape) {
  Stretches w(shape);
  const std::int64_t h = shape.hidden, f = shape.feed_forward;
  embedding = w.next(shape.vocabulary * h);
  if (shape.positions == Positions::learned) positions = w.next(shape.sequence * h);
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    BlockPlaces& place = blocks.emplace_back();
    place.attention_in = w.linear(h + 2 * shape.kv_width(), h);
    place.attention_norm = w.norm();
    place.attention_out = w.linear(h, h);
    place.feed_forward_in = w.linear(shape.gated ? 2 * f : f, h);
    place.feed_forward_norm = w.norm();
    place.feed_forward_out = w.linear(h, f);
  }
  head = {.outputs = shape.vocabulary, .inputs = h, .matrix = shape.tied ? embedding : w.next(shape.vocabulary * h)};
  last_norm = w.norm();
  parameters = w.next(0);
}

}  // namespace simgrad::models
