#include "models/profiles/bert_large.h"

#include "models/transformer_shape.h"

namespace simgrad::models {

namespace {

constexpr std::int64_t bert_places = 512, bert_segments = 2;

/// The pooler, and the heads of the pretraining.
Layer bert_head(const TransformerShape& shape, bool heads) {
  const std::int64_t hidden = shape.hidden, vocabulary = shape.vocabulary;
  const auto s = static_cast<double>(shape.sequence), h = static_cast<double>(hidden);
  const auto V = static_cast<double>(vocabulary);
  Layer layer{.count = hidden * hidden + hidden, .rows = hidden, .columns = hidden};
  layer.name = heads ? "pooler and heads" : "pooler";
  layer.unit = shape.layers + 1;
  layer.products = {{.m = 1.0, .n = h, .k = h}};
  layer.entrance = s * h;
  layer.kept.numbers = 2.0 * h;  // of the first token
  layer.elementwise = 2.0 * h;
  if (heads) {
    layer.count += hidden * hidden + hidden + 2 * hidden + vocabulary + 2 * hidden + 2;
    layer.products.push_back({.m = s, .n = h, .k = h});
    layer.products.push_back({.m = s, .n = V, .k = h});
    layer.products.push_back({.m = 1.0, .n = 2.0, .k = h});
    layer.kept.numbers += 4.0 * s * h;   // inputs of the dense layer, GELU, the norm and the last product
    layer.kept.bytes = 4.0 * s * V;      // logits in float32
    layer.backward_bytes = 4.0 * s * V;  // and their gradient
    layer.elementwise += (2.0 + 2.0) * s * h + 2.0 * s * V;
  }
  for (const Product& product : layer.products) layer.forward_flops += product.flops();
  layer.backward_flops = 2.0 * layer.forward_flops;
  return layer;
}

}  // namespace

void BertLarge::describe(base::Describer& d) {
  d.integer("sequence", sequence, "tokens of a sample", base::Bounds::between(1, bert_places));
  d.flag("heads", heads, "whether the heads of the pretraining (masked tokens, next sentence) are part of it");
  d.flag("dropout", dropout, "whether dropout's masks are made and kept, with one byte per number");
  d.flag("fused_attention", fused_attention,
         "attention keeps no scores and makes them again in the backward pass (T. Dao et al., FlashAttention, 2022)");
}

std::vector<Layer> BertLarge::profile() const {
  const TransformerShape shape{.layers = 24,
                               .hidden = 1024,
                               .heads = 16,
                               .kv_heads = 16,
                               .feed_forward = 4096,
                               .sequence = sequence,
                               .vocabulary = 30522,
                               .positions = Positions::none,
                               .embedding_norm = true,
                               .dropout = dropout,
                               .fused_attention = fused_attention,
                               .causal = false};
  std::vector<Layer> all = models::layers(shape);
  const std::int64_t places = (bert_places + bert_segments) * shape.hidden;
  all.front().count += places;
  all.front().elementwise += 2.0 * static_cast<double>(sequence * shape.hidden);  // places and segments added
  for (std::size_t i = 1; i < all.size(); ++i) all[i].first += places;
  const std::int64_t first = all.back().first;
  all.back() = bert_head(shape, heads);
  all.back().first = first;
  return all;
}

}  // namespace simgrad::models
