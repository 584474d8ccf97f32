// Shapes of transformers that several tests count.
#pragma once

#include "models/transformer_shape.h"

namespace simgrad::models::test {

/// GPT as V. Korthikanti et al. (2023) count it.
inline TransformerShape gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
                            std::int64_t vocabulary) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = heads,
          .feed_forward = 4 * hidden,
          .sequence = sequence,
          .vocabulary = vocabulary,
          .dropout = true};
}

/// With gated parts, shared keys and values, and rotary positions, as in Llama.
inline TransformerShape small_llama(std::int64_t heads, std::int64_t kv_heads) {
  return {.layers = 3,
          .hidden = 48,
          .heads = heads,
          .kv_heads = kv_heads,
          .feed_forward = 128,
          .gated = true,
          .sequence = 20,
          .vocabulary = 100,
          .tied = false,
          .biases = false,
          .norm = Norm::rms_norm,
          .positions = Positions::rotary,
          .fused_attention = true};
}

}  // namespace simgrad::models::test
