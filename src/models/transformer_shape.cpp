/// The layers of a transformer, counted by hand from its shape.
#include "models/transformer_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/transformer_router.h"

namespace simgrad::models {

namespace {

/// The most parameters: with some bytes each, their number of bytes is still a whole number of 63 bits.
constexpr double transformer_parameters_most = 1e17;

/// Appends layers, each of which begins where the one before ends. Lengths of vectors are a rank's share, as the tokens
/// are; `s_outside` are the tokens outside of products.
class LayersOfTransformer {
 public:
  LayersOfTransformer(const TransformerShape& shape, const Chunk& chunk)
      : shape_(shape),
        chunk_(chunk),
        t_(chunk.tensor),
        s_(static_cast<double>(shape.sequence) / static_cast<double>(chunk.context)),
        keys_(static_cast<double>(shape.sequence)),
        s_outside_(chunk.sequence_parallel ? s_ / static_cast<double>(t_) : s_),
        h_(static_cast<double>(shape.hidden)),
        own_(share_of(shape, chunk)),
        f_(static_cast<double>(own_.feed_forward.count)),
        q_(static_cast<double>(own_.heads_width(shape))),
        kv_(static_cast<double>(own_.kv_width(shape))) {}

  std::vector<Layer> all() {
    for (std::int64_t unit = chunk_.first_unit; unit < chunk_.end_unit; ++unit) {
      if (unit == 0) {
        embedding();
      } else if (unit == shape_.layers + 1) {
        head();
      } else {
        attention_in(unit);
        attention_out(unit);
        if (shape_.has_experts(unit - 1)) {
          experts(unit);
          continue;
        }
        feed_forward_in(unit);
        feed_forward_out(unit);
      }
    }
    return std::move(layers_);
  }

 private:
  /// A layer that begins with a matrix (rows x columns), which multiplies s rows; rows = 0: it has none.
  Layer& add(std::string name, std::int64_t unit, std::int64_t rows, std::int64_t columns, std::int64_t others) {
    Layer layer{.first = next_, .count = rows * columns + others, .rows = rows, .columns = columns};
    layer.name = std::move(name);
    layer.unit = unit - chunk_.first_unit;
    next_ += layer.count;
    return layers_.emplace_back(std::move(layer));
  }
  static void multiply(Layer& layer, const Product& product) {
    layer.products.push_back(product);
    layer.forward_flops += product.flops();
    layer.backward_flops += 2.0 * product.flops();
  }
  Layer& add_block(std::int64_t block, const char* part, std::int64_t rows, std::int64_t columns, bool biases,
                   bool norm) {
    const std::int64_t others = (biases ? rows : 0) + (norm ? shape_.norm_parameters() : 0);
    Layer& layer = add(fmt::format("block {}: {}", block, part), block, rows, columns, others);
    multiply(layer, {.m = s_, .n = static_cast<double>(rows), .k = static_cast<double>(columns)});
    return layer;
  }
  /// A dropout behind n numbers.
  void drop_out(Layer& layer, double n) const {
    if (!shape_.dropout) return;
    layer.elementwise += 2.0 * n;
    layer.kept.bytes += n;
  }

  void embedding() {
    const bool learned = shape_.positions == Positions::learned;
    const std::int64_t others =
        (learned ? shape_.sequence * shape_.hidden : 0) + (shape_.embedding_norm ? shape_.norm_parameters() : 0);
    Layer& layer = add("embedding", 0, own_.vocabulary.count, shape_.hidden, others);
    layer.elementwise = 2.0 * s_ * h_ + (learned ? s_outside_ * h_ : 0.0);
    if (shape_.embedding_norm) {
      layer.elementwise += 2.0 * s_outside_ * h_;
      layer.kept.numbers += s_outside_ * h_;
    }
    drop_out(layer, s_outside_ * h_);
  }

