/// Attention of a transformer, one sequence and head at a time.
#include <algorithm>
#include <cmath>

#include "models/transformer_parts.h"
#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

/// Turns numbers i and i + width/2 of each head of a token at place t by its angles, or back.
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

/// Turns q and k of all tokens.
template <class Real>
void turn_all(const TransformerNumbers<Real>& numbers, std::int64_t sequences, bool back, std::vector<Real>& qkv) {
  const TransformerShape& shape = numbers.shape;
  if (shape.positions != Positions::rotary) return;
  const std::int64_t stride = numbers.qkv_width();
  for (std::int64_t token = 0; token < sequences * shape.sequence; ++token)
    turn(numbers, token % shape.sequence, numbers.heads + numbers.kv_heads, back, qkv.data() + token * stride);
  numbers.round(qkv);
}

/// Where q, k and v of one sequence and head begin in a row of qkv.
struct HeadPlace {
  std::int64_t q, k, v;
};
template <class Real>
HeadPlace head_place(const TransformerNumbers<Real>& numbers, std::int64_t sequence, std::int64_t head) {
  const std::int64_t width = numbers.shape.head_width();
  const std::int64_t first = sequence * numbers.shape.sequence * numbers.qkv_width();
  const std::int64_t shared = head / (numbers.heads / numbers.kv_heads);  // the head of k and v
  const std::int64_t k = first + numbers.heads_width() + shared * width;
  return {first + head * width, k, k + numbers.kv_heads * width};
}

}  // namespace

template <class Real>
void attention(TransformerNumbers<Real>& numbers, std::int64_t sequences, AttentionKept<Real>& kept) {
  const TransformerShape& shape = numbers.shape;
  const std::int64_t T = shape.sequence, d = shape.head_width(), stride = numbers.qkv_width();
  const std::int64_t heads = numbers.heads, width = numbers.heads_width();
  const Real scale = Real{1} / std::sqrt(static_cast<Real>(d));
  turn_all(numbers, sequences, false, kept.qkv);
  kept.probabilities.resize(static_cast<std::size_t>(sequences * heads * T * T));
  kept.result.resize(static_cast<std::size_t>(sequences * T * width));
  const auto each_head = [&](auto act) {
    for (std::int64_t s = 0; s < sequences; ++s)
      for (std::int64_t head = 0; head < heads; ++head)
        act(s, head, kept.probabilities.data() + (s * heads + head) * T * T, head_place(numbers, s, head));
  };
  const Real* const qkv = kept.qkv.data();
  each_head([&](std::int64_t, std::int64_t, Real* P, const HeadPlace& at) {
    const MatrixView<Real> k{qkv + at.k, stride};
    numbers.product.set({T, T, d}, {qkv + at.q, stride}, k.transposed(), P, T);
    for (std::int64_t i = 0; i < T; ++i) {
      Real* const row = P + i * T;
      const Real factor = Real{1} / exponentials(i + 1, scale, row);
      for (std::int64_t j = 0; j <= i; ++j) row[j] *= factor;
      std::fill(row + i + 1, row + T, Real{0});
    }
  });
  numbers.round(kept.probabilities);
  each_head([&](std::int64_t s, std::int64_t head, const Real* P, const HeadPlace& at) {
    numbers.product.set({T, d, T}, {P, T}, {qkv + at.v, stride}, kept.result.data() + s * T * width + head * d, width);
  });
  numbers.round(kept.result);
}

template <class Real>
void attention_backward(TransformerNumbers<Real>& numbers, std::int64_t sequences, const AttentionKept<Real>& kept,
                        const std::vector<Real>& d_result, std::vector<Real>& d_qkv) {
  const TransformerShape& shape = numbers.shape;
  const std::int64_t T = shape.sequence, d = shape.head_width(), stride = numbers.qkv_width();
  const std::int64_t heads = numbers.heads, width = numbers.heads_width();
  const Real scale = Real{1} / std::sqrt(static_cast<Real>(d));
  const Real* const qkv = kept.qkv.data();
  d_qkv.assign(kept.qkv.size(), Real{0});  // heads that share k and v add to one place
  std::vector<Real> dS(static_cast<std::size_t>(T * T));
  for (std::int64_t s = 0; s < sequences; ++s)
    for (std::int64_t head = 0; head < heads; ++head) {
      const HeadPlace at = head_place(numbers, s, head);
      const MatrixView<Real> P{kept.probabilities.data() + (s * heads + head) * T * T, T};
      const MatrixView<Real> d_head{d_result.data() + s * T * width + head * d, width};
      const MatrixView<Real> v{qkv + at.v, stride};
      numbers.product.set({T, T, d}, d_head, v.transposed(), dS.data(), T);
      numbers.product.add({T, d, T}, P.transposed(), d_head, d_qkv.data() + at.v, stride);
      for (std::int64_t i = 0; i < T; ++i) {
        const Real* const p = P.numbers + i * T;
        Real* const row = dS.data() + i * T;
        const Real mean = dot_product(i + 1, p, row);
        for (std::int64_t j = 0; j <= i; ++j) row[j] = scale * (p[j] * (row[j] - mean));
        std::fill(row + i + 1, row + T, Real{0});
      }
      numbers.round(dS);
      const MatrixView<Real> slopes{dS.data(), T};
      numbers.product.set({T, d, T}, slopes, {qkv + at.k, stride}, d_qkv.data() + at.q, stride);
      numbers.product.add({T, d, T}, slopes.transposed(), {qkv + at.q, stride}, d_qkv.data() + at.k, stride);
    }
  numbers.round(d_qkv);
  turn_all(numbers, sequences, true, d_qkv);
}

template void attention(TransformerNumbers<float>&, std::int64_t, AttentionKept<float>&);
template void attention(TransformerNumbers<double>&, std::int64_t, AttentionKept<double>&);
template void attention_backward(TransformerNumbers<float>&, std::int64_t, const AttentionKept<float>&,
                                 const std::vector<float>&, std::vector<float>&);
template void attention_backward(TransformerNumbers<double>&, std::int64_t, const AttentionKept<double>&,
                                 const std::vector<double>&, std::vector<double>&);

}  // namespace simgrad::models
