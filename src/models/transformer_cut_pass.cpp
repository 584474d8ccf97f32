/// The steps of a cut transformer, from the parts that the uncut pass has.
#include <algorithm>

#include "base/errors.h"
#include "models/transformer_context.h"
#include "models/transformer_cut.h"
#include "models/transformer_experts.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

/// The places of one part in StepInputs::w.
TransformerPlaces places_of_part(const TransformerShape& shape, const Chunk& chunk, std::int64_t part) {
  TransformerPlaces places = places_of(shape, chunk, {part, part + 1});
  if (part != 2 * shape.layers + 1 || !shape.tied || chunk.first_unit != 0) return places;
  places.last_norm.gains = 0;  // the embedding is shared, and stands behind the part's own
  if (places.last_norm.biases != nowhere) places.last_norm.biases = shape.hidden;
  places.head.matrix = shape.norm_parameters();
  return places;
}

struct CutPart {
  const TransformerShape& shape;
  const Chunk& chunk;
  std::int64_t part;
  std::vector<CutStep> steps;
  std::size_t step;
  double l2;
};

template <class Real>
class CutPass {
 public:
  CutPass(const CutPart& of, const StepInputs& inputs)
      : of_(of),
        inputs_(inputs),
        numbers_(of.shape, places_of_part(of.shape, of.chunk, of.part), inputs.w, inputs.format, here().gradients),
        sequences_(inputs.rows.count),
        own_({of.chunk.context_rank * (of.shape.sequence / of.chunk.context), of.shape.sequence / of.chunk.context}),
        own_sequence_(of.chunk.sequence_parallel ? own_.count / of.chunk.tensor : own_.count),
        tokens_(sequences_ * own_.count),
        own_tokens_(sequences_ * own_sequence_) {}

  void run(std::span<double> result) {
    std::vector<Real> made;
    if (sequences_ > 0) made = work(of_.steps[of_.step].work);  // without rows the gradient is the penalty's
    const auto count = static_cast<std::size_t>(here().numbers) * static_cast<std::size_t>(sequences_);
    base::check(made.size() == count && result.size() == count + (here().gradients ? inputs_.w.size() : 0),
                "a step's result has the step's numbers");
    std::copy(made.begin(), made.end(), result.begin());
    if (here().gradients) write_gradient(result.subspan(count));
  }

 private:
  const Step& here() const { return of_.steps[of_.step].step; }
  const BlockPlaces& block() const { return numbers_.places.blocks.front(); }
  bool attends() const { return of_.part % 2 == 1; }
  bool routes() const { return !attends() && !block().experts_in.empty(); }
  const LinearPlace& second_product() const { return attends() ? block().attention_out : block().feed_forward_out; }
  const NormPlace& norm_place() const {
    if (numbers_.places.blocks.empty()) return numbers_.places.last_norm;
    return attends() ? block().attention_norm : block().feed_forward_norm;
  }

  std::vector<Real> work(CutWork work) {
    switch (work) {
      case CutWork::look_up:
        return look_up_tokens();
      case CutWork::add_positions:
        return with_positions(reals(made(CutWork::look_up)));
      case CutWork::normed:
        return normed();
      case CutWork::products:
        return products();
      case CutWork::add_to_residual:
        return residual();
      case CutWork::keys_values:
        return keys_and_values(numbers_, block(), own_, all_normed());
      case CutWork::probabilities:
        return router_probabilities(numbers_, block().router, all_normed());
      case CutWork::count_tokens:
        return taken_tokens();
      case CutWork::route:
        return copies();
      case CutWork::experts:
        return experts_results();
      case CutWork::results:
        return results(reals(made(CutWork::experts)));
      case CutWork::combine:
        return combined();
      case CutWork::derivatives:
        return reals(inputs_.d_out);
      case CutWork::products_backward:
        return products_backward();
      case CutWork::residual_backward:
        return through_norm(CutWork::products_backward);
      case CutWork::attention_slopes:
        return attention_slopes();
      case CutWork::keys_slopes:
        return slopes_made().keys_values;
      case CutWork::slopes_of_results:
        return d_results();
      case CutWork::experts_backward:
        return through_experts();
      case CutWork::copies_slopes:
        return rounded(reals(made(CutWork::experts_backward)));
      case CutWork::combine_backward:
        return through_router();
      case CutWork::look_up_backward:
        return tokens_backward();
      case CutWork::greatest_logits:
        return greatest();
      case CutWork::softmax_terms:
        return terms();
      case CutWork::loss_backward:
        return from_loss();
      case CutWork::last_norm_backward:
        return through_norm(CutWork::loss_backward);
    }
    base::invariant_broken("a step has a work", std::source_location::current());
  }

