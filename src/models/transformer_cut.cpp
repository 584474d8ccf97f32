#include "models/transformer_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace simgrad::models {

namespace {

bool shares_tokens(const Chunk& chunk) { return chunk.sequence_parallel && chunk.tensor > 1; }

/// Stretches of the whole w that a tensor rank holds.
class ShareOfTransformer {
 public:
  ShareOfTransformer(const TransformerShape& shape, const Chunk& chunk)
      : shape_(shape), whole_(shape), t_(chunk.tensor), r_(chunk.tensor_rank) {}

  void add(std::int64_t part) {
    const std::int64_t h = shape_.hidden;
    if (part == 0) {
      add_rows(whole_.embedding, {shape_.vocabulary}, h);
      if (whole_.positions != nowhere) stretches_.add(whole_.positions, shape_.sequence * h);
    } else if (part == 2 * shape_.layers + 1) {
      const bool again = shape_.tied && begun_ == 0;
      if (!again) add_rows(whole_.head.matrix, {shape_.vocabulary}, h);
      add_norm(whole_.last_norm);
    } else {
      const BlockPlaces& block = whole_.blocks[static_cast<std::size_t>((part - 1) / 2)];
      const std::int64_t f = shape_.feed_forward, kv = shape_.kv_width();
      if (part % 2 == 0 && !block.experts_in.empty())  // without shares
        stretches_.add(block.router.matrix, TransformerPlaces(shape_, {part, part + 1}, 1).parameters);
      else if (part % 2 == 1)
        add_part(block.attention_in, {h, kv, kv}, block.attention_norm, block.attention_out);
      else
        add_part(block.feed_forward_in, shape_.gated ? std::vector{f, f} : std::vector{f}, block.feed_forward_norm,
                 block.feed_forward_out);
    }
    if (begun_ < 0) begun_ = part;
  }
  std::vector<ParameterStretch> take() { return std::move(stretches_.all); }

 private:
  /// A share of each group of rows of `width` numbers.
  void add_rows(std::int64_t first, const std::vector<std::int64_t>& groups, std::int64_t width) {
    for (const std::int64_t rows : groups) {
      stretches_.add(first + r_ * (rows / t_) * width, rows / t_ * width);
      first += rows * width;
    }
  }
  void add_norm(const NormPlace& norm) { stretches_.add(norm.gains, shape_.norm_parameters()); }
  void add_part(const LinearPlace& in, const std::vector<std::int64_t>& groups, const NormPlace& norm,
                const LinearPlace& out) {
    add_rows(in.matrix, groups, in.inputs);
    if (in.biases != nowhere) add_rows(in.biases, groups, 1);
    add_norm(norm);
    const std::int64_t columns = out.inputs / t_;
    for (std::int64_t row = 0; row < out.outputs; ++row)
      stretches_.add(out.matrix + row * out.inputs + r_ * columns, columns);
    if (out.biases != nowhere) stretches_.add(out.biases, out.outputs);
  }

  const TransformerShape& shape_;
  TransformerPlaces whole_;
  std::int64_t t_, r_;
  std::int64_t begun_ = -1;  ///< the first part
  JoinedStretches stretches_;
};

/// Writes down the steps of a part.
class StepsOfPart {
 public:
  StepsOfPart(const TransformerShape& shape, const Chunk& chunk)
      : chunk_(chunk),
        tokens_(static_cast<double>(shape.sequence)),
        all_(tokens_ * static_cast<double>(shape.hidden)),
        own_(shares_tokens(chunk) ? all_ / static_cast<double>(chunk.tensor) : all_) {}

  std::vector<CutStep> embedding(bool backward) {
    if (backward) {
      gather(CutWork::derivatives, false);
      add(CutWork::look_up_backward, 0.0, Step::Then::nothing, true);
    } else {
      sum(CutWork::look_up, false);
      add(CutWork::add_positions, own_);
    }
    return std::move(steps_);
  }
  std::vector<CutStep> block_part(bool backward) {
    if (backward) {
      gather(CutWork::derivatives, false);
      gather(CutWork::normed, true);
      sum(CutWork::products_backward, true);
      add(CutWork::residual_backward, own_, Step::Then::nothing, true);
    } else {
      gather(CutWork::normed, false);
      sum(CutWork::products, false);
      add(CutWork::add_to_residual, own_);
    }
    return std::move(steps_);
  }
  std::vector<CutStep> head(bool backward) {
    if (!backward) return {};
    gather(CutWork::normed, false);
    if (chunk_.tensor > 1) {
      add(CutWork::greatest_logits, tokens_, Step::Then::max);
      add(CutWork::softmax_terms, 2.0 * tokens_, Step::Then::sum);
    }
    sum(CutWork::loss_backward, true);
    add(CutWork::last_norm_backward, own_, Step::Then::nothing, true);
    return std::move(steps_);
  }

