/// The shape of a decoder-only transformer, and the layers that follow from it.
///
/// Source: A. Vaswani et al., "Attention Is All You Need", 2017; A. Radford et al., "Language Models are Unsupervised
/// Multitask Learners", 2019 (norms before each part, GELU, learned positions); N. Shazeer, "GLU Variants Improve
/// Transformer", 2020 (gated); J. Ainslie et al., "GQA", 2023 (kv_heads).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/cut_model.h"
#include "models/model.h"

namespace simgrad::models {

enum class Norm { layer_norm, rms_norm };
enum class Positions { learned, rotary, none };

/// w holds, in this order (matrices row by row, (outputs x inputs) as PyTorch's Linear keeps them):
///   unit 0              the embedding (vocabulary x hidden), then learned positions (sequence x hidden), then the
///                       embedding's norm, where there is one
///   unit 1 .. layers    a block, as four layers:
///       attention in       (hidden + 2 kv_width x hidden): rows of q, then k, then v; biases; the gains of the norm
///                          before it, and its biases where it is a layer norm
///       attention out      (hidden x hidden); biases
///       feed-forward in    (feed_forward x hidden), gated: the gate's rows, then those that it multiplies; biases; the
///                          norm before it, as above
///       feed-forward out   (hidden x feed_forward); biases
///     a block of experts has in place of the last two:
///       router             (experts x hidden); the norm before it
///       experts in         every expert's matrix as feed-forward in, one behind the other; their biases
///       experts out        every expert's matrix as feed-forward out; their biases
///   unit layers + 1     the head: (vocabulary x hidden) unless tied to the embedding; the last norm
struct TransformerShape {
  std::int64_t layers = 2;
  std::int64_t hidden = 64;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 4;  ///< divides heads; fewer than heads: several share keys and values
  std::int64_t feed_forward = 256;
  bool gated = false;          ///< SwiGLU instead of GELU
  std::int64_t sequence = 64;  ///< tokens that one sample predicts
  std::int64_t vocabulary = 256;
  bool tied = true;    ///< the head multiplies by the embedding
  bool biases = true;  ///< of the matrices
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;

  // Experts in place of a feed-forward part; transformer_router.h has their rules. 0: none.
  std::int64_t experts = 0;
  std::int64_t top_k = 2;  ///< experts of a token
  double capacity_factor = 1.25;
  bool pad_experts = false;       ///< experts compute and send their whole capacity: places without tokens, too
  double auxiliary_loss = 0.01;   ///< the auxiliary loss's weight
  std::int64_t expert_every = 1;  ///< of so many blocks the last one has experts

  // These change times and memory alone, and numbers_refusal() names those that the kernels do not compute.
  double expert_skew = 1.0;      ///< choices of the most chosen expert over the mean: chosen_loads()
  bool qkv_biases = false;       ///< beside biases = false: q, k and v have biases all the same (Qwen2)
  bool embedding_norm = false;   ///< a norm behind the embedding (BLOOM)
  bool dropout = false;          ///< behind the embedding, attention's softmax and each part: masks of a byte a number
  bool fused_attention = false;  ///< scores are made again in the backward pass instead of kept (T. Dao et al., 2022)
  bool causal = true;            ///< tokens attend to no later ones: a fused attention does half of the work

  /// Whether block 0, 1, ... has experts.
  bool has_experts(std::int64_t block) const { return experts > 0 && (block + 1) % expert_every == 0; }
  std::int64_t head_width() const { return hidden / heads; }
  std::int64_t kv_width() const { return kv_heads * head_width(); }  ///< of all keys, and of all values
  std::int64_t norm_parameters() const { return norm == Norm::layer_norm ? 2 * hidden : hidden; }
};

/// A tensor rank's part of the products that ranks share: whole heads of keys and values with the heads that they
/// serve, columns of the feed-forward parts, and tokens of the vocabulary.
struct TransformerShare {
  ParameterStretch kv_heads, feed_forward, vocabulary;
  std::int64_t heads = 0;  ///< those of queries

  std::int64_t kv_width(const TransformerShape& shape) const { return kv_heads.count * shape.head_width(); }
  std::int64_t heads_width(const TransformerShape& shape) const { return heads * shape.head_width(); }
};
TransformerShare share_of(const TransformerShape& shape, const Chunk& chunk);

/// The vocabulary that tensor ranks share in equal parts: the model's, if it divides; else the next multiple of 128
/// tokens a rank, or of one token a rank where a rank would have nothing but padding. Padding is neither stored nor
/// computed: the last ranks have so many tokens fewer, and wait for the others. Source: M. Shoeybi et al.,
/// "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism", 2019, section 5.1.
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

/// All layers in forward order, with names, units, products and what is kept of a sequence.
///
/// Flops are those of the products: forward 2 a token and parameter of a matrix, 4 s h a token and layer for
/// attention's scores and their application, 2 h V a token for the head; twice that backward. The masked half of the
/// scores is counted, as the published counts have it; a fused attention does not compute it, and takes no time for it.
/// `kept` follows V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023, section
/// 4: s h (34 + 5 a s / h) bytes a layer in half precision with dropout and without gating. Left out are a norm's two
/// statistics a token, and the sums of a fused softmax. Logits are kept in float32, whatever the format.
std::vector<Layer> layers(const TransformerShape& shape);
/// The layers of a chunk, as one of its tensor ranks holds and computes them: products and what is kept of them are
/// divided. Norms, dropouts behind sums and residual sums are work of every rank; sequence_parallel divides them by
/// tokens. So s h (10 + 24 / t + 5 a s / (h t)) bytes a layer are kept, with sequence_parallel s h / t (34 + 5 a s / h)
/// (Korthikanti et al., as above). Context ranks have their share of the tokens: of all work, and of what is kept. A
/// rank's share of the experts has the tokens of all ranks that share them, so that its work for one of its own samples
/// is that of all experts. The last chunk's copy of a tied embedding is a part of the head.
std::vector<Layer> layers(const TransformerShape& shape, const Chunk& chunk);
/// The whole model as one chunk.
Chunk whole(const TransformerShape& shape);
std::int64_t parameters(const TransformerShape& shape);
/// The choices of each expert over the mean, from the most chosen one on: they fall by one ratio, so that the first is
/// expert_skew. Those above capacity_factor are dropped.
std::vector<double> chosen_loads(const TransformerShape& shape);
/// The tokens of a sample of one context rank that some experts take, as a run of times alone assumes.
double assumed_tokens(const TransformerShape& shape, const Chunk& chunk, std::int64_t first, std::int64_t count);
/// Whether there are experts that compute and send the tokens that they take, and no others.
bool times_follow_routing(const TransformerShape& shape);
/// Nothing without experts. Of each expert's choices those beyond its capacity are dropped.
std::optional<AssumedChoices> assumed_choices(const TransformerShape& shape);
/// The reason why no transformer has this shape, with what would do; or empty.
std::string refusal(const TransformerShape& shape);
/// The reason why a transformer of this shape can be timed but not computed, with what would do; or empty.
std::string numbers_refusal(const TransformerShape& shape);

}  // namespace simgrad::models
