/// A transformer's shape in a Hugging Face config.json.
#pragma once

#include <string>

#include "base/describe.h"
#include "models/transformer_shape.h"

namespace simgrad::models {

/// The bounds of a shape's numbers, whether options or a file give them.
struct ShapeBounds {
  base::Bounds layers = base::Bounds::between(1, 10'000);
  base::Bounds hidden = base::Bounds::between(1, 1e6);
  base::Bounds heads = base::Bounds::between(1, 1e5);  ///< of queries, of keys and values
  base::Bounds feed_forward = base::Bounds::between(1, 1e7);
  base::Bounds sequence = base::Bounds::between(1, 1e8);
  base::Bounds vocabulary = base::Bounds::between(2, 1e8);
};
inline constexpr ShapeBounds shape_bounds;

/// Reads the keys of gpt2, llama, mistral, qwen2, gpt_neox, bloom and opt, as the library `transformers` names them.
/// Keys that a kind may leave out have that library's defaults. The sequence is the longest that the file allows.
/// Attention is fused, as it is in that library today.
/// Errors: EnvironmentError for a file that cannot be read. ScenarioError `file[:line:column]: what was found, what was
/// expected` for a text that is no JSON, another model_type, a missing key, a wrong value, one outside of
/// shape_bounds, or a shape that TransformerShape does not describe.
TransformerShape shape_in_config(const std::string& path);

}  // namespace simgrad::models
