/// Which gradients a step of a cut transformer has.
#include "models/transformer_cut.h"

namespace simgrad::models {

namespace {

/// The gradients that a step makes. One of the ranks that hold the same parameters adds the penalty.
class GradientsOfStep {
 public:
  explicit GradientsOfStep(const Chunk& chunk)
      : first_(chunk.expert_rank == 0 && chunk.context_rank == 0),
        first_of_context_(chunk.context_rank == 0),
        one_of_sum_(!(shares_tokens(chunk) && chunk.tensor_rank > 0)) {}

  /// Products, of which ranks that share them have parts.
  void add_product(const LinearPlace& place, bool penalised = true) {
    add(place.matrix, place.outputs * place.inputs, first_ && penalised);
  }
  void add_biases(const LinearPlace& place) { add(place.biases, place.outputs, first_); }
  /// Adds parameters that all ranks hold that share products. If they share tokens, each has a part of the gradient.
  void add_shared(std::int64_t first, std::int64_t count) { add(first, count, first_ && one_of_sum_); }
  /// The router, whose gradient each of them computes whole.
  void add_router(const LinearPlace& place) {
    if (one_of_sum_) add(place.matrix, place.outputs * place.inputs, first_);
  }
  /// Adds parameters that no other expert rank holds: experts' products and the biases behind them.
  void add_experts(const std::vector<LinearPlace>& places, bool behind_sum) {
    for (const LinearPlace& place : places) {
      add(place.matrix, place.outputs * place.inputs, first_of_context_);
      if (!behind_sum || one_of_sum_) add(place.biases, place.outputs, first_of_context_);
    }
  }
  std::vector<GradientStretch> take() { return std::move(made_); }

 private:
  void add(std::int64_t first, std::int64_t count, bool penalised) {
    if (first != nowhere) made_.push_back({first, count, penalised});
  }

  bool first_, first_of_context_;
  bool one_of_sum_;  ///< whether the rank adds what each of those that share tokens has whole
  std::vector<GradientStretch> made_;
};

}  // namespace

std::vector<GradientStretch> gradients_of(const TransformerShape& shape, const Chunk& chunk, std::int64_t part,
                                          const TransformerPlaces& places, CutWork work) {
  GradientsOfStep gradients(chunk);
  const BlockPlaces* const block = places.blocks.empty() ? nullptr : &places.blocks.front();
  const bool attends = part % 2 == 1;
  const auto add_norm = [&] {
    const NormPlace& norm = !block ? places.last_norm : attends ? block->attention_norm : block->feed_forward_norm;
    gradients.add_shared(norm.gains, shape.norm_parameters());
  };
  const auto add_experts = [&] {
    gradients.add_experts(block->experts_in, false);
    gradients.add_experts(block->experts_out, true);
  };
  switch (work) {
    case CutWork::products_backward:
      if (!attends && !block->experts_in.empty()) {
        gradients.add_router(block->router);
        add_experts();
        break;
      }
      gradients.add_product(attends ? block->attention_in : block->feed_forward_in);
      gradients.add_biases(attends ? block->attention_in : block->feed_forward_in);
      if (!attends)
        gradients.add_product(block->feed_forward_out);
      else if (chunk.context == 1)
        gradients.add_product(block->attention_out);
      break;
    case CutWork::attention_slopes:
      gradients.add_product(block->attention_out);
      break;
    case CutWork::residual_backward: {
      const LinearPlace& out = attends ? block->attention_out : block->feed_forward_out;
      gradients.add_shared(out.biases, out.outputs);
      add_norm();
      break;
    }
    case CutWork::experts_backward:
      add_experts();
      break;
    case CutWork::combine_backward:
      gradients.add_router(block->router);
      add_norm();
      break;
    case CutWork::look_up_backward:
      gradients.add_product(
          {.outputs = places.share.vocabulary.count, .inputs = shape.hidden, .matrix = places.embedding});
      gradients.add_shared(places.positions, shape.sequence * shape.hidden);
      break;
    case CutWork::loss_backward:
      gradients.add_product(places.head, !shape.tied);  // a tied one's penalty is added at the look-up
      break;
    default:
      add_norm();
  }
  return gradients.take();
}

}  // namespace simgrad::models