  static std::vector<Real> reals(std::span<const double> numbers) {
    std::vector<Real> made(numbers.size());
    std::transform(numbers.begin(), numbers.end(), made.begin(), [](double x) { return static_cast<Real>(x); });
    return made;
  }
  bool has(CutWork work) const { return index_of(work) < of_.steps.size(); }
  std::size_t index_of(CutWork work) const {
    const auto at = std::ranges::find(of_.steps, work, &CutStep::work);
    return static_cast<std::size_t>(at - of_.steps.begin());
  }
  std::span<const double> made(CutWork work) const { return inputs_.made[index_of(work)]; }
  /// The router's probabilities, if they are kept; copies of tokens, if ranks share experts; experts' results.
  std::span<const std::span<const double>> kept() const {
    base::check(!inputs_.kept.empty(), "a backward step has the numbers that forward steps have kept");
    return inputs_.kept;
  }

  /// The rank's tokens of all sequences, and each one's next, counted from the first of its share of the vocabulary.
  RowTokens tokens_of_share() const {
    RowTokens tokens;
    tokens.take(inputs_.rows, 0, inputs_.rows.count, of_.shape.vocabulary);
    if (of_.chunk.context > 1) tokens.keep(of_.shape.sequence, own_.first, own_.count);
    const std::int64_t first = numbers_.places.share.vocabulary.first;
    for (std::int64_t& token : tokens.token) token -= first;
    for (std::int64_t& token : tokens.next) token -= first;
    return tokens;
  }
  std::int64_t first_position() const {
    return own_.first + (of_.chunk.sequence_parallel ? of_.chunk.tensor_rank * own_sequence_ : 0);
  }

  std::vector<Real> look_up_tokens() {
    std::vector<Real> x;
    look_up(numbers_, std::span<const std::int64_t>(tokens_of_share().token), x);
    return x;
  }
  std::vector<Real> with_positions(std::vector<Real> x) {
    models::add_positions(numbers_, first_position(), own_sequence_, x);
    return x;
  }
  std::vector<Real> tokens_backward() {
    const std::vector<Real> dx = reals(inputs_.d_out);
    const std::vector<Real> all = has(CutWork::derivatives) ? reals(made(CutWork::derivatives)) : dx;
    look_up_backward(numbers_, std::span<const std::int64_t>(tokens_of_share().token), all);
    add_positions_backward(numbers_, first_position(), own_sequence_, dx);
    return {};
  }

  std::vector<Real> normed() {
    std::vector<Real> n;
    norm(numbers_, norm_place(), own_tokens_, reals(inputs_.in), norm_, n);
    return n;
  }
  /// A norm's results of all tokens.
  std::vector<Real> all_normed() { return has(CutWork::normed) ? reals(made(CutWork::normed)) : normed(); }

  std::vector<Real> products() {
    const std::vector<Real> n = all_normed();
    std::vector<Real> y;
    if (has(CutWork::keys_values)) {
      attend_to(numbers_, block(), own_, n, reals(made(CutWork::keys_values)), attention_);
      multiply(numbers_, second_product(), tokens_, attention_.result, y);
    } else if (attends())
      attention_products(numbers_, block(), sequences_, n, attention_, y);
    else if (routes())
      expert_products(numbers_, block(), n, experts_, y);
    else
      feed_forward_products(numbers_, block(), tokens_, n, feed_forward_, y);
    return y;
  }
  std::vector<Real> residual() {
    std::vector<Real> x = reals(inputs_.in), y = reals(made(CutWork::products));
    models::add_to_residual(numbers_, second_product(), y, x);
    return x;
  }
  std::vector<Real> products_backward() {
    const std::vector<Real> n = all_normed();
    const std::vector<Real> dy = derivatives();
    std::vector<Real> room, dn;
    if (has(CutWork::attention_slopes)) {
      const AttentionSlopes<Real> slopes{slopes_made().queries, reals(made(CutWork::keys_slopes))};
      std::vector<Real> d_qkv = slopes_of_qkv(numbers_, slopes);
      through_qkv(numbers_, block(), own_.first, own_.count, n, d_qkv, dn);
    } else if (attends()) {
      attend(numbers_, block(), sequences_, n, attention_);
      attention_products_backward(numbers_, block(), sequences_, n, attention_, dy, room, dn);
    } else if (routes()) {
      expert_products(numbers_, block(), n, experts_, room);
      expert_products_backward(numbers_, block(), n, experts_, dy, inputs_.scale, dn);
    } else {
      activate(numbers_, block(), tokens_, n, feed_forward_, room);
      feed_forward_products_backward(numbers_, block(), tokens_, n, feed_forward_, dy, room, dn);
    }
    return dn;
  }
  std::vector<Real> rounded(std::vector<Real> numbers) const {
    numbers_.round(numbers);
    return numbers;
  }
  std::vector<Real> derivatives() const {
    return reals(has(CutWork::derivatives) ? made(CutWork::derivatives) : inputs_.d_out);
  }
  /// The rank's own tokens, as it has them outside of the products, of all tokens that the products have.
  std::vector<Real> own_part(const std::vector<Real>& all) const {
    if (own_tokens_ == tokens_) return all;
    std::vector<Real> own;
    const std::int64_t count = own_sequence_ * of_.shape.hidden;
    for (std::int64_t s = 0; s < sequences_; ++s) {
      const auto first = all.begin() + (s * of_.chunk.tensor + of_.chunk.tensor_rank) * count;
      own.insert(own.end(), first, first + count);
    }
    return own;
  }