  /// The norm, q, k and v, their scores and the scores' application to v: the backward pass comes to all of these
  /// before the gradient of this matrix.
  void attention_in(std::int64_t block) {
    Layer& layer = add_block(block, "attention in", own_.heads_width(shape_) + 2 * own_.kv_width(shape_), shape_.hidden,
                             shape_.biases || shape_.qkv_biases, true);
    const auto heads = static_cast<double>(own_.heads);
    const auto d = static_cast<double>(shape_.head_width());
    const double scores = heads * s_ * keys_;
    const double visible = shape_.causal ? 0.5 * (keys_ + 1.0) / keys_ : 1.0;
    const double fused = shape_.fused_attention ? visible : 0.0;
    multiply(layer, {.m = s_, .n = keys_, .k = d, .count = heads, .parameters = false, .fused = fused});
    multiply(layer, {.m = s_, .n = d, .k = keys_, .count = heads, .parameters = false, .fused = fused});
    layer.elementwise = 2.0 * s_outside_ * h_;                                              // the norm
    if (shape_.positions == Positions::rotary) layer.elementwise += 2.0 * s_ * (q_ + kv_);  // q and k turned
    layer.entrance = s_outside_ * h_;                                                       // the norm's input
    layer.kept.numbers = s_outside_ * (h_ /* the norm's input */ + h_ /* and output */) + s_ * (q_ + 2.0 * kv_);
    if (shape_.fused_attention) return;
    const double outside_of_core = layer.elementwise;
    layer.elementwise += 2.0 * scores;  // softmax
    layer.selective.numbers = scores;   // its output
    drop_out(layer, scores);
    layer.selective_elementwise = layer.elementwise - outside_of_core;
    if (shape_.dropout) {
      layer.selective.numbers += scores;  // the dropout's output
      layer.selective.bytes = scores;     // its mask, which `kept` has already
    }
    layer.kept.numbers += layer.selective.numbers;
    layer.selective_flops = 4.0 * s_ * keys_ * q_;
  }

  void attention_out(std::int64_t block) {
    Layer& layer = add_block(block, "attention out", shape_.hidden, own_.heads_width(shape_), shape_.biases, false);
    layer.elementwise = 3.0 * s_outside_ * h_;  // the residual sum
    layer.kept.numbers = s_ * q_;               // the product's input
    drop_out(layer, s_outside_ * h_);
  }

  /// The norm, the first product and the activation.
  void feed_forward_in(std::int64_t block) {
    const std::int64_t parts = shape_.gated ? 2 : 1;
    Layer& layer =
        add_block(block, "feed-forward in", parts * own_.feed_forward.count, shape_.hidden, shape_.biases, true);
    const auto inner = static_cast<double>(parts) * f_;
    layer.elementwise = 2.0 * s_outside_ * h_ + s_ * (inner + f_);
    layer.kept.numbers =
        s_outside_ * 2.0 * h_ /* the norm's input and output */ + s_ * inner /* the activation's input */;
  }

  void feed_forward_out(std::int64_t block) {
    Layer& layer = add_block(block, "feed-forward out", shape_.hidden, own_.feed_forward.count, shape_.biases, false);
    layer.elementwise = 3.0 * s_outside_ * h_;
    layer.kept.numbers = s_ * f_;
    drop_out(layer, s_outside_ * h_);
  }

  /// Copies of tokens that some experts take, a sample of this rank, if they were all experts; or their places.
  double copies_taken(std::int64_t first, std::int64_t count) const {
    if (shape_.pad_experts)
      return static_cast<double>(shape_.experts * places_of_expert(shape_, shape_.sequence / chunk_.context));
    return assumed_tokens(shape_, chunk_, first, count) * static_cast<double>(shape_.experts) /
           static_cast<double>(count);
  }

  /// The router and the experts, which take the tokens that chose them up to their capacity. Tokens are copied to their
  /// experts, and the results are added up by weights.
  void experts(std::int64_t block) {
    const auto E = static_cast<double>(shape_.experts);
    const std::int64_t held = shape_.experts / chunk_.expert;  // for the samples of all ranks that share experts
    const double copies = copies_taken(0, shape_.experts), rows = copies_taken(chunk_.expert_rank * held, held);
    Layer& router = add_block(block, "router", shape_.experts, shape_.hidden, false, true);
    router.products.front().half = true;
    router.elementwise = 2.0 * s_outside_ * h_ + 2.0 * s_ * E + 2.0 * copies * h_;  // the norm, the softmax, the copies
    router.kept.numbers = 2.0 * s_outside_ * h_ + keys_ * E;  // p of all tokens, which compete for places
    const std::int64_t parts = shape_.gated ? 2 : 1;
    const auto inner = static_cast<double>(parts) * f_;
    const auto add_experts = [&](const char* part, std::int64_t outputs, std::int64_t inputs) -> Layer& {
      const std::int64_t biases = shape_.biases ? held * outputs : 0;
      Layer& layer = add(fmt::format("block {}: {}", block, part), block, held * outputs, inputs, biases);
      multiply(layer, {.m = rows / static_cast<double>(held),
                       .n = static_cast<double>(outputs),
                       .k = static_cast<double>(inputs),
                       .count = static_cast<double>(held)});
      if (!shape_.pad_experts) layer.expert_tokens = rows;
      return layer;
    };
    Layer& in = add_experts("experts in", parts * own_.feed_forward.count, shape_.hidden);
    in.elementwise = in.expert_elementwise = rows * (inner + f_);
    in.kept.numbers = rows * (h_ /* the copies */ + inner /* the activation's input */);
    Layer& out = add_experts("experts out", shape_.hidden, own_.feed_forward.count);
    out.elementwise = 2.0 * copies * h_ + s_ * h_ + 3.0 * s_outside_ * h_;  // the weighted sum, the residual sum
    out.kept.numbers = rows * f_ + copies * h_ /* the results, for the weights' derivatives */;
    drop_out(out, s_outside_ * h_);
  }

