#include "models/transformer_options.h"

#include <array>

#include "base/errors.h"
#include "models/transformer_config.h"

namespace simgrad::models {

namespace {

constexpr std::array norms{base::Choice{"layer_norm", "mean and variance, with gains and biases"},
                           base::Choice{"rms_norm", "the root mean square, with gains (B. Zhang, R. Sennrich, 2019)"}};
constexpr std::array position_kinds{
    base::Choice{"learned", "a learned vector for each position, added to the embedding"},
    base::Choice{"rotary", "q and k are turned by angles (J. Su et al., RoFormer, 2021)"},
    base::Choice{"none", "no parameters and no work: none, or biases of the scores (O. Press et al., ALiBi, 2022)"}};

/// A preset's numbers become the defaults of the options that are read after it.
void take_preset(base::Describer& d, TransformerOptions& options) {
  static const std::vector<base::Choice> names = [] {
    std::vector<base::Choice> all;
    for (const PresetEntry& entry : transformer_presets()) all.push_back(entry.name);
    return all;
  }();
  d.choice("preset", options.preset, {"none", "the options of [model] alone"}, names,
           "a published transformer whose numbers replace the defaults below");
  if (options.preset == options.preset_taken || !options.preset) return;
  options.preset_taken = options.preset;
  options.take(transformer_presets().at(static_cast<std::size_t>(*options.preset)).shape);
}

void take_config(base::Describer& d, TransformerOptions& options) {
  d.path("config", options.config,
         "a Hugging Face config.json (gpt2, llama, mistral, qwen2, gpt_neox, bloom, opt) whose numbers replace the "
         "defaults below");
  if (options.config.empty() || options.config == options.config_taken) return;
  if (options.preset)
    return d.refuse("config", "a config and a preset both give the transformer's shape; leave one of them out");
  try {
    options.take(shape_in_config(options.config));
    options.config_taken = options.config;
  } catch (const base::ScenarioError& error) {
    d.refuse("config", error.what());
  }
}

void describe_experts(base::Describer& d, TransformerOptions& options) {
  using base::Bounds;
  d.integer("experts", options.experts,
            "the number of experts of a block: feed-forward parts among which a router chooses for each token; 0: one "
            "part, without a router",
            Bounds::between(0, 10'000));
  d.integer("top_k", options.top_k, "the number of experts to which a token is sent; unused without experts",
            Bounds::between(1, 10'000));
  d.number(
      "capacity_factor", options.capacity_factor,
      "the most tokens of a sequence that an expert takes, as a multiple of its even share; later tokens are dropped",
      Bounds{.least = 0.0, .most = 1e6, .positive = true});
  d.flag("pad_experts", options.pad_experts,
         "whether experts compute and send their whole capacity, however many tokens they got: static shapes, as in "
         "GShard and DeepSpeed-MoE; false: only the tokens that they take, as in Megatron-LM, and on the ranks of a "
         "cut model the router's choices decide how long each works");
  d.number("auxiliary_loss", options.auxiliary_loss,
           "the weight of the loss that grows with uneven shares of the experts (W. Fedus et al., 2021)",
           Bounds::at_least(0.0));
  d.integer("expert_every", options.expert_every,
            "the interval of blocks with experts: 1: every block has them, 2: every second one",
            Bounds::between(1, 10'000));
  d.number("expert_skew", options.expert_skew,
           "timing only: how often the busiest expert is chosen, as a multiple of the mean; the others are chosen less "
           "often by a constant ratio, and choices above capacity_factor are dropped",
           Bounds::between(1, 10'000));
}

/// The option of a shape that is refused.
const char* faulty_option(const TransformerOptions& options) {
  if (options.hidden % options.heads != 0) return "heads";
  if (options.heads % options.kv_heads.value_or(options.heads) != 0) return "kv_heads";
  if (options.experts > 0 && options.top_k > options.experts) return "top_k";
  return options.expert_skew > 1.0 ? "expert_skew" : "kv_heads";
}

}  // namespace

TransformerShape TransformerOptions::shape(std::int64_t vocabulary_of_data) const {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads.value_or(heads),
          .feed_forward = feed_forward.value_or(4 * hidden),
          .gated = gated,
          .sequence = sequence,
          .vocabulary = vocabulary.value_or(vocabulary_of_data),
          .tied = tied,
          .biases = biases,
          .norm = norm,
          .positions = positions,
          .experts = experts,
          .top_k = top_k,
          .capacity_factor = capacity_factor,
          .pad_experts = pad_experts,
          .auxiliary_loss = auxiliary_loss,
          .expert_every = expert_every,
          .expert_skew = expert_skew,
          .qkv_biases = qkv_biases,
          .embedding_norm = embedding_norm,
          .dropout = dropout,
          .fused_attention = fused_attention};
}

void TransformerOptions::take(const TransformerShape& shape) {
  layers = shape.layers;
  hidden = shape.hidden;
  heads = shape.heads;
  kv_heads = shape.kv_heads;
  feed_forward = shape.feed_forward;
  gated = shape.gated;
  sequence = shape.sequence;
  vocabulary = shape.vocabulary;
  tied = shape.tied;
  biases = shape.biases;
  norm = shape.norm;
  positions = shape.positions;
  experts = shape.experts;
  top_k = shape.top_k;
  capacity_factor = shape.capacity_factor;
  pad_experts = shape.pad_experts;
  auxiliary_loss = shape.auxiliary_loss;
  expert_every = shape.expert_every;
  expert_skew = shape.expert_skew;
  qkv_biases = shape.qkv_biases;
  embedding_norm = shape.embedding_norm;
  dropout = shape.dropout;
  fused_attention = shape.fused_attention;
}

void describe_shape(base::Describer& d, TransformerOptions& options) {
  take_preset(d, options);
  take_config(d, options);
  d.integer("layers", options.layers, "the number of blocks of attention and feed-forward parts", shape_bounds.layers);
  d.integer("hidden", options.hidden, "the width of the blocks: the numbers of a token between them",
            shape_bounds.hidden);
  d.integer("heads", options.heads, "the number of heads of attention, a divisor of hidden", shape_bounds.heads);
  d.integer("kv_heads", options.kv_heads, "the number of heads of keys and values, a divisor of heads (default heads)",
            shape_bounds.heads);
  d.integer("feed_forward", options.feed_forward, "the inner width of the feed-forward part (default 4 hidden)",
            shape_bounds.feed_forward);
  d.flag("gated", options.gated, "SwiGLU, with a third matrix, instead of GELU (N. Shazeer, 2020)");
  describe_experts(d, options);
  d.integer("sequence", options.sequence, "the number of tokens that a sample predicts", shape_bounds.sequence);
  d.integer("vocabulary", options.vocabulary,
            "the number of different tokens (default: that of the data; a timing-only run needs it)",
            shape_bounds.vocabulary);
  d.flag("tied", options.tied, "whether the head multiplies by the embedding");
  d.flag("bias", options.biases, "whether the blocks' products add biases");
  d.flag("qkv_biases", options.qkv_biases, "whether q, k and v have biases even if bias = false (Qwen2); timing only");
  d.choice("norm", options.norm, norms, "the norm before each part and before the head");
  d.choice("positions", options.positions, position_kinds, "how the positions of tokens are encoded");
  d.flag("embedding_norm", options.embedding_norm, "whether a norm follows the embedding (BLOOM); timing only");
  d.flag("dropout", options.dropout,
         "whether dropout's masks are made and kept, with one byte per number; timing and memory only");
  d.flag("fused_attention", options.fused_attention,
         "attention keeps no scores and makes them again in the backward pass; a device with attention_efficiency "
         "skips the half that its mask hides (T. Dao "
         "et al., FlashAttention, 2022); timing and memory only");
  if (const std::string why = refusal(options.shape(2)); !why.empty()) d.refuse(faulty_option(options), why);
}

}  // namespace simgrad::models
