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

/// The numbers that all parts share.
template <class Real>
struct TransformerNumbers {
  /// w: rounded to the format. In a half-precision format activations and their derivatives are rounded as well, each
  /// where a part has computed it; sums inside of a part are float's.
  TransformerNumbers(const TransformerShape& of, std::span<const double> parameters, values::Format in, bool backward);

  TransformerShape shape;
  TransformerPlaces places;
  values::Format format;
  std::vector<Real> w;
  std::vector<Real> g;  ///< (parameters), zero at first; empty for a forward pass alone
  MatrixProduct<Real> product;
  std::vector<Real> cosines, sines;  ///< rotary: (sequence x head width / 2)

  const Real* at(std::int64_t place) const { return w.data() + place; }
  Real* gradient_at(std::int64_t place) { return g.data() + place; }
  /// Rounds numbers to the format.
  void round(std::vector<Real>& numbers) const;
};

/// y = x W^T + b.  x: (tokens x inputs).  y: (tokens x outputs).
template <class Real>
void linear(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
            const std::vector<Real>& x, std::vector<Real>& y);
/// dx = dy W; adds dy^T x and the sums of dy to the gradient.
template <class Real>
void linear_backward(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
                     const std::vector<Real>& x, const std::vector<Real>& dy, std::vector<Real>& dx);

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
  std::vector<Real> qkv;            ///< (tokens x hidden + 2 kv_width): q and k turned where positions are rotary
  std::vector<Real> probabilities;  ///< (sequences x heads x sequence x sequence)
  std::vector<Real> result;         ///< (tokens x hidden)
};

/// result = softmax(q k^T / sqrt(head width)) v for every head, each token among those up to itself. Positions that are
/// rotary turn q and k first: numbers i and i + width/2 of a head by the angle t 10000^(-2 i / width) at place t.
/// Source: J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.
template <class Real>
void attention(TransformerNumbers<Real>& numbers, std::int64_t sequences, AttentionKept<Real>& kept);
/// d_qkv: (tokens x hidden + 2 kv_width), with respect to q and k before they were turned.
template <class Real>
void attention_backward(TransformerNumbers<Real>& numbers, std::int64_t sequences, const AttentionKept<Real>& kept,
                        const std::vector<Real>& d_result, std::vector<Real>& d_qkv);

/// The head and the softmax cross-entropy of each token's next one, some tokens at a time, so that logits of a large
/// vocabulary take bounded memory.  n: (tokens x hidden).  next: (tokens).  Returns the sums over tokens of the loss
/// and of those predicted right; among equal logits the first token is predicted.
template <class Real>
Score loss(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
           std::span<const std::int64_t> next);
/// The same, and dn: the derivatives of scale times the sum of the losses.
template <class Real>
void loss_backward(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                   std::span<const std::int64_t> next, double scale, std::vector<Real>& dn);

}  // namespace simgrad::models
