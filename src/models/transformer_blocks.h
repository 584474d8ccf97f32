/// The two parts of a transformer's block between the places where ranks that share products sum: from a norm's results
/// to the second product, and from the sum to the residual stream. An uncut pass and cut passes both consist of these.
#pragma once

#include <vector>

#include "models/transformer_parts.h"

namespace simgrad::models {

/// The feed-forward part's results that its backward pass needs.
template <class Real>
struct FeedForwardKept {
  std::vector<Real> inner;   ///< the inputs of the second product
  std::vector<Real> slopes;  ///< GELU's derivatives; gated: the results of the first product
};

/// n: a norm's results.  kept: up to the inputs of the second product.
template <class Real>
void attend(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
            const std::vector<Real>& n, AttentionKept<Real>& kept);
/// Computes that, and y: (tokens x hidden), the rank's terms of the second product's sums, not rounded.
template <class Real>
void attention_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
                        const std::vector<Real>& n, AttentionKept<Real>& kept, std::vector<Real>& y);
/// dn: the rank's terms of the derivatives with respect to n, not rounded.  room: any contents.
template <class Real>
void attention_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
                                 const std::vector<Real>& n, const AttentionKept<Real>& kept,
                                 const std::vector<Real>& dy, std::vector<Real>& room, std::vector<Real>& dn);
/// From the derivatives with respect to turned q, k and v to those with respect to n, not rounded, with the gradient of
/// the first product.  d_qkv: (tokens x qkv_width), of each sequence so many tokens, the first one at place `first`.
template <class Real>
void through_qkv(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t first, std::int64_t tokens,
                 const std::vector<Real>& n, std::vector<Real>& d_qkv, std::vector<Real>& dn);

/// As attend.  room: any contents.
template <class Real>
void activate(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
              const std::vector<Real>& n, FeedForwardKept<Real>& kept, std::vector<Real>& room);
/// As attention_products.
template <class Real>
void feed_forward_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                           const std::vector<Real>& n, FeedForwardKept<Real>& kept, std::vector<Real>& y);
/// As attention_products_backward. `kept` is used up.
template <class Real>
void feed_forward_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                                    const std::vector<Real>& n, FeedForwardKept<Real>& kept,
                                    const std::vector<Real>& dy, std::vector<Real>& room, std::vector<Real>& dn);

/// x <- x + y + biases, each sum rounded.  out: the second product's place.  y is used up.
template <class Real>
void add_to_residual(const TransformerNumbers<Real>& numbers, const LinearPlace& out, std::vector<Real>& y,
                     std::vector<Real>& x);
/// Takes dx, the derivatives behind the sum, to those before the part: adds those that come by dn through the norm.
/// Adds the gradients of the norm and of the biases. dn is rounded first.
template <class Real>
void residual_backward(TransformerNumbers<Real>& numbers, const LinearPlace& out, const NormPlace& place,
                       std::int64_t tokens, const NormKept<Real>& kept, std::vector<Real>& dn, std::vector<Real>& dx);

/// x_t = the row of token t's number in the embedding; 0 for tokens outside of the rank's share.
template <class Real>
void look_up(const TransformerNumbers<Real>& numbers, std::span<const std::int64_t> token, std::vector<Real>& x);
/// x_t <- x_t + the position's vector, rounded.  first: the position of the first row; then come `length` positions of
/// each sequence.
template <class Real>
void add_positions(const TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t length,
                   std::vector<Real>& x);
template <class Real>
void look_up_backward(TransformerNumbers<Real>& numbers, std::span<const std::int64_t> token,
                      const std::vector<Real>& dx);
template <class Real>
void add_positions_backward(TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t length,
                            const std::vector<Real>& dx);

/// The tokens of rows [first, first + count), and each one's next. A row has its first tokens as features, and the one
/// behind them as its target.
struct RowTokens {
  std::vector<std::int64_t> token, next;
  void take(const Samples& rows, std::int64_t first, std::int64_t count, std::int64_t vocabulary);
  /// Leaves of each row's `sequence` tokens those at [first, first + count).
  void keep(std::int64_t sequence, std::int64_t first, std::int64_t count);
};

}  // namespace simgrad::models
