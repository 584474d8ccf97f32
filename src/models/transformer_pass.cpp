#include "models/transformer_pass.h"

#include <algorithm>

#include "models/transformer_parts.h"
#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

constexpr std::int64_t tokens_at_once = 512;

/// A block's results that its backward pass needs.
template <class Real>
struct BlockKept {
  NormKept<Real> attention_norm, feed_forward_norm;
  AttentionKept<Real> attention;
  std::vector<Real> inner;   ///< the inputs of the second product of the feed-forward part
  std::vector<Real> slopes;  ///< GELU's derivatives; gated: the results of the first product
};

template <class Real>
class TransformerPass {
 public:
  TransformerPass(const TransformerShape& shape, std::span<const double> w, values::Format format, bool backward)
      : numbers_(shape, w, format, backward),
        kept_(backward ? static_cast<std::size_t>(shape.layers) : std::size_t{1}),
        backward_(backward) {}

  Score score(const Samples& rows) {
    Score sum;
    const auto length = static_cast<double>(shape().sequence);
    for_pieces(rows, [&] {
      const Score piece = loss(numbers_, tokens_, n_, next_);
      sum.loss += piece.loss / length;
      sum.metric += piece.metric / length;
    });
    return sum;
  }

  void add_gradient(const Samples& rows, double scale, std::span<double> gradient) {
    for_pieces(rows, [&] {
      loss_backward(numbers_, tokens_, n_, next_, scale / static_cast<double>(shape().sequence), dn_);
      backward();
    });
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] += static_cast<double>(numbers_.g[j]);
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

  /// A row has its first tokens as features, and the one behind them as its target.
  void take_rows(const Samples& rows, std::int64_t first, std::int64_t count) {
    const auto vocabulary = static_cast<std::size_t>(shape().vocabulary);
    token_.clear();
    next_.clear();
    for (std::int64_t i = first; i < first + count; ++i) {
      const double* const x = rows.features + rows.row(i) * rows.columns;
      for (std::int64_t t = 0; t < rows.columns; ++t) {
        token_.push_back(static_cast<std::int64_t>(class_number(x[t], vocabulary)));
        if (t > 0) next_.push_back(token_.back());
      }
      next_.push_back(static_cast<std::int64_t>(class_number(rows.targets[rows.row(i)], vocabulary)));
    }
    sequences_ = count;
    tokens_ = count * shape().sequence;
  }

  void forward() {
    embed();
    for (std::size_t block = 0; block < numbers_.places.blocks.size(); ++block)
      forward(numbers_.places.blocks[block], kept_[backward_ ? block : 0]);
    norm(numbers_, numbers_.places.last_norm, tokens_, x_, last_norm_, n_);
  }

  void embed() {
    const std::int64_t h = shape().hidden;
    x_.resize(static_cast<std::size_t>(tokens_ * h));
    for (std::int64_t t = 0; t < tokens_; ++t) {
      Real* const x = x_.data() + t * h;
      std::copy_n(numbers_.at(numbers_.places.embedding + token(t) * h), h, x);
      if (numbers_.places.positions != nowhere) add_numbers(h, numbers_.at(position_of(t)), x);
    }
    numbers_.round(x_);
  }

  std::int64_t token(std::int64_t t) const { return token_[static_cast<std::size_t>(t)]; }
  std::int64_t position_of(std::int64_t t) const {
    return numbers_.places.positions + t % shape().sequence * shape().hidden;
  }

  void forward(const BlockPlaces& place, BlockKept<Real>& kept) {
    norm(numbers_, place.attention_norm, tokens_, x_, kept.attention_norm, n_);
    linear(numbers_, place.attention_in, tokens_, n_, kept.attention.qkv);
    attention(numbers_, sequences_, kept.attention);
    linear(numbers_, place.attention_out, tokens_, kept.attention.result, y_);
    add_to_residual();
    norm(numbers_, place.feed_forward_norm, tokens_, x_, kept.feed_forward_norm, n_);
    activate(place, kept);
    linear(numbers_, place.feed_forward_out, tokens_, kept.inner, y_);
    add_to_residual();
  }

