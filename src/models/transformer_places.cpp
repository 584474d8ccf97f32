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
  /// Matrices of one size, one behind the other, then their biases.
  std::vector<LinearPlace> linears(std::int64_t count, std::int64_t outputs, std::int64_t inputs) {
    std::vector<LinearPlace> places;
    for (std::int64_t i = 0; i < count; ++i)
      places.push_back({.outputs = outputs, .inputs = inputs, .matrix = next(outputs * inputs)});
    if (shape_.biases)
      for (LinearPlace& place : places) place.biases = next(outputs);
    return places;
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

PartRange all_parts(const TransformerShape& shape) { return {0, 2 * shape.layers + 2}; }

TransformerPlaces::TransformerPlaces(const TransformerShape& shape, PartRange parts, const TransformerShare& its_share,
                                     int expert)
    : share(its_share) {
  Stretches w(shape);
  const std::int64_t h = shape.hidden, f = share.feed_forward.count, head_part = 2 * shape.layers + 1;
  const std::int64_t q = share.heads_width(shape);
  for (std::int64_t part = parts.first; part < parts.end; ++part)
    if (part == 0) {
      embedding = w.next(share.vocabulary.count * h);
      if (shape.positions == Positions::learned) positions = w.next(shape.sequence * h);
    } else if (part == head_part) {
      const bool looks_up = shape.tied && embedding != nowhere;
      head = {.outputs = share.vocabulary.count, .inputs = h};
      head.matrix = looks_up ? embedding : w.next(head.outputs * h);
      last_norm = w.norm();
    } else if (part % 2 == 1) {
      BlockPlaces& place = blocks.emplace_back();
      place.attention_in = w.linear(q + 2 * share.kv_width(shape), h);
      place.attention_norm = w.norm();
      place.attention_out = w.linear(h, q);
    } else if (BlockPlaces& place = blocks.empty() ? blocks.emplace_back() : blocks.back();
               shape.has_experts(part / 2 - 1)) {
      place.router = {.outputs = shape.experts, .inputs = h, .matrix = w.next(shape.experts * h)};
      place.feed_forward_norm = w.norm();
      place.experts_in = w.linears(shape.experts / expert, shape.gated ? 2 * f : f, h);
      place.experts_out = w.linears(shape.experts / expert, h, f);
    } else {
      place.feed_forward_in = w.linear(shape.gated ? 2 * f : f, h);
      place.feed_forward_norm = w.norm();
      place.feed_forward_out = w.linear(h, f);
    }
  parameters = w.next(0);
}

}  // namespace simgrad::models
