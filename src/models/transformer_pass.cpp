#include "models/transformer_pass.h"

#include <algorithm>

#include "models/transformer_experts.h"

namespace simgrad::models {

namespace {

constexpr std::int64_t tokens_at_once = 512;

/// A block's results that its backward pass needs.
template <class Real>
struct BlockKept {
  NormKept<Real> attention_norm, feed_forward_norm;
  AttentionKept<Real> attention;
  FeedForwardKept<Real> feed_forward;
  ExpertsKept<Real> experts;  ///< instead, in a block of experts
};

template <class Real>
class TransformerPass {
 public:
  TransformerPass(const TransformerShape& shape, std::span<const double> w, values::Format format, bool backward)
      : numbers_(shape, TransformerPlaces(shape), w, format, backward),
        kept_(backward ? static_cast<std::size_t>(shape.layers) : std::size_t{1}),
        backward_(backward) {}

  Score score(const Samples& rows) {
    Score sum;
    const auto length = static_cast<double>(shape().sequence);
    for_pieces(rows, [&] {
      const Score piece = loss(numbers_, tokens_, n_, rows_.next);
      sum.loss += piece.loss / length;
      sum.metric += piece.metric / length;
    });
    return sum;
  }

  void predict(const Samples& rows, std::span<double> predictions) {
    for_pieces(rows, [&] {
      const auto count = static_cast<std::size_t>(tokens_ * shape().vocabulary);
      next_probabilities(numbers_, tokens_, n_, predictions.first(count));
      predictions = predictions.subspan(count);
    });
  }

  void add_gradient(const Samples& rows, double scale, std::span<double> gradient) {
    for_pieces(rows, [&] {
      const double token_scale = scale / static_cast<double>(shape().sequence);
      loss_backward<Real>(numbers_, tokens_, n_, rows_.next, token_scale, nullptr, dn_);
      numbers_.round(dn_);
      auxiliary_scale_ = scale;
      backward();
    });
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] += static_cast<double>(numbers_.g[j]);
  }

  std::vector<ExpertLoad> expert_loads(const Samples& rows) {
    std::vector<ExpertLoad> loads;
    for (std::int64_t block = 0; block < shape().layers; ++block)
      if (shape().has_experts(block))
        loads.push_back({.block = block,
                         .chosen = std::vector<std::int64_t>(static_cast<std::size_t>(shape().experts)),
                         .tokens = std::vector<std::int64_t>(static_cast<std::size_t>(shape().experts))});
    for_pieces(rows, [&] {
      const double share = static_cast<double>(sequences_) / static_cast<double>(rows.count);
      for (ExpertLoad& load : loads) {
        const Routing<Real>& routing = kept_[static_cast<std::size_t>(load.block)].experts.routing;
        std::ranges::transform(load.tokens, routing.taken, load.tokens.begin(), std::plus());
        for (const ExpertChoice& choice : routing.chosen) ++load.chosen[static_cast<std::size_t>(choice.expert)];
        load.dropped += routing.dropped;
        load.auxiliary += share * auxiliary_loss(shape(), routing);
      }
    });
    return loads;
  }

 private:
  const TransformerShape& shape() const { return numbers_.shape; }

  /// Passes forward through some rows after others. n_ has the inputs of the head then.
  template <class Visit>
  void for_pieces(const Samples& rows, Visit visit) {
    const std::int64_t at_once = std::max<std::int64_t>(1, tokens_at_once / shape().sequence);
    for (std::int64_t first = 0; first < rows.count; first += at_once) {
      take_rows(rows, first, std::min(at_once, rows.count - first));
      forward();
      visit();
    }
  }

  void take_rows(const Samples& rows, std::int64_t first, std::int64_t count) {
    rows_.take(rows, first, count, shape().vocabulary);
    sequences_ = count;
    tokens_ = count * shape().sequence;
  }

  void forward() {
    look_up(numbers_, std::span<const std::int64_t>(rows_.token), x_);
    add_positions(numbers_, 0, shape().sequence, x_);
    for (std::size_t block = 0; block < numbers_.places.blocks.size(); ++block)
      forward(numbers_.places.blocks[block], kept_[backward_ ? block : 0]);
    norm(numbers_, numbers_.places.last_norm, tokens_, x_, last_norm_, n_);
  }

