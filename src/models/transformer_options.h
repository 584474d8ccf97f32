/// The options of a transformer: its shape by a preset's name, by a Hugging Face config.json, or number by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.h"
#include "models/transformer_shape.h"

namespace simgrad::models {

/// The number of a preset in transformer_presets().
enum class TransformerPreset : int {};

/// A published transformer.
struct PresetEntry {
  base::Choice name;       ///< with its source
  TransformerShape shape;  ///< its training's sequence, dropout and attention included
};
const std::vector<PresetEntry>& transformer_presets();

struct TransformerOptions {
  std::optional<TransformerPreset> preset;
  std::string config;  ///< the file; empty: none
  std::int64_t layers = 2;
  std::int64_t hidden = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> kv_heads;      ///< default heads
  std::optional<std::int64_t> feed_forward;  ///< default 4 hidden
  bool gated = false;
  std::int64_t sequence = 64;
  std::optional<std::int64_t> vocabulary;  ///< default the data's
  std::int64_t experts = 0;
  std::int64_t top_k = 2;
  double capacity_factor = 1.25;
  bool pad_experts = false;
  double auxiliary_loss = 0.01;
  std::int64_t expert_every = 1;
  double expert_skew = 1.0;
  bool tied = true;
  bool biases = true;
  bool qkv_biases = false;
  bool embedding_norm = false;
  bool dropout = false;
  bool fused_attention = false;
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;

  /// The shape; a vocabulary that is not given is the data's.
  TransformerShape shape(std::int64_t vocabulary_of_data = 0) const;
  /// Takes all numbers from a shape.
  void take(const TransformerShape& shape);

  /// The preset and the file whose numbers the options have, so that options beside them keep their own values.
  std::optional<TransformerPreset> preset_taken = {};
  std::string config_taken = {};
};

/// Describes the options. A preset or a config.json replaces the defaults; each option beside it replaces one number.
/// Errors: EnvironmentError for a file that cannot be opened.
void describe_shape(base::Describer& d, TransformerOptions& options);

}  // namespace simgrad::models
