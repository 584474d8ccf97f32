/// The steps of a cut transformer's parts.
#include "models/transformer_cut.h"
#include "models/transformer_router.h"

namespace simgrad::models {

namespace {

/// Writes down the steps of a part.
class StepsOfPart {
 public:
  StepsOfPart(const TransformerShape& shape, const Chunk& chunk)
      : shape_(shape),
        chunk_(chunk),
        share_(share_of(shape, chunk)),
        tokens_(static_cast<double>(shape.sequence / chunk.context)),
        all_(tokens_ * static_cast<double>(shape.hidden)),
        own_(shares_tokens(chunk) ? all_ / static_cast<double>(chunk.tensor) : all_) {}

  std::vector<CutStep> embedding(bool backward) {
    if (backward) {
      gather(CutWork::derivatives, false);
      add(CutWork::look_up_backward, {.gradients = true});
    } else {
      sum(CutWork::look_up, false);
      add(CutWork::add_positions, {.numbers = own_});
    }
    return std::move(steps_);
  }
  /// Attention, or a feed-forward part.
  std::vector<CutStep> block_part(bool attends, bool routes, bool backward) {
    const bool shares_keys = attends && chunk_.context > 1;
    if (backward) {
      gather(CutWork::derivatives, false);
      gather(CutWork::normed, true);
      if (shares_keys) {
        gather_keys(true);
        sum_slopes_of_keys();
      }
      sum(CutWork::products_backward, true);
      add(CutWork::residual_backward, {.numbers = own_, .gradients = true});
    } else {
      gather(CutWork::normed, false);
      if (shares_keys) gather_keys(false);
      if (routes) count_tokens();
      sum(CutWork::products, false);
      add(CutWork::add_to_residual, {.numbers = own_});
    }
    return std::move(steps_);
  }
  /// A part of experts that ranks share, or whose tokens they do.
  std::vector<CutStep> experts(bool backward) {
    if (backward) gather(CutWork::derivatives, false);
    gather(CutWork::normed, backward);
    if (backward) {
      if (chunk_.expert > 1) add(CutWork::slopes_of_results, to_experts(0, false));
      from_experts(CutWork::experts_backward, CutWork::copies_slopes, true);
      add(CutWork::combine_backward, {.numbers = own_, .gradients = true});
    } else {
      if (keeps_probabilities(chunk_))
        add(CutWork::probabilities, {.then = chunk_.context > 1 ? Step::Then::gather : Step::Then::nothing,
                                     .among = Among::context,
                                     .numbers = tokens_ * static_cast<double>(shape_.experts),
                                     .layers = router_layers,
                                     .kept = true});
      count_tokens();
      if (chunk_.expert > 1) add(CutWork::route, to_experts(router_layers, true));
      from_experts(CutWork::experts, CutWork::results, false);
      add(CutWork::combine, {.numbers = own_});
    }
    return std::move(steps_);
  }
  std::vector<CutStep> head(bool backward) {
    if (!backward) return {};
    gather(CutWork::normed, false);
    if (chunk_.tensor > 1) {
      add(CutWork::greatest_logits, {.then = Step::Then::max, .numbers = tokens_, .layers = 0});
      add(CutWork::softmax_terms, {.then = Step::Then::sum, .numbers = 2.0 * tokens_, .layers = 0});
    }
    sum(CutWork::loss_backward, true);
    add(CutWork::last_norm_backward, {.numbers = own_, .gradients = true});
    return std::move(steps_);
  }

 private:
  static constexpr std::size_t router_layers = 1, expert_layers = 2;  // of a part with experts