  void forward(const BlockPlaces& place, BlockKept<Real>& kept) {
    norm(numbers_, place.attention_norm, tokens_, x_, kept.attention_norm, n_);
    attention_products(numbers_, place, sequences_, n_, kept.attention, y_);
    add_to_residual(numbers_, place.attention_out, y_, x_);
    norm(numbers_, place.feed_forward_norm, tokens_, x_, kept.feed_forward_norm, n_);
    if (place.experts_in.empty())
      feed_forward_products(numbers_, place, tokens_, n_, kept.feed_forward, y_);
    else
      expert_products(numbers_, place, n_, kept.experts, y_);
    add_to_residual(numbers_, place.feed_forward_out, y_, x_);
  }

  /// From dn_, the derivatives with respect to the head's inputs, to the embedding.
  void backward() {
    dx_.assign(x_.size(), Real{0});
    norm_backward(numbers_, numbers_.places.last_norm, tokens_, last_norm_, dn_, dx_);
    for (std::size_t block = kept_.size(); block-- > 0;) backward(numbers_.places.blocks[block], kept_[block]);
    look_up_backward(numbers_, std::span<const std::int64_t>(rows_.token), dx_);
    add_positions_backward(numbers_, 0, shape().sequence, dx_);
  }

  void backward(const BlockPlaces& place, BlockKept<Real>& kept) {
    norm_again(numbers_, place.feed_forward_norm, tokens_, kept.feed_forward_norm, n_);
    if (place.experts_in.empty())
      feed_forward_products_backward(numbers_, place, tokens_, n_, kept.feed_forward, dx_, y_, dn_);
    else
      expert_products_backward(numbers_, place, n_, kept.experts, dx_, auxiliary_scale_, dn_);
    residual_backward(numbers_, place.feed_forward_out, place.feed_forward_norm, tokens_, kept.feed_forward_norm, dn_,
                      dx_);
    norm_again(numbers_, place.attention_norm, tokens_, kept.attention_norm, n_);
    attention_products_backward(numbers_, place, sequences_, n_, kept.attention, dx_, y_, dn_);
    residual_backward(numbers_, place.attention_out, place.attention_norm, tokens_, kept.attention_norm, dn_, dx_);
  }

  TransformerNumbers<Real> numbers_;
  std::vector<BlockKept<Real>> kept_;  ///< of every block, or of one after another for a forward pass alone
  bool backward_;
  NormKept<Real> last_norm_;
  std::int64_t sequences_ = 0, tokens_ = 0;
  double auxiliary_scale_ = 0.0;  ///< of the sum of the rows' auxiliary losses
  RowTokens rows_;
  std::vector<Real> x_, n_, y_;  ///< between blocks; behind a norm; behind a product, or derivatives inside of a part
  std::vector<Real> dx_, dn_;
};

}  // namespace

Score transformer_score(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                        values::Format format) {
  if (rows.count == 0) return {};
  if (format == values::Format::float64) return TransformerPass<double>(shape, w, format, false).score(rows);
  return TransformerPass<float>(shape, w, format, false).score(rows);
}

void transformer_predict(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                         values::Format format, std::span<double> predictions) {
  if (rows.count == 0) return;
  if (format == values::Format::float64)
    TransformerPass<double>(shape, w, format, false).predict(rows, predictions);
  else
    TransformerPass<float>(shape, w, format, false).predict(rows, predictions);
}

std::vector<ExpertLoad> transformer_expert_loads(const TransformerShape& shape, const Samples& rows,
                                                 std::span<const double> w, values::Format format) {
  if (rows.count == 0 || shape.experts == 0) return {};
  if (format == values::Format::float64) return TransformerPass<double>(shape, w, format, true).expert_loads(rows);
  return TransformerPass<float>(shape, w, format, true).expert_loads(rows);
}

void add_transformer_gradient(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                              double scale, values::Format format, std::span<double> gradient) {
  if (rows.count == 0) return;
  if (format == values::Format::float64)
    TransformerPass<double>(shape, w, format, true).add_gradient(rows, scale, gradient);
  else
    TransformerPass<float>(shape, w, format, true).add_gradient(rows, scale, gradient);
}

}  // namespace simgrad::models