 private:
  void add(CutWork work, double numbers, Step::Then then = Step::Then::nothing, bool gradients = false,
           bool again = false) {
    steps_.push_back({work, {.then = then, .numbers = numbers, .gradients = gradients, .again = again}});
  }
  /// Numbers of the rank's own tokens, gathered if tokens are shared; else no step is needed.
  void gather(CutWork work, bool again) {
    if (shares_tokens(chunk_)) add(work, own_, Step::Then::gather, false, again);
  }
  /// Terms of sums.
  void sum(CutWork work, bool gradients) {
    const Step::Then then = chunk_.tensor == 1      ? Step::Then::nothing
                            : shares_tokens(chunk_) ? Step::Then::sum_shard
                                                    : Step::Then::sum;
    add(work, all_, then, gradients);
  }

  const Chunk& chunk_;
  double tokens_, all_, own_;
  std::vector<CutStep> steps_;
};

std::string divisors_below(std::int64_t tensor, std::int64_t number) {
  std::string text = "1";
  for (std::int64_t t = 2; t <= std::min<std::int64_t>(number, 2 * tensor); ++t)
    if (number % t == 0) text += fmt::format(", {}", t);
  return text;
}

}  // namespace

std::string cut_refusal(const TransformerShape& shape, const Shares& shares) {
  const std::int64_t t = shares.tensor;
  if (shares.context > 1 || shares.expert > 1) return "not yet";
  if (shape.experts > 0 && t > 1)
    return fmt::format("experts = {}: their products are not shared among tensor = {} ranks; set tensor = 1",
                       shape.experts, t);
  const auto fewer = [&] {
    const std::int64_t common = std::gcd(std::gcd(shape.heads, shape.kv_heads), shape.feed_forward);
    return divisors_below(t, common);
  };
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
  if (shape.vocabulary % t != 0)
    return fmt::format(
        "a vocabulary of {} does not divide among tensor = {} ranks; give vocabulary = {}: the tokens beyond the "
        "text's never come",
        shape.vocabulary, t, next(shape.vocabulary));
  if (shares.sequence_parallel && shape.sequence % t != 0)
    return fmt::format(
        "sequence = {} does not divide among tensor = {} ranks, as sequence parallelism needs; give sequence = {}, or "
        "sequence_parallel = false",
        shape.sequence, t, next(shape.sequence));
  return {};
}

PartRange parts_of(const TransformerShape& shape, const Chunk& chunk) {
  const auto first_part = [](std::int64_t unit) { return unit == 0 ? 0 : 2 * unit - 1; };
  return {first_part(chunk.first_unit), std::min(first_part(chunk.end_unit), all_parts(shape).end)};
}

std::vector<CutStep> steps_of(const TransformerShape& shape, const Chunk& chunk, std::int64_t part, bool backward) {
  StepsOfPart steps(shape, chunk);
  if (part == 0) return steps.embedding(backward);
  return part == 2 * shape.layers + 1 ? steps.head(backward) : steps.block_part(backward);
}

std::vector<Segment> segments(const TransformerShape& shape, const Chunk& chunk) {
  const std::vector<Layer> all = layers(shape, chunk);
  const PartRange parts = parts_of(shape, chunk);
  const std::int64_t head = 2 * shape.layers + 1;
  const double tokens = static_cast<double>(shape.sequence) / (shares_tokens(chunk) ? chunk.tensor : 1);
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
      segment.shared = {0, shape.vocabulary / chunk.tensor * shape.hidden};
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
  if (among != Among::tensor) {
    const std::vector<Layer> all = layers(shape, chunk);
    return {{0, all.back().first + all.back().count}};
  }
  const PartRange parts = parts_of(shape, chunk);
  const TransformerPlaces places(shape, parts, chunk.tensor);
  const auto biases_of = [&](JoinedStretches& to, const LinearPlace& place) {
    if (place.biases != nowhere) to.add(place.biases, place.outputs);
  };
  JoinedStretches stretches;
  if (places.positions != nowhere) stretches.add(places.positions, shape.sequence * shape.hidden);
  for (const BlockPlaces& block : places.blocks) {
    stretches.add(block.attention_norm.gains, shape.norm_parameters());
    biases_of(stretches, block.attention_out);
    stretches.add(block.feed_forward_norm.gains, shape.norm_parameters());
    biases_of(stretches, block.feed_forward_out);
  }
  if (parts.end == all_parts(shape).end) stretches.add(places.last_norm.gains, shape.norm_parameters());
  return stretches.all;
}

ParameterStretch tied(const TransformerShape& shape, const Chunk& chunk) {
  const bool first = chunk.first_unit == 0, last = chunk.end_unit == shape.layers + 2;
  if (!shape.tied || first == last) return {};
  const TransformerPlaces places(shape, parts_of(shape, chunk), chunk.tensor);
  return {first ? places.embedding : places.head.matrix, shape.vocabulary / chunk.tensor * shape.hidden};
}

}  // namespace simgrad::models