  void add(CutWork work, const Step& step) {
    steps_.emplace_back();  // GCC 12 warns of a push_back that it has inlined
    steps_.back() = {work, step};
  }
  /// Numbers of the rank's own tokens, gathered if tokens are shared; else no step is needed.
  void gather(CutWork work, bool again) {
    if (shares_tokens(chunk_)) add(work, {.then = Step::Then::gather, .numbers = own_, .again = again, .layers = 0});
  }
  /// Terms of sums.
  void sum(CutWork work, bool gradients) {
    const Step::Then then = chunk_.tensor == 1      ? Step::Then::nothing
                            : shares_tokens(chunk_) ? Step::Then::sum_shard
                                                    : Step::Then::sum;
    add(work, {.then = then, .numbers = all_, .gradients = gradients});
  }
  /// Keys and values, whose exchange goes on beside the products that need them. One layer precedes these in either
  /// direction: the first product, or the second one's backward pass.
  void gather_keys(bool again) {
    add(CutWork::keys_values, {.then = Step::Then::gather,
                               .among = Among::context,
                               .numbers = tokens_ * keys_values_width(),
                               .again = again,
                               .layers = 1,
                               .beside = again ? attention_share() / 2.0 : attention_share()});
  }
  void sum_slopes_of_keys() {
    const double of_keys = static_cast<double>(shape_.sequence) * keys_values_width();
    const double of_queries = tokens_ * static_cast<double>(share_.heads_width(shape_));
    add(CutWork::attention_slopes, {.numbers = of_queries + of_keys, .gradients = true, .layers = 1});
    add(CutWork::keys_slopes, {.then = Step::Then::sum_shard,
                               .among = Among::context,
                               .numbers = of_keys,
                               .layers = 1,
                               .beside = attention_share() / 2.0});
  }
  /// Numbers of a token.
  double keys_values_width() const { return static_cast<double>(2 * share_.kv_width(shape_)); }
  /// The share of scores and weighted sums in the flops of attention's first layer, 4 s h of a token beside 2 h (h + 2
  /// kv_width) of its product: the same in both directions, and on every rank.
  double attention_share() const {
    const auto s = static_cast<double>(shape_.sequence), h = static_cast<double>(shape_.hidden);
    return 2.0 * s / (2.0 * s + h + 2.0 * static_cast<double>(shape_.kv_width()));
  }
  /// Unless experts are padded, these decide what travels, and how long experts work.
  void count_tokens() {
    if (shape_.pad_experts) return;
    add(CutWork::count_tokens,
        {.numbers = static_cast<double>(shape_.experts), .layers = router_layers, .counts_tokens = true});
  }
  std::int64_t places_of_an_expert() const { return places_of_expert(shape_, shape_.sequence / chunk_.context); }
  /// Copies of all experts' places.
  double copies() const { return static_cast<double>(shape_.experts * places_of_an_expert() * shape_.hidden); }
  /// A step of such copies.
  Step of_copies(std::size_t layers) const {
    Step step{.among = Among::expert, .numbers = copies(), .layers = layers};
    if (shape_.pad_experts) return step;
    step.places = places_of_an_expert();
    const std::int64_t held = shape_.experts / chunk_.expert;
    for (std::int64_t first = 0; first < shape_.experts; first += held)
      step.assumed.push_back(assumed_tokens(shape_, chunk_, first, held) * static_cast<double>(shape_.hidden));
    return step;
  }
  Step to_experts(std::size_t layers, bool kept) const {
    Step step = of_copies(layers);
    step.then = Step::Then::all_to_all;
    step.kept = kept;
    return step;
  }
  /// Experts' work, whose numbers are terms of sums if ranks share its products, and the way back.
  void from_experts(CutWork work, CutWork behind_sum, bool backward) {
    const std::size_t layers = backward ? expert_layers : Step::all_layers;
    Step back = of_copies(layers);
    back.kept = !backward;
    if (chunk_.expert > 1) back.then = Step::Then::all_to_all_back;
    if (chunk_.tensor > 1) {
      Step terms = of_copies(layers);
      terms.then = Step::Then::sum;
      terms.among = Among::tensor;
      terms.gradients = backward;
      add(work, terms);
      add(behind_sum, back);
    } else {
      back.gradients = backward;
      add(work, back);
    }
  }

  const TransformerShape& shape_;
  const Chunk& chunk_;
  TransformerShare share_;
  double tokens_, all_, own_;
  std::vector<CutStep> steps_;
};

}  // namespace

std::vector<CutStep> steps_of(const TransformerShape& shape, const Chunk& chunk, std::int64_t part, bool backward) {
  StepsOfPart steps(shape, chunk);
  if (part == 0) return steps.embedding(backward);
  if (part == 2 * shape.layers + 1) return steps.head(backward);
  const bool routes = part % 2 == 0 && shape.has_experts(part / 2 - 1);
  if (routes && chunk.tensor * chunk.context * chunk.expert > 1) return steps.experts(backward);
  return steps.block_part(part % 2 == 1, routes, backward);
}

}  // namespace simgrad::models
