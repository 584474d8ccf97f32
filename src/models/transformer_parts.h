/// The parts of a transformer's passes: linear layers, norms, attention, the loss. Each has a forward and a backward
/// function, for float and double.
///
/// Activations are matrices of a row a token, sequence after sequence. A backward function adds the gradients of its
/// parameters to `g`. Every sum over tokens is one chain in their order, so that the bits do not depend on how many
/// sequences are passed at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/matrix_product.h"
#include "models/model.h"
#include "models/transformer_places.h"
#include "values/wire_format.h"

namespace simgrad::models {

/// A rank's tokens of each sequence.
struct OwnTokens {
  std::int64_t first = 0, count = 0;
};

/// The numbers that all parts share.
template <class Real>
struct TransformerNumbers {
  /// w: rounded to the format. In a half-precision format activations and their derivatives are rounded as well, each
  /// where a part has computed it; sums inside of a part are float's.
  TransformerNumbers(const TransformerShape& of, const TransformerPlaces& at, std::span<const double> parameters,
                     values::Format in, bool backward);

  TransformerShape shape;                    ///< the whole transformer's
  TransformerPlaces places;                  ///< of the parts in w
  std::int64_t heads, kv_heads, vocabulary;  ///< of a rank's share
  values::Format format;
  std::vector<Real> w;
  std::vector<Real> g;  ///< (parameters), zero at first; empty for a forward pass alone
  MatrixProduct<Real> product;
  std::vector<Real> cosines, sines;  ///< rotary: (sequence x head width / 2)

  std::int64_t heads_width() const { return heads * shape.head_width(); }
  std::int64_t qkv_width() const { return (heads + 2 * kv_heads) * shape.head_width(); }
  const Real* at(std::int64_t place) const { return w.data() + place; }
  Real* gradient_at(std::int64_t place) { return g.data() + place; }
  /// Rounds numbers to the format.
  void round(std::vector<Real>& numbers) const;
};

/// y = x W^T, not rounded.  x: (tokens x inputs).  y: (tokens x outputs).
template <class Real>
void multiply(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
              const std::vector<Real>& x, std::vector<Real>& y);
/// y <- y + b, rounded.
template <class Real>
void add_biases(const TransformerNumbers<Real>& numbers, const LinearPlace& place, std::vector<Real>& y);
/// dx = dy W, not rounded; adds dy^T x to the gradient.
template <class Real>
void multiply_backward(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
                       const std::vector<Real>& x, const std::vector<Real>& dy, std::vector<Real>& dx);
/// Adds the sums of dy to the gradient.
template <class Real>
void add_biases_backward(TransformerNumbers<Real>& numbers, const LinearPlace& place, const std::vector<Real>& dy);

/// A norm's results that its backward pass needs: x less its mean (not in an RMS norm), over its deviation.
template <class Real>
struct NormKept {
  std::vector<Real> scaled;   ///< (tokens x hidden)
  std::vector<Real> inverse;  ///< (tokens): 1 / deviation
};

/// n = gains * (x - mean) / deviation + biases, with the deviation over a token's numbers. Source: J. L. Ba, J. R.
/// Kiros, G. E. Hinton, Layer Normalization, 2016; B. Zhang, R. Sennrich, Root Mean Square Layer Normalization, 2019.
template <class Real>
void norm(const TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
          const std::vector<Real>& x, NormKept<Real>& kept, std::vector<Real>& n);
/// n again, from what is kept.
template <class Real>
void norm_again(const TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
                const NormKept<Real>& kept, std::vector<Real>& n);
/// Adds the derivatives with respect to x to dx, and the gradients of gains and biases.
template <class Real>
void norm_backward(TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
                   const NormKept<Real>& kept, const std::vector<Real>& dn, std::vector<Real>& dx);

/// Attention's results that its backward pass needs.
template <class Real>
struct AttentionKept {
  std::vector<Real> qkv;            ///< (tokens x qkv_width), or of queries alone: q and k turned
  std::vector<Real> probabilities;  ///< (sequences x heads x queries x keys that they see)
  std::vector<Real> result;         ///< (tokens x heads_width)
};

/// Turns numbers i and i + width/2 of each head by the angle t 10000^(-2 i / width) at place t, or back, where
/// positions are rotary, and rounds.  x: of each sequence `tokens` rows of `stride` numbers that begin with so many
/// heads; the first one's place is `first`. Source: J. Su et al., RoFormer: Enhanced Transformer with Rotary Position
/// Embedding, 2021.
template <class Real>
void turn_heads(const TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t tokens, std::int64_t heads,
                std::int64_t stride, bool back, std::vector<Real>& x);

/// Where the queries, keys and values of some sequences stand, and their derivatives alike. A row has a token's heads;
/// the tokens of a sequence follow each other.
template <class Number>
struct AttentionRows {
  std::int64_t first = 0, queries = 0;  ///< the place of a sequence's first query, and how many follow from there
  std::int64_t keys = 0;                ///< rows of keys and values of each sequence, from place 0 on
  Number* q = nullptr;
  Number* k = nullptr;
  Number* v = nullptr;
  std::int64_t q_stride = 0, kv_stride = 0;

