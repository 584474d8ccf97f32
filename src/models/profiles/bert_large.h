/// BERT-large, for timing-only runs.
#pragma once

#include "models/profiles/profiled_model.h"

namespace simgrad::models {

/// 24 layers of 1024 numbers a token and 16 heads, the embedding (30522 tokens, 512 places, 2 segments, a norm), and
/// the pooler (1024 x 1024, on the first token). With heads, those of the pretraining: a dense layer and a norm on
/// every token, the product with the embedding and its biases, and two outputs of the pooler. The norms stand behind
/// the parts, which changes neither parameters nor work.
class BertLarge final : public ProfiledModel {
 public:
  static constexpr base::About about{
      .kind = "bert_large",
      .summary = "BERT-large, timing only: 335 M parameters, 336 M with the heads of the pretraining.",
      .cost = "2 flops a token and parameter of a matrix, 4 s h a token and layer of attention; twice that backward",
      .source = "J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2019"};

  std::int64_t sequence = 512;
  bool heads = true;
  bool dropout = true;
  bool fused_attention = false;

  void describe(base::Describer& d) override;
  /// Two bytes a token.
  std::int64_t sample_bytes(const Problem&) const override { return 2 * sequence; }
  std::vector<Layer> profile() const override;

 protected:
  std::string_view kind() const override { return about.kind; }
};

}  // namespace simgrad::models
