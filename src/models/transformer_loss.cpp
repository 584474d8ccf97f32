/// The head of a transformer and its loss.
#include <algorithm>
#include <cmath>

#include "models/transformer_parts.h"
#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

constexpr std::int64_t logits_at_once = std::int64_t{1} << 19;

/// Visits the tokens in pieces: visit(first, count, logits), with logits (count x vocabulary).
template <class Real, class Visit>
void for_pieces_of_logits(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                          Visit visit) {
  const std::int64_t V = numbers.vocabulary, h = numbers.shape.hidden;
  const std::int64_t piece = std::clamp<std::int64_t>(logits_at_once / V, 1, tokens);
  const MatrixView<Real> W{numbers.at(numbers.places.head.matrix), h};
  std::vector<Real> z;
  for (std::int64_t first = 0; first < tokens; first += piece) {
    const std::int64_t count = std::min(piece, tokens - first);
    z.resize(static_cast<std::size_t>(count * V));
    numbers.product.set({count, V, h}, {n.data() + first * h, h}, W.transposed(), z.data(), V);
    numbers.round(z);
    visit(first, count, z);
  }
}

}  // namespace

template <class Real>
Score loss(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
           std::span<const std::int64_t> next) {
  const std::int64_t V = numbers.vocabulary;
  Score score;
  for_pieces_of_logits(numbers, tokens, n, [&](std::int64_t first, std::int64_t count, std::vector<Real>& logits) {
    for (std::int64_t i = 0; i < count; ++i) {
      Real* const z = logits.data() + i * V;
      const std::int64_t y = next[static_cast<std::size_t>(first + i)];
      const std::int64_t best = std::max_element(z, z + V) - z;
      const double behind = static_cast<double>(z[best]) - static_cast<double>(z[y]);
      score.loss += behind + std::log(static_cast<double>(exponentials(V, Real{1}, z)));
      score.metric += best == y ? 1.0 : 0.0;
    }
  });
  return score;
}

template <class Real>
void next_probabilities(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                        std::span<double> probabilities) {
  const std::int64_t V = numbers.vocabulary;
  for_pieces_of_logits(numbers, tokens, n, [&](std::int64_t first, std::int64_t count, std::vector<Real>& logits) {
    for (std::int64_t i = 0; i < count; ++i) {
      Real* const z = logits.data() + i * V;
      const auto sum = static_cast<double>(exponentials(V, Real{1}, z));
      double* const p = probabilities.data() + (first + i) * V;
      for (std::int64_t c = 0; c < V; ++c) p[c] = static_cast<double>(z[c]) / sum;
    }
  });
}

template <class Real>
void loss_backward(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                   std::span<const std::int64_t> next, double scale, const SoftmaxTotals<Real>* totals,
                   std::vector<Real>& dn) {
  const std::int64_t V = numbers.vocabulary, h = numbers.shape.hidden;
  const LinearPlace& head = numbers.places.head;
  dn.resize(static_cast<std::size_t>(tokens * h));
  for_pieces_of_logits(numbers, tokens, n, [&](std::int64_t first, std::int64_t count, std::vector<Real>& logits) {
    for (std::int64_t i = 0; i < count; ++i) {
      Real* const z = logits.data() + i * V;
      const auto token = static_cast<std::size_t>(first + i);
      const Real most = totals ? *std::max_element(z, z + V) : Real{0};
      const Real sum = exponentials(V, Real{1}, z);
      const Real factor = totals ? static_cast<Real>(scale) / totals->sum[token] * std::exp(most - totals->most[token])
                                 : static_cast<Real>(scale) / sum;
      for (std::int64_t c = 0; c < V; ++c) z[c] *= factor;
      if (const std::int64_t y = next[token]; y >= 0 && y < V) z[y] -= static_cast<Real>(scale);
    }
    numbers.round(logits);
    const MatrixView<Real> dz{logits.data(), V};
    numbers.product.add({V, h, count}, dz.transposed(), {n.data() + first * h, h}, numbers.gradient_at(head.matrix), h);
    numbers.product.set({count, h, V}, dz, {numbers.at(head.matrix), h}, dn.data() + first * h, h);
  });
}

template <class Real>
void greatest_logits(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                     std::span<Real> most) {
  const std::int64_t V = numbers.vocabulary;
  for_pieces_of_logits(numbers, tokens, n, [&](std::int64_t first, std::int64_t count, std::vector<Real>& logits) {
    for (std::int64_t i = 0; i < count; ++i)
      most[static_cast<std::size_t>(first + i)] = *std::max_element(logits.data() + i * V, logits.data() + (i + 1) * V);
  });
}

template <class Real>
void softmax_terms(TransformerNumbers<Real>& numbers, std::int64_t tokens, const std::vector<Real>& n,
                   std::span<const std::int64_t> next, std::span<const Real> most, std::span<Real> sum,
                   std::span<Real> target) {
  const std::int64_t V = numbers.vocabulary;
  for_pieces_of_logits(numbers, tokens, n, [&](std::int64_t first, std::int64_t count, std::vector<Real>& logits) {
    for (std::int64_t i = 0; i < count; ++i) {
      Real* const z = logits.data() + i * V;
      const auto token = static_cast<std::size_t>(first + i);
      const Real own = *std::max_element(z, z + V);
      const std::int64_t y = next[token];
      target[token] = y >= 0 && y < V ? z[y] : Real{0};
      sum[token] = exponentials(V, Real{1}, z) * std::exp(own - most[token]);
    }
  });
}

#define SIMGRAD_FOR(Real)                                                                                             \
  template Score loss(TransformerNumbers<Real>&, std::int64_t, const std::vector<Real>&,                              \
                      std::span<const std::int64_t>);                                                                 \
  template void next_probabilities(TransformerNumbers<Real>&, std::int64_t, const std::vector<Real>&,                 \
                                   std::span<double>);                                                                \
  template void loss_backward(TransformerNumbers<Real>&, std::int64_t, const std::vector<Real>&,                      \
                              std::span<const std::int64_t>, double, const SoftmaxTotals<Real>*, std::vector<Real>&); \
  template void greatest_logits(TransformerNumbers<Real>&, std::int64_t, const std::vector<Real>&, std::span<Real>);  \
  template void softmax_terms(TransformerNumbers<Real>&, std::int64_t, const std::vector<Real>&,                      \
                              std::span<const std::int64_t>, std::span<const Real>, std::span<Real>, std::span<Real>);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
