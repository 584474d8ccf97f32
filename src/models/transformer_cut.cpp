#include "models/transformer_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace simgrad::models {

namespace {

/// Stretches of the whole w that a rank holds.
class ShareOfTransformer {
 public:
  ShareOfTransformer(const TransformerShape& shape, const Chunk& chunk)
      : shape_(shape), whole_(shape), chunk_(chunk), own_(share_of(shape, chunk)) {}

  void add(std::int64_t part) {
    const std::int64_t h = shape_.hidden;
    if (part == 0) {
      add_rows(whole_.embedding, {{shape_.vocabulary, own_.vocabulary}}, h);
      if (whole_.positions != nowhere) stretches_.add(whole_.positions, shape_.sequence * h);
    } else if (part == 2 * shape_.layers + 1) {
      const bool again = shape_.tied && begun_ == 0;
      if (!again) add_rows(whole_.head.matrix, {{shape_.vocabulary, own_.vocabulary}}, h);
      add_norm(whole_.last_norm);
    } else {
      const BlockPlaces& block = whole_.blocks[static_cast<std::size_t>((part - 1) / 2)];
      const Group of_gate{shape_.feed_forward, own_.feed_forward}, kv{shape_.kv_width(), widened(1)};
      const Group q{h, widened(shape_.heads / shape_.kv_heads)};
      const std::vector<Group> inner(shape_.gated ? 2 : 1, of_gate);
      if (part % 2 == 0 && !block.experts_in.empty())
        add_experts(block, inner);
      else if (part % 2 == 1)
        add_part(block.attention_in, {q, kv, kv}, block.attention_norm, block.attention_out, q.own);
      else
        add_part(block.feed_forward_in, inner, block.feed_forward_norm, block.feed_forward_out, own_.feed_forward);
    }
    if (begun_ < 0) begun_ = part;
  }
  std::vector<ParameterStretch> take() { return std::move(stretches_.all); }

 private:
  /// Rows of a matrix, and those that are the rank's.
  struct Group {
    std::int64_t rows = 0;
    ParameterStretch own;
  };

  /// The numbers of the rank's heads, of which so many have one head of keys and values.
  ParameterStretch widened(std::int64_t heads) const {
    const std::int64_t width = heads * shape_.head_width();
    return {own_.kv_heads.first * width, own_.kv_heads.count * width};
  }
  /// A share of each group of rows of `width` numbers.
  void add_rows(std::int64_t first, const std::vector<Group>& groups, std::int64_t width) {
    for (const Group& group : groups) {
      stretches_.add(first + group.own.first * width, group.own.count * width);
      first += group.rows * width;
    }
  }
  void add_norm(const NormPlace& norm) { stretches_.add(norm.gains, shape_.norm_parameters()); }
  void add_part(const LinearPlace& in, const std::vector<Group>& groups, const NormPlace& norm, const LinearPlace& out,
                const ParameterStretch& columns) {
    add_rows(in.matrix, groups, in.inputs);
    if (in.biases != nowhere) add_rows(in.biases, groups, 1);
    add_norm(norm);
    add_columns(out, columns);
    if (out.biases != nowhere) stretches_.add(out.biases, out.outputs);
  }

  void add_columns(const LinearPlace& out, const ParameterStretch& columns) {
    for (std::int64_t row = 0; row < out.outputs; ++row)
      stretches_.add(out.matrix + row * out.inputs + columns.first, columns.count);
  }
  void add_experts(const BlockPlaces& block, const std::vector<Group>& groups) {
    stretches_.add(block.router.matrix, block.router.outputs * block.router.inputs);
    add_norm(block.feed_forward_norm);
    const auto count = block.experts_in.size() / static_cast<std::size_t>(chunk_.expert);
    const auto first = static_cast<std::size_t>(chunk_.expert_rank) * count;
    const auto in = std::span(block.experts_in).subspan(first, count);
    const auto out = std::span(block.experts_out).subspan(first, count);
    for (const LinearPlace& place : in) add_rows(place.matrix, groups, place.inputs);
    for (const LinearPlace& place : in)
      if (place.biases != nowhere) add_rows(place.biases, groups, 1);
    for (const LinearPlace& place : out) add_columns(place, own_.feed_forward);
    for (const LinearPlace& place : out)
      if (place.biases != nowhere) stretches_.add(place.biases, place.outputs);
  }