  std::int64_t seen() const { return first + queries; }  ///< keys of a sequence that some query sees
};
/// The attention rows of all tokens, of rows q, k, v.
template <class Real, class Number>
AttentionRows<Number> all_rows(const TransformerNumbers<Real>& numbers, Number* qkv) {
  const std::int64_t s = numbers.shape.sequence, q = numbers.heads_width(), kv = (numbers.qkv_width() - q) / 2;
  return {0, s, s, qkv, qkv + q, qkv + q + kv, q + 2 * kv, q + 2 * kv};
}

/// result = softmax(q k^T / sqrt(head width)) v for every head, each token among those up to itself.
template <class Real>
void attention(TransformerNumbers<Real>& numbers, std::int64_t sequences, const AttentionRows<const Real>& rows,
               AttentionKept<Real>& kept);
/// Sets the derivatives with respect to q, and adds those with respect to k and v, all turned and not rounded.
template <class Real>
void attention_backward(TransformerNumbers<Real>& numbers, std::int64_t sequences,
                        const AttentionRows<const Real>& rows, const AttentionKept<Real>& kept,
                        const std::vector<Real>& d_result, const AttentionRows<Real>& slopes);

/// The head and the softmax cross-entropy of each token's next one, some tokens at a time, so that logits of a large
/// vocabulary take bounded memory.  n: (tokens x hidden).  next: (tokens).  Returns the sums over tokens of the loss
/// and of those predicted right; among equal logits the first token is predicted.
template <class Real>
Score loss(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
           std::span<const std::int64_t> next);
/// The probability of each token of the vocabulary behind each token: (tokens x vocabulary).
template <class Real>
void next_probabilities(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                        std::span<double> probabilities);
/// A softmax's totals over the vocabulary of all ranks: the greatest logit z of each token, and the sum of e^(z - it).
template <class Real>
struct SoftmaxTotals {
  std::span<const Real> most, sum;  ///< (tokens)
};
/// dn: the derivatives of scale times the sum of the losses, not rounded; adds the gradient of the head's matrix.
/// next: counted from the first token of the rank's share; others are outside of it.  totals: null if the share is all.
template <class Real>
void loss_backward(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                   std::span<const std::int64_t> next, double scale, const SoftmaxTotals<Real>* totals,
                   std::vector<Real>& dn);
/// The greatest of a rank's logits of each token.
template <class Real>
void greatest_logits(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                     std::span<Real> most);
/// A rank's terms of the sums over the vocabulary: of e^(z - most), and the logit of the next token or 0.
template <class Real>
void softmax_terms(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                   std::span<const std::int64_t> next, std::span<const Real> most, std::span<Real> sum,
                   std::span<Real> target);

}  // namespace simgrad::models
