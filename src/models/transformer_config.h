/// A transformer's shape in a Hugging Face config.json.
#pragma once

#include <string>

#include "models/transformer_shape.h"

namespace simgrad::models {

/// Reads the keys of gpt2, llama, mistral, qwen2, gpt_neox, bloom and opt, as the library `transformers` names them.
/// Keys that a kind may leave out have that library's defaults. The sequence is the longest that the file allows.
/// Attention is fused, as it is in that library today.
/// Errors: EnvironmentError for a file that cannot be read. ScenarioError `file[:line:column]: what was found, what was
/// expected` for a text that is no JSON, another model_type, a missing key, a wrong value, or a shape that
/// TransformerShape does not describe.
TransformerShape shape_in_config(const std::string& path);

}  // namespace simgrad::models