  const TransformerShape& shape_;
  TransformerPlaces whole_;
  const Chunk& chunk_;
  TransformerShare own_;
  std::int64_t begun_ = -1;  ///< the first part
  JoinedStretches stretches_;
};

std::string divisors_below(std::int64_t tensor, std::int64_t number) {
  std::string text = "1";
  for (std::int64_t t = 2; t <= std::min<std::int64_t>(number, 2 * tensor); ++t)
    if (number % t == 0) text += fmt::format(", {}", t);
  return text;
}

/// Why ranks cannot share a sequence's tokens in this way; or "".
std::string tokens_refusal(const TransformerShape& shape, const Shares& shares) {
  const std::int64_t c = shares.context, t = shares.sequence_parallel ? shares.tensor : 1;
  if (c > 1 && shape.pad_experts && shape.experts > 0 && shape.layers >= shape.expert_every)
    return fmt::format(
        "pad_experts = true has places for the tokens of a whole sequence, which each of context = {} ranks would send "
        "and compute; set pad_experts = false, or context = 1",
        c);
  if (shape.sequence % (c * t) == 0) return {};
  const std::int64_t next = (shape.sequence + c * t - 1) / (c * t) * (c * t);
  if (c == 1)
    return fmt::format(
        "sequence = {} does not divide among tensor = {} ranks, as sequence parallelism needs; give sequence = {}, or "
        "sequence_parallel = false",
        shape.sequence, t, next);
  if (t == 1 || shape.sequence % c != 0)
    return fmt::format(
        "sequence = {} does not divide among context = {} ranks; give sequence = {}, or take context from {}",
        shape.sequence, c, next, divisors_below(c, shape.sequence));
  return fmt::format(
      "sequence = {} does not divide among context x tensor = {} x {} ranks, as sequence parallelism needs; give "
      "sequence "
      "= {}, or sequence_parallel = false",
      shape.sequence, c, t, next);
}

std::string experts_refusal(const TransformerShape& shape, const Shares& shares) {
  const bool none = shape.experts == 0 || shape.layers < shape.expert_every;
  if (shares.expert > 1 && none)
    return fmt::format("no block has experts that expert = {} ranks could share; set expert = 1, or give experts",
                       shares.expert);
  if (none) return {};
  if (shape.experts % shares.expert != 0)
    return fmt::format("experts = {} do not divide among expert = {} ranks; take expert from {}, or give experts = {}",
                       shape.experts, shares.expert, divisors_below(shares.expert, shape.experts),
                       (shape.experts + shares.expert - 1) / shares.expert * shares.expert);
  return {};
}

/// The refusal of shares by weights in which a rank would have nothing of some units; or empty.
std::string few_units_refusal(const TransformerShape& shape, std::int64_t tensor) {
  const std::int64_t least = std::min({shape.kv_heads, shape.feed_forward, shape.vocabulary});
  if (least >= tensor) return {};
  const char* const name = least == shape.kv_heads ? "kv_heads" : "feed_forward";
  return fmt::format(
      "{} = {} leave some of tensor = {} ranks without any, but each has one at least; take a tensor of {} or less",
      least == shape.vocabulary && least < std::min(shape.kv_heads, shape.feed_forward) ? "vocabulary" : name, least,
      tensor, least);
}

}  // namespace

TransformerPlaces places_of(const TransformerShape& shape, const Chunk& chunk, PartRange parts) {
  return {shape, parts, share_of(shape, chunk), chunk.expert};
}

std::string cut_refusal(const TransformerShape& shape, const Shares& shares) {
  const std::int64_t t = shares.tensor;
  if (const std::string why = experts_refusal(shape, shares); !why.empty()) return why;
  const auto fewer = [&] {
    const std::int64_t common = std::gcd(std::gcd(shape.heads, shape.kv_heads), shape.feed_forward);
    return divisors_below(t, common);
  };
  if (shares.by_weights) {
    const std::string why = few_units_refusal(shape, t);
    return why.empty() ? tokens_refusal(shape, shares) : why;
  }
  const auto next = [&](std::int64_t number) { return (number + t - 1) / t * t; };
  if (shape.heads % t != 0)
    return fmt::format("heads = {} do not divide among tensor = {} ranks; take tensor from {}", shape.heads, t,
                       fewer());
  if (shape.kv_heads % t != 0)
    return fmt::format(
        "kv_heads = {} do not divide among tensor = {} ranks, each of which needs the keys and values of its heads; "
        "take tensor from {}",
        shape.kv_heads, t, fewer());
  if (shape.feed_forward % t != 0)
    return fmt::format(
        "feed_forward = {} does not divide among tensor = {} ranks; give feed_forward = {}, or take tensor from {}",
        shape.feed_forward, t, next(shape.feed_forward), fewer());
  if (padded_vocabulary(shape.vocabulary, t) / t * (t - 1) >= shape.vocabulary)
    return fmt::format(
        "a vocabulary of {} leaves some of tensor = {} ranks without a token; give vocabulary = {}: the tokens beyond "
        "the text's never come",
        shape.vocabulary, t, next(shape.vocabulary));
  return tokens_refusal(shape, shares);
}

