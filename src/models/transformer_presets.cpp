/// Published transformers. The parameters that follow from these shapes are the published ones; tests hold them.
#include "models/transformer_options.h"

namespace simgrad::models {

namespace {

/// GPT: learned positions, a tied head, biases, GELU.
TransformerShape gpt_shape(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
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

/// LLaMA: SwiGLU, root mean square norms, rotary positions, no biases, a head of its own, fused attention.
TransformerShape llama_shape(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
                             std::int64_t feed_forward, std::int64_t sequence, std::int64_t vocabulary) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads,
          .feed_forward = feed_forward,
          .gated = true,
          .sequence = sequence,
          .vocabulary = vocabulary,
          .tied = false,
          .biases = false,
          .norm = Norm::rms_norm,
          .positions = Positions::rotary,
          .fused_attention = true};
}

TransformerShape bloom_shape() {
  TransformerShape shape = gpt_shape(70, 14336, 112, 2048, 250880);
  shape.positions = Positions::none;
  shape.embedding_norm = true;
  shape.dropout = false;
  return shape;
}

TransformerShape gpt_neox_shape() {
  TransformerShape shape = gpt_shape(44, 6144, 64, 2048, 50432);
  shape.positions = Positions::rotary;
  shape.tied = false;
  shape.dropout = false;
  return shape;
}

}  // namespace

const std::vector<PresetEntry>& transformer_presets() {
  static const std::vector<PresetEntry> presets{
      {{"gpt2", "124 M parameters; A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019"},
       gpt_shape(12, 768, 12, 1024, 50257)},
      {{"gpt2_medium", "355 M; as gpt2"}, gpt_shape(24, 1024, 16, 1024, 50257)},
      {{"gpt2_large", "774 M; as gpt2"}, gpt_shape(36, 1280, 20, 1024, 50257)},
      {{"gpt2_xl", "1.6 B; as gpt2"}, gpt_shape(48, 1600, 25, 1024, 50257)},
      {{"gpt3_175b", "174.6 B; T. Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1"},
       gpt_shape(96, 12288, 96, 2048, 50257)},
      {{"megatron_22b", "V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023"},
       gpt_shape(48, 6144, 64, 2048, 51200)},
      {{"megatron_175b", "as megatron_22b"}, gpt_shape(96, 12288, 96, 2048, 51200)},
      {{"megatron_530b", "as megatron_22b; MT-NLG, S. Smith et al., 2022"}, gpt_shape(105, 20480, 128, 2048, 51200)},
      {{"megatron_1t", "as megatron_22b"}, gpt_shape(128, 25600, 160, 2048, 51200)},
      {{"bloom_176b", "176.2 B; BigScience, BLOOM: A 176B-Parameter Open-Access Multilingual Language Model, 2022"},
       bloom_shape()},
      {{"gpt_neox_20b", "20.6 B; S. Black et al., GPT-NeoX-20B, 2022"}, gpt_neox_shape()},
      {{"llama2_7b", "6.74 B; H. Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023"},
       llama_shape(32, 4096, 32, 32, 11008, 4096, 32000)},
      {{"llama2_13b", "13.0 B; as llama2_7b"}, llama_shape(40, 5120, 40, 40, 13824, 4096, 32000)},
      {{"llama2_70b", "69.0 B; as llama2_7b"}, llama_shape(80, 8192, 64, 8, 28672, 4096, 32000)},
      {{"llama3_8b", "8.03 B; A. Grattafiori et al., The Llama 3 Herd of Models, 2024, table 3"},
       llama_shape(32, 4096, 32, 8, 14336, 8192, 128256)},
      {{"llama3_70b", "70.6 B; as llama3_8b"}, llama_shape(80, 8192, 64, 8, 28672, 8192, 128256)},
      {{"llama3_405b", "405.9 B; as llama3_8b"}, llama_shape(126, 16384, 128, 8, 53248, 8192, 128256)},
      {{"mistral_7b", "7.24 B; A. Jiang et al., Mistral 7B, 2023"}, llama_shape(32, 4096, 32, 8, 14336, 8192, 32000)},
  };
  return presets;
}

}  // namespace simgrad::models