  /// Where the rank's tokens go.
  Routing<Real> routed() {
    const std::vector<Real> p = !keeps_probabilities(of_.chunk)
                                    ? router_probabilities(numbers_, block().router, all_normed())
                                : has(CutWork::probabilities) ? reals(made(CutWork::probabilities))
                                                              : reals(kept().front());
    return route(of_.shape, p, own_, CopyPlaces::by_sequence);
  }
  std::vector<Real> taken_tokens() {
    const Routing<Real> routing = routed();
    const std::int64_t experts = of_.shape.experts, choices = own_.count * of_.shape.top_k;  // of a sequence
    std::vector<Real> taken(static_cast<std::size_t>(sequences_ * experts), Real{0});
    for (std::size_t at = 0; at < routing.chosen.size(); ++at)
      if (const auto& [expert, place] = routing.chosen[at]; place != nowhere)
        taken[static_cast<std::size_t>(static_cast<std::int64_t>(at) / choices * experts + expert)] += Real{1};
    return taken;
  }
  std::vector<Real> copies() { return copies_of(of_.shape, routed(), all_normed()); }
  /// Begins the experts with the tokens of all ranks that share experts, or with the rank's own; ends before the second
  /// products.
  void begin_experts(bool backward) {
    experts_.experts.resize(block().experts_in.size());
    place_by_sequence(sequences_ * of_.chunk.expert, places_of_expert(of_.shape, own_.count), experts_.experts);
    if (of_.chunk.expert == 1)
      activate_experts(numbers_, block(), copies(), experts_.experts);
    else
      activate_experts(numbers_, block(),
                       reals(backward ? kept()[keeps_probabilities(of_.chunk) ? 1 : 0] : made(CutWork::route)),
                       experts_.experts);
  }
  std::vector<Real> experts_results() {
    begin_experts(false);
    const auto places = static_cast<std::int64_t>(here().numbers) * sequences_ / of_.shape.hidden;
    std::vector<Real> made = experts_products(numbers_, block(), places, experts_.experts);
    if (of_.chunk.tensor == 1) add_expert_biases(numbers_, block(), experts_.experts, made);
    return made;
  }
  std::vector<Real> results(std::vector<Real> sums) {
    experts_.experts.resize(block().experts_in.size());
    place_by_sequence(sequences_ * of_.chunk.expert, places_of_expert(of_.shape, own_.count), experts_.experts);
    add_expert_biases(numbers_, block(), experts_.experts, sums);
    return sums;
  }
  std::vector<Real> combined() {
    std::vector<Real> x = reals(inputs_.in), all;
    combine(of_.shape, routed(), reals(inputs_.made.back()), all);
    std::vector<Real> y = own_part(all);
    models::add_to_residual(numbers_, second_product(), y, x);
    return x;
  }
  std::vector<Real> d_results() { return slopes_of_results(numbers_, routed(), derivatives()); }
  std::vector<Real> through_experts() {
    begin_experts(true);
    const std::vector<Real> dy = of_.chunk.expert == 1 ? d_results() : reals(made(CutWork::slopes_of_results));
    std::vector<Real> d_copies = experts_backward(numbers_, block(), dy, experts_.experts);
    return of_.chunk.tensor == 1 ? rounded(std::move(d_copies)) : d_copies;
  }
  std::vector<Real> through_router() {
    std::vector<Real> all, dx = reals(inputs_.d_out);
    router_backward(numbers_, block().router, all_normed(), routed(), reals(kept().back()), derivatives(),
                    reals(inputs_.made.back()), inputs_.scale, all);
    std::vector<Real> dn = own_part(all);
    normed();
    residual_backward(numbers_, second_product(), norm_place(), own_tokens_, norm_, dn, dx);
    return dx;
  }
  /// The slopes of each sequence: those by own queries, then those by all keys and values, as far as own queries
  /// contribute.
  std::vector<Real> attention_slopes() {
    const std::vector<Real> keys_values = reals(made(CutWork::keys_values));
    const std::vector<Real> dy = derivatives();
    attend_to(numbers_, block(), own_, all_normed(), keys_values, attention_);
    std::vector<Real> d_result;
    multiply_backward(numbers_, second_product(), tokens_, attention_.result, dy, d_result);
    numbers_.round(d_result);
    const AttentionSlopes<Real> slopes = attend_to_backward(numbers_, own_, keys_values, attention_, d_result);
    return by_sequence(sequences_, slopes.queries, slopes.keys_values);
  }
  AttentionSlopes<Real> slopes_made() const {
    return slopes_by_sequence(numbers_, own_, reals(made(CutWork::attention_slopes)));
  }
  /// From the sum of the ranks' terms of the derivatives behind the norm to those before it.
  std::vector<Real> through_norm(CutWork behind) {
    normed();
    std::vector<Real> dn = reals(made(behind));
    std::vector<Real> dx = reals(inputs_.d_out);
    dx.resize(dn.size());  // zeros at the loss, where no residual stream goes on
    const bool at_loss = numbers_.places.blocks.empty();
    residual_backward(numbers_, at_loss ? LinearPlace{} : second_product(), norm_place(), own_tokens_, norm_, dn, dx);
    return dx;
  }