std::string padding_note(const TransformerShape& shape, std::int64_t tensor) {
  const std::int64_t padded = padded_vocabulary(shape.vocabulary, tensor);
  if (padded == shape.vocabulary) return {};
  return fmt::format(
      "the vocabulary of {} tokens is padded to {}, so that each of tensor = {} ranks has {}; the padding itself is "
      "neither stored nor computed",
      shape.vocabulary, padded, tensor, padded / tensor);
}

PartRange parts_of(const TransformerShape& shape, const Chunk& chunk) {
  const auto first_part = [](std::int64_t unit) { return unit == 0 ? 0 : 2 * unit - 1; };
  return {first_part(chunk.first_unit), std::min(first_part(chunk.end_unit), all_parts(shape).end)};
}

std::vector<Segment> segments(const TransformerShape& shape, const Chunk& chunk) {
  const std::vector<Layer> all = layers(shape, chunk);
  const PartRange parts = parts_of(shape, chunk);
  const std::int64_t head = 2 * shape.layers + 1;
  const double tokens = static_cast<double>(shape.sequence / chunk.context) / (shares_tokens(chunk) ? chunk.tensor : 1);
  const double between = tokens * static_cast<double>(shape.hidden);
  std::vector<Segment> made;
  std::size_t layer = 0;
  for (std::int64_t part = parts.first; part < parts.end; ++part) {
    Segment& segment = made.emplace_back();
    segment.first_layer = layer;
    const bool routes = part % 2 == 0 && shape.has_experts(part / 2 - 1);  // a router beside two layers of experts
    segment.layers = part == 0 || part == head ? 1 : routes ? 3 : 2;
    layer += segment.layers;
    segment.first = all[segment.first_layer].first;
    segment.count = all[layer - 1].first + all[layer - 1].count - segment.first;
    if (part == head && shape.tied && chunk.first_unit == 0)
      segment.shared = {0, share_of(shape, chunk).vocabulary.count * shape.hidden};
    segment.entrance = part == 0 ? 0.0 : between;
    segment.exit = part == head ? 0.0 : between;
    for (const CutStep& step : steps_of(shape, chunk, part, false)) segment.forward.push_back(step.step);
    for (const CutStep& step : steps_of(shape, chunk, part, true)) segment.backward.push_back(step.step);
  }
  return made;
}

std::vector<ParameterStretch> parameters_of(const TransformerShape& shape, const Chunk& chunk) {
  ShareOfTransformer share(shape, chunk);
  const PartRange parts = parts_of(shape, chunk);
  for (std::int64_t part = parts.first; part < parts.end; ++part) share.add(part);
  return share.take();
}

std::vector<ParameterStretch> replicated(const TransformerShape& shape, const Chunk& chunk, Among among) {
  const PartRange parts = parts_of(shape, chunk);
  const TransformerPlaces places = places_of(shape, chunk, parts);
  JoinedStretches stretches;
  if (among == Among::context) {
    stretches.add(0, places.parameters);
  } else if (among == Among::expert) {
    std::int64_t next = 0;
    for (const BlockPlaces& block : places.blocks) {
      if (block.experts_in.empty()) continue;
      stretches.add(next, block.experts_in.front().matrix - next);
      const LinearPlace& last = block.experts_out.back();
      next = last.biases == nowhere ? last.matrix + last.outputs * last.inputs : last.biases + last.outputs;
    }
    stretches.add(next, places.parameters - next);
  } else {
    const auto biases_of = [&](const LinearPlace& place) {
      if (place.biases != nowhere) stretches.add(place.biases, place.outputs);
    };
    if (places.positions != nowhere) stretches.add(places.positions, shape.sequence * shape.hidden);
    for (const BlockPlaces& block : places.blocks) {
      stretches.add(block.attention_norm.gains, shape.norm_parameters());
      biases_of(block.attention_out);
      if (!block.experts_in.empty()) stretches.add(block.router.matrix, block.router.outputs * block.router.inputs);
      stretches.add(block.feed_forward_norm.gains, shape.norm_parameters());
      biases_of(block.feed_forward_out);
      for (const LinearPlace& expert : block.experts_out) biases_of(expert);
    }
    if (parts.end == all_parts(shape).end) stretches.add(places.last_norm.gains, shape.norm_parameters());
  }
  return stretches.all;
}

ParameterStretch tied(const TransformerShape& shape, const Chunk& chunk) {
  const bool first = chunk.first_unit == 0, last = chunk.end_unit == shape.layers + 2;
  if (!shape.tied || first == last) return {};
  const TransformerPlaces places = places_of(shape, chunk, parts_of(shape, chunk));
  return {first ? places.embedding : places.head.matrix, places.share.vocabulary.count * shape.hidden};
}

}  // namespace simgrad::models