  /// The last norm, the logits and the loss.
  void head() {
    const bool looks_up = shape_.tied && chunk_.first_unit == 0;
    Layer& layer = looks_up
                       ? add("head", shape_.layers + 1, 0, 0, shape_.norm_parameters())
                       : add("head", shape_.layers + 1, own_.vocabulary.count, shape_.hidden, shape_.norm_parameters());
    if (looks_up) layer.tied = own_.vocabulary.count * shape_.hidden;
    const auto V = static_cast<double>(own_.vocabulary.count);
    // Transformer Engine's layers, which have products in float8, are those of the blocks.
    multiply(layer, {.m = s_, .n = V, .k = h_, .half = true});
    layer.elementwise = 2.0 * s_outside_ * h_ + 2.0 * s_ * V;
    layer.entrance = s_outside_ * h_;
    layer.kept = {.numbers = 2.0 * s_outside_ * h_, .bytes = 4.0 * s_ * V};  // logits in float32, as Megatron-LM's are
    layer.backward_bytes = 4.0 * s_ * V;                                     // and their gradient
  }

  const TransformerShape& shape_;
  const Chunk chunk_;
  std::int64_t t_;
  double s_, keys_;  ///< tokens of the rank; those whose keys and values its queries meet
  double s_outside_, h_;
  TransformerShare own_;
  double f_, q_, kv_;
  std::int64_t next_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  if (vocabulary % tensor == 0) return vocabulary;
  const auto above = [&](std::int64_t multiple) { return (vocabulary + multiple - 1) / multiple * multiple; };
  constexpr std::int64_t tokens_a_rank = 128;
  const std::int64_t padded = above(tokens_a_rank * tensor);
  return padded / tensor * (tensor - 1) < vocabulary ? padded : above(tensor);
}

namespace {

/// A rank's tokens of the vocabulary. Every rank has as many of a padded vocabulary, but the last ones are padding
/// alone.
ParameterStretch vocabulary_share(std::int64_t vocabulary, const Chunk& chunk) {
  if (!chunk.tensor_weights.empty()) return tensor_share(chunk, vocabulary);
  const ParameterStretch padded = tensor_share(chunk, padded_vocabulary(vocabulary, chunk.tensor));
  const std::int64_t first = std::min(padded.first, vocabulary);
  return {first, std::min(padded.count, vocabulary - first)};
}

}  // namespace

TransformerShare share_of(const TransformerShape& shape, const Chunk& chunk) {
  TransformerShare share{.kv_heads = tensor_share(chunk, shape.kv_heads),
                         .feed_forward = tensor_share(chunk, shape.feed_forward),
                         .vocabulary = vocabulary_share(shape.vocabulary, chunk)};
  share.heads = share.kv_heads.count * (shape.heads / shape.kv_heads);
  return share;
}

std::vector<Layer> layers(const TransformerShape& shape) { return layers(shape, whole(shape)); }

std::vector<Layer> layers(const TransformerShape& shape, const Chunk& chunk) {
  return LayersOfTransformer(shape, chunk).all();
}

Chunk whole(const TransformerShape& shape) { return {.first_unit = 0, .end_unit = shape.layers + 2}; }

std::int64_t parameters(const TransformerShape& shape) {
  const std::int64_t h = shape.hidden, kv = shape.kv_width(), f = shape.feed_forward, V = shape.vocabulary;
  const std::int64_t first = shape.gated ? 2 * f : f;  // outputs of the first product of the feed-forward part
  const std::int64_t norm = shape.norm_parameters();
  std::int64_t attention = h * (h + 2 * kv) + h * h + norm, feed_forward = h * first + f * h;
  if (shape.biases) {
    attention += (h + 2 * kv) + h;
    feed_forward += first + h;
  } else if (shape.qkv_biases) {
    attention += h + 2 * kv;
  }
  const std::int64_t with_experts = shape.experts > 0 ? shape.layers / shape.expert_every : 0;
  const std::int64_t all_feed_forward =
      (shape.layers - with_experts + with_experts * shape.experts) * feed_forward + with_experts * shape.experts * h;
  return V * h + (shape.positions == Positions::learned ? shape.sequence * h : 0) + (shape.embedding_norm ? norm : 0) +
         shape.layers * (attention + norm) + all_feed_forward + norm + (shape.tied ? 0 : V * h);
}

std::vector<double> chosen_loads(const TransformerShape& shape) {
  std::vector<double> loads(static_cast<std::size_t>(shape.experts), 1.0);
  const auto E = static_cast<double>(shape.experts);
  const auto sum = [&](double ratio) { return (1.0 - std::pow(ratio, E)) / (1.0 - ratio); };
  if (shape.expert_skew <= 1.0) return loads;
  double below = 0.0, above = 1.0;  // the first of E numbers is expert_skew / E of their sum
  for (int k = 0; k < 60; ++k) {
    const double ratio = 0.5 * (below + above);
    (E / sum(ratio) > shape.expert_skew ? below : above) = ratio;
  }
  double load = shape.expert_skew;
  for (double& expert_load : loads) expert_load = std::exchange(load, load * below);
  return loads;
}

double assumed_tokens(const TransformerShape& shape, const Chunk& chunk, std::int64_t first, std::int64_t count) {
  const std::vector<double> chosen = chosen_loads(shape);
  double taken = 0.0;  // over those of an even share
  for (std::int64_t e = first; e < first + count; ++e)
    taken += std::min(chosen[static_cast<std::size_t>(e)], shape.capacity_factor);
  const double choices = static_cast<double>(shape.sequence * shape.top_k) / static_cast<double>(chunk.context);
  return choices * taken / static_cast<double>(shape.experts);
}

bool times_follow_routing(const TransformerShape& shape) {
  return shape.experts > 0 && shape.layers >= shape.expert_every && !shape.pad_experts;
}

std::optional<AssumedChoices> assumed_choices(const TransformerShape& shape) {
  if (shape.experts == 0) return {};
  const std::vector<double> loads = chosen_loads(shape);
  AssumedChoices all;
  for (const double load : loads) {
    all.dropped_share += std::max(0.0, load - shape.capacity_factor) / static_cast<double>(shape.experts);
    all.imbalance = std::max(all.imbalance, load);
  }
  return all;
}

std::string refusal(const TransformerShape& shape) {
  if (shape.hidden % shape.heads != 0) {
    const std::int64_t below = shape.hidden / shape.heads * shape.heads;
    return fmt::format(
        "hidden = {} does not divide into heads = {} of equal widths; take {}{} for hidden, or a number of "
        "heads that divides it",
        shape.hidden, shape.heads, below > 0 ? fmt::format("{} or ", below) : "", below + shape.heads);
  }
  if (shape.heads % shape.kv_heads != 0)
    return fmt::format(
        "kv_heads = {} does not divide heads = {}; each of the kv_heads serves as many heads as any other, so take a "
        "divisor of {} (1: one for all; {}: one each)",
        shape.kv_heads, shape.heads, shape.heads, shape.heads);
  if (shape.positions == Positions::rotary && shape.head_width() % 2 != 0)
    return fmt::format(
        "rotary positions turn pairs of numbers, but hidden = {} and heads = {} make heads of {} numbers; take a "
        "hidden of {}, or positions = \"learned\"",
        shape.hidden, shape.heads, shape.head_width(), shape.hidden + shape.heads);
  const auto h = static_cast<double>(shape.hidden), f = static_cast<double>(shape.feed_forward);
  if (shape.experts > 0 && shape.top_k > shape.experts)
    return fmt::format("top_k = {} experts a token, but there are experts = {}; take a top_k of at most {}",
                       shape.top_k, shape.experts, shape.experts);
  if (shape.expert_skew > static_cast<double>(std::max<std::int64_t>(1, shape.experts)))
    return fmt::format(
        "expert_skew = {}: an expert has at most all choices, which are experts = {} times the mean; take at most that",
        shape.expert_skew, shape.experts);
  const auto copies = static_cast<double>(std::max<std::int64_t>(1, shape.experts));
  const double all = static_cast<double>(shape.layers) * (4.0 * h * h + 3.0 * h * f * copies) +
                     h * (2.0 * static_cast<double>(shape.vocabulary) + static_cast<double>(shape.sequence));
  if (!(all < transformer_parameters_most))
    return fmt::format("a transformer of some {:.1e} parameters; expected fewer than {:.0e}", all,
                       transformer_parameters_most);
  return {};
}

std::string numbers_refusal(const TransformerShape& shape) {
  const auto refuse = [](const char* option, const char* what) {
    return fmt::format(
        "{}: {} can be timed, but the transformer's numbers have none; set {} = false, or training.numbers = false",
        option, what, option);
  };
  if (shape.qkv_biases && !shape.biases) return refuse("qkv_biases", "biases of q, k and v alone");
  if (shape.expert_skew > 1.0)
    return fmt::format(
        "expert_skew = {} is about a run of times alone, but here the router decides how many tokens an expert gets; "
        "leave "
        "expert_skew out, or set training.numbers = false",
        shape.expert_skew);
  if (shape.embedding_norm) return refuse("embedding_norm", "a norm behind the embedding");
  if (shape.dropout) return refuse("dropout", "dropout");
  return {};
}

}  // namespace simgrad::models