  void add_to_residual() {
    add_numbers(static_cast<std::int64_t>(x_.size()), y_.data(), x_.data());
    numbers_.round(x_);
  }

  void activate(const BlockPlaces& place, BlockKept<Real>& kept) {
    const std::int64_t f = shape().feed_forward;
    kept.inner.resize(static_cast<std::size_t>(tokens_ * f));
    if (shape().gated) {
      linear(numbers_, place.feed_forward_in, tokens_, n_, kept.slopes);
      for (std::int64_t t = 0; t < tokens_; ++t) {
        const Real* const gate = kept.slopes.data() + 2 * t * f;
        swiglu(f, gate, gate + f, kept.inner.data() + t * f);
      }
    } else {
      linear(numbers_, place.feed_forward_in, tokens_, n_, y_);
      kept.slopes.resize(y_.size());
      gelu(tokens_ * f, y_.data(), kept.inner.data(), kept.slopes.data());
    }
    numbers_.round(kept.inner);
  }

  /// From dn_, the derivatives with respect to the head's inputs, to the embedding.
  void backward() {
    dx_.assign(x_.size(), Real{0});
    norm_backward(numbers_, numbers_.places.last_norm, tokens_, last_norm_, dn_, dx_);
    for (std::size_t block = kept_.size(); block-- > 0;) backward(numbers_.places.blocks[block], kept_[block]);
    const std::int64_t h = shape().hidden;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const Real* const dx = dx_.data() + t * h;
      add_numbers(h, dx, numbers_.gradient_at(numbers_.places.embedding + token(t) * h));
      if (numbers_.places.positions != nowhere) add_numbers(h, dx, numbers_.gradient_at(position_of(t)));
    }
  }

  void backward(const BlockPlaces& place, BlockKept<Real>& kept) {
    linear_backward(numbers_, place.feed_forward_out, tokens_, kept.inner, dx_, y_);
    derive_activation(kept);
    norm_again(numbers_, place.feed_forward_norm, tokens_, kept.feed_forward_norm, n_);
    linear_backward(numbers_, place.feed_forward_in, tokens_, n_, kept.slopes, dn_);
    norm_backward(numbers_, place.feed_forward_norm, tokens_, kept.feed_forward_norm, dn_, dx_);
    linear_backward(numbers_, place.attention_out, tokens_, kept.attention.result, dx_, y_);
    attention_backward(numbers_, sequences_, kept.attention, y_, d_qkv_);
    norm_again(numbers_, place.attention_norm, tokens_, kept.attention_norm, n_);
    linear_backward(numbers_, place.attention_in, tokens_, n_, d_qkv_, dn_);
    norm_backward(numbers_, place.attention_norm, tokens_, kept.attention_norm, dn_, dx_);
  }

  /// Replaces `slopes` by the derivatives with respect to the results of the first product. y_: with respect to
  /// `inner`.
  void derive_activation(BlockKept<Real>& kept) {
    const std::int64_t f = shape().feed_forward;
    if (shape().gated)
      for (std::int64_t t = 0; t < tokens_; ++t) {
        Real* const gate = kept.slopes.data() + 2 * t * f;
        swiglu_slopes(f, y_.data() + t * f, gate, gate + f);
      }
    else
      for (std::size_t i = 0; i < y_.size(); ++i) kept.slopes[i] *= y_[i];
    numbers_.round(kept.slopes);
  }

  TransformerNumbers<Real> numbers_;
  std::vector<BlockKept<Real>> kept_;  ///< of every block, or of one after another for a forward pass alone
  bool backward_;
  NormKept<Real> last_norm_;
  std::int64_t sequences_ = 0, tokens_ = 0;
  std::vector<std::int64_t> token_, next_;
  std::vector<Real> x_, n_, y_;  ///< between blocks; behind a norm; behind a product
  std::vector<Real> dx_, dn_, d_qkv_;
};

}  // namespace

Score transformer_score(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                        values::Format format) {
  if (rows.count == 0) return {};
  if (format == values::Format::float64) return TransformerPass<double>(shape, w, format, false).score(rows);
  return TransformerPass<float>(shape, w, format, false).score(rows);
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
