/// Attention of a transformer, one sequence and head at a time.
#include <algorithm>
#include <cmath>

#include "models/transformer_parts.h"
#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

/// Turns the heads of a token at place t.
template <class Real>
void turn(const TransformerNumbers<Real>& numbers, std::int64_t t, std::int64_t heads, bool back, Real* x) {
  const std::int64_t width = numbers.shape.head_width(), half = width / 2;
  const Real* const cosines = numbers.cosines.data() + t * half;
  const Real* const sines = numbers.sines.data() + t * half;
  for (std::int64_t head = 0; head < heads; ++head, x += width)
    for (std::int64_t i = 0; i < half; ++i) {
      const Real sine = back ? -sines[i] : sines[i];
      const Real first = x[i], second = x[i + half];
      x[i] = first * cosines[i] - second * sine;
      x[i + half] = second * cosines[i] + first * sine;
    }
}

/// The rows of one head of one sequence.
template <class Real, class Number>
AttentionRows<Number> at_head(const TransformerNumbers<Real>& numbers, AttentionRows<Number> rows,
                              std::int64_t sequence, std::int64_t head) {
  const std::int64_t width = numbers.shape.head_width();
  const std::int64_t shared = head / (numbers.heads / numbers.kv_heads);  // the head of k and v
  rows.q += sequence * rows.queries * rows.q_stride + head * width;
  rows.k += sequence * rows.keys * rows.kv_stride + shared * width;
  rows.v += sequence * rows.keys * rows.kv_stride + shared * width;
  return rows;
}

}  // namespace

template <class Real>
void turn_heads(const TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t tokens, std::int64_t heads,
                std::int64_t stride, bool back, std::vector<Real>& x) {
  if (numbers.shape.positions != Positions::rotary) return;
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / stride;
  for (std::int64_t row = 0; row < rows; ++row)
    turn(numbers, first + row % tokens, heads, back, x.data() + row * stride);
  numbers.round(x);
}

template <class Real>
void attention(TransformerNumbers<Real>& numbers, std::int64_t sequences, const AttentionRows<const Real>& rows,
               AttentionKept<Real>& kept) {
  const std::int64_t T = rows.queries, seen = rows.seen(), d = numbers.shape.head_width();
  const std::int64_t heads = numbers.heads, width = numbers.heads_width();
  const Real scale = Real{1} / std::sqrt(static_cast<Real>(d));
  kept.probabilities.resize(static_cast<std::size_t>(sequences * heads * T * seen));
  kept.result.resize(static_cast<std::size_t>(sequences * T * width));
  const auto each_head = [&](auto act) {
    for (std::int64_t s = 0; s < sequences; ++s)
      for (std::int64_t head = 0; head < heads; ++head)
        act(s, head, kept.probabilities.data() + (s * heads + head) * T * seen, at_head(numbers, rows, s, head));
  };
  each_head([&](std::int64_t, std::int64_t, Real* P, const AttentionRows<const Real>& at) {
    const MatrixView<Real> k{at.k, at.kv_stride};
    numbers.product.set({T, seen, d}, {at.q, at.q_stride}, k.transposed(), P, seen);
    for (std::int64_t i = 0; i < T; ++i) {
      Real* const row = P + i * seen;
      const std::int64_t own = at.first + i + 1;
      const Real factor = Real{1} / exponentials(own, scale, row);
      for (std::int64_t j = 0; j < own; ++j) row[j] *= factor;
      std::fill(row + own, row + seen, Real{0});
    }
  });
  numbers.round(kept.probabilities);
  each_head([&](std::int64_t s, std::int64_t head, const Real* P, const AttentionRows<const Real>& at) {
    numbers.product.set({T, d, seen}, {P, seen}, {at.v, at.kv_stride}, kept.result.data() + s * T * width + head * d,
                        width);
  });
  numbers.round(kept.result);
}

template <class Real>
void attention_backward(TransformerNumbers<Real>& numbers, std::int64_t sequences,
                        const AttentionRows<const Real>& rows, const AttentionKept<Real>& kept,
                        const std::vector<Real>& d_result, const AttentionRows<Real>& slopes) {
  const std::int64_t T = rows.queries, seen = rows.seen(), d = numbers.shape.head_width();
  const std::int64_t heads = numbers.heads, width = numbers.heads_width();
  const Real scale = Real{1} / std::sqrt(static_cast<Real>(d));
  std::vector<Real> dS(static_cast<std::size_t>(T * seen));
  for (std::int64_t s = 0; s < sequences; ++s)
    for (std::int64_t head = 0; head < heads; ++head) {
      const AttentionRows<const Real> at = at_head(numbers, rows, s, head);
      const AttentionRows<Real> to = at_head(numbers, slopes, s, head);
      const MatrixView<Real> P{kept.probabilities.data() + (s * heads + head) * T * seen, seen};
      const MatrixView<Real> d_head{d_result.data() + s * T * width + head * d, width};
      const MatrixView<Real> v{at.v, at.kv_stride};
      numbers.product.set({T, seen, d}, d_head, v.transposed(), dS.data(), seen);
      numbers.product.add({seen, d, T}, P.transposed(), d_head, to.v, to.kv_stride);
      for (std::int64_t i = 0; i < T; ++i) {
        const Real* const p = P.numbers + i * seen;
        Real* const row = dS.data() + i * seen;
        const std::int64_t own = at.first + i + 1;
        const Real mean = dot_product(own, p, row);
        for (std::int64_t j = 0; j < own; ++j) row[j] = scale * (p[j] * (row[j] - mean));
        std::fill(row + own, row + seen, Real{0});
      }
      numbers.round(dS);
      const MatrixView<Real> d_scores{dS.data(), seen};
      numbers.product.set({T, d, seen}, d_scores, {at.k, at.kv_stride}, to.q, to.q_stride);
      numbers.product.add({seen, d, T}, d_scores.transposed(), {at.q, at.q_stride}, to.k, to.kv_stride);
    }
}

#define SIMGRAD_FOR(Real)                                                                                           \
  template void turn_heads(const TransformerNumbers<Real>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                           bool, std::vector<Real>&);                                                               \
  template void attention(TransformerNumbers<Real>&, std::int64_t, const AttentionRows<const Real>&,                \
                          AttentionKept<Real>&);                                                                    \
  template void attention_backward(TransformerNumbers<Real>&, std::int64_t, const AttentionRows<const Real>&,       \
                                   const AttentionKept<Real>&, const std::vector<Real>&, const AttentionRows<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