  std::vector<Real> greatest() {
    std::vector<Real> most(static_cast<std::size_t>(tokens_));
    greatest_logits(numbers_, tokens_, all_normed(), std::span<Real>(most));
    return most;
  }
  /// The softmax terms of each sequence: the sums of its tokens, then the logits of their targets.
  std::vector<Real> terms() {
    const std::vector<Real> most = reals(made(CutWork::greatest_logits));
    std::vector<Real> sum(most.size()), target(most.size());
    softmax_terms(numbers_, tokens_, all_normed(), tokens_of_share().next, std::span<const Real>(most),
                  std::span<Real>(sum), std::span<Real>(target));
    return by_sequence(sequences_, sum, target);
  }
  std::vector<Real> from_loss() {
    const double scale = inputs_.scale / static_cast<double>(of_.shape.sequence);
    const std::vector<Real> n = all_normed();
    const RowTokens tokens = tokens_of_share();
    std::vector<Real> dn;
    if (!has(CutWork::softmax_terms)) {
      loss_backward<Real>(numbers_, tokens_, n, tokens.next, scale, nullptr, dn);
      return dn;
    }
    const std::vector<Real> most = reals(made(CutWork::greatest_logits)), both = reals(made(CutWork::softmax_terms));
    std::vector<Real> sum;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const std::int64_t s = own_.count;
      sum.push_back(both[static_cast<std::size_t>(t / s * 2 * s + t % s)]);
    }
    const SoftmaxTotals<Real> totals{most, sum};
    loss_backward<Real>(numbers_, tokens_, n, tokens.next, scale, &totals, dn);
    return dn;
  }

  /// The gradient of the parameters that this step has it of, rounded; zeros elsewhere.
  void write_gradient(std::span<double> gradient) const {
    std::ranges::fill(gradient, 0.0);
    const CutWork work = of_.steps[of_.step].work;
    for (const GradientStretch& of : gradients_of(of_.shape, of_.chunk, of_.part, numbers_.places, work)) {
      const double factor = of.penalised ? inputs_.penalty_scale * of_.l2 : 0.0;
      for (auto j = static_cast<std::size_t>(of.first); j < static_cast<std::size_t>(of.first + of.count); ++j)
        gradient[j] = (factor == 0.0 ? 0.0 : factor * inputs_.w[j]) + static_cast<double>(numbers_.g[j]);
    }
    values::round_numbers(inputs_.format, gradient, gradient);
  }

  const CutPart& of_;
  const StepInputs& inputs_;
  TransformerNumbers<Real> numbers_;
  std::int64_t sequences_;
  OwnTokens own_;                                    ///< among the ranks that share tokens in products, too
  std::int64_t own_sequence_, tokens_, own_tokens_;  ///< own: outside of products
  NormKept<Real> norm_;
  AttentionKept<Real> attention_;
  FeedForwardKept<Real> feed_forward_;
  ExpertsKept<Real> experts_;
};

}  // namespace

void run_cut_step(const TransformerShape& shape, double l2, const Chunk& chunk, std::size_t segment, bool backward,
                  std::size_t step, const StepInputs& inputs, std::span<double> result) {
  const std::int64_t part = parts_of(shape, chunk).first + static_cast<std::int64_t>(segment);
  const CutPart of{shape, chunk, part, steps_of(shape, chunk, part, backward), step, l2};
  if (inputs.format == values::Format::float64)
    CutPass<double>(of, inputs).run(result);
  else
    CutPass<float>(of, inputs).run(result);
}

}  // namespace simgrad::models
