#include "models/transformer_blocks.h"

#include <algorithm>
#include <utility>

#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

/// Replaces `slopes` by the derivatives with respect to the results of the first product.
template <class Real>
void derive_activation(const TransformerNumbers<Real>& numbers, const LinearPlace& place,
                       const std::vector<Real>& d_inner, FeedForwardKept<Real>& kept) {
  if (numbers.shape.gated) {
    const std::int64_t f = place.outputs / 2;
    const std::int64_t tokens = static_cast<std::int64_t>(d_inner.size()) / f;
    for (std::int64_t t = 0; t < tokens; ++t) {
      Real* const gate = kept.slopes.data() + 2 * t * f;
      swiglu_slopes(f, d_inner.data() + t * f, gate, gate + f);
    }
  } else {
    for (std::size_t i = 0; i < d_inner.size(); ++i) kept.slopes[i] *= d_inner[i];
  }
  numbers.round(kept.slopes);
}

/// Visits the rows with their places in the embedding, those of tokens outside of the rank's share left out.
template <class Real, class Visit>
void for_rows_held(const TransformerNumbers<Real>& numbers, std::span<const std::int64_t> token, Visit visit) {
  const std::int64_t h = numbers.shape.hidden;
  for (std::size_t t = 0; t < token.size(); ++t)
    if (token[t] >= 0 && token[t] < numbers.vocabulary)
      visit(static_cast<std::int64_t>(t) * h, numbers.places.embedding + token[t] * h);
}

/// Visits the rows with the places of their positions.
template <class Real, class Visit>
void for_positions(const TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t length, std::size_t size,
                   Visit visit) {
  if (numbers.places.positions == nowhere) return;
  const std::int64_t h = numbers.shape.hidden;
  for (std::int64_t t = 0; t * h < static_cast<std::int64_t>(size); ++t)
    visit(t * h, numbers.places.positions + (first + t % length) * h);
}

}  // namespace

template <class Real>
void attend(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
            const std::vector<Real>& n, AttentionKept<Real>& kept) {
  multiply(numbers, place.attention_in, sequences * numbers.shape.sequence, n, kept.qkv);
  add_biases(numbers, place.attention_in, kept.qkv);
  turn_heads(numbers, 0, numbers.shape.sequence, numbers.heads + numbers.kv_heads, numbers.qkv_width(), false,
             kept.qkv);
  attention(numbers, sequences, all_rows(numbers, std::as_const(kept.qkv).data()), kept);
}

template <class Real>
void attention_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
                        const std::vector<Real>& n, AttentionKept<Real>& kept, std::vector<Real>& y) {
  const std::int64_t tokens = sequences * numbers.shape.sequence;
  attend(numbers, place, sequences, n, kept);
  multiply(numbers, place.attention_out, tokens, kept.result, y);
}

template <class Real>
void attention_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t sequences,
                                 const std::vector<Real>& n, const AttentionKept<Real>& kept,
                                 const std::vector<Real>& dy, std::vector<Real>& room, std::vector<Real>& dn) {
  const std::int64_t tokens = sequences * numbers.shape.sequence;
  std::vector<Real>& d_result = dn;
  multiply_backward(numbers, place.attention_out, tokens, kept.result, dy, d_result);
  numbers.round(d_result);
  room.assign(kept.qkv.size(), Real{0});  // heads that share k and v add to one place
  attention_backward(numbers, sequences, all_rows(numbers, kept.qkv.data()), kept, d_result,
                     all_rows(numbers, room.data()));
  through_qkv(numbers, place, 0, numbers.shape.sequence, n, room, dn);
}

template <class Real>
void through_qkv(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t first, std::int64_t tokens,
                 const std::vector<Real>& n, std::vector<Real>& d_qkv, std::vector<Real>& dn) {
  const std::int64_t width = numbers.qkv_width();
  numbers.round(d_qkv);
  turn_heads(numbers, first, tokens, numbers.heads + numbers.kv_heads, width, true, d_qkv);
  add_biases_backward(numbers, place.attention_in, d_qkv);
  multiply_backward(numbers, place.attention_in, static_cast<std::int64_t>(d_qkv.size()) / width, n, d_qkv, dn);
}

template <class Real>
void activate(TransformerNumbers<Real>& numbers, const BlockPlaces& block, std::int64_t tokens,
              const std::vector<Real>& n, FeedForwardKept<Real>& kept, std::vector<Real>& room) {
  const LinearPlace& place = block.feed_forward_in;
  std::vector<Real>& first = numbers.shape.gated ? kept.slopes : room;
  multiply(numbers, place, tokens, n, first);
  add_biases(numbers, place, first);
  const std::int64_t f = numbers.shape.gated ? place.outputs / 2 : place.outputs;
  kept.inner.resize(static_cast<std::size_t>(tokens * f));
  if (numbers.shape.gated) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const Real* const gate = first.data() + 2 * t * f;
      swiglu(f, gate, gate + f, kept.inner.data() + t * f);
    }
  } else {
    kept.slopes.resize(first.size());
    gelu(tokens * f, first.data(), kept.inner.data(), kept.slopes.data());
  }
  numbers.round(kept.inner);
}

template <class Real>
void feed_forward_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                           const std::vector<Real>& n, FeedForwardKept<Real>& kept, std::vector<Real>& y) {
  activate(numbers, place, tokens, n, kept, y);
  multiply(numbers, place.feed_forward_out, tokens, kept.inner, y);
}

template <class Real>
void feed_forward_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                                    const std::vector<Real>& n, FeedForwardKept<Real>& kept,
                                    const std::vector<Real>& dy, std::vector<Real>& room, std::vector<Real>& dn) {
  multiply_backward(numbers, place.feed_forward_out, tokens, kept.inner, dy, room);
  numbers.round(room);
  derive_activation(numbers, place.feed_forward_in, room, kept);
  add_biases_backward(numbers, place.feed_forward_in, kept.slopes);
  multiply_backward(numbers, place.feed_forward_in, tokens, n, kept.slopes, dn);
}

template <class Real>
void add_to_residual(const TransformerNumbers<Real>& numbers, const LinearPlace& out, std::vector<Real>& y,
                     std::vector<Real>& x) {
  add_biases(numbers, out, y);
  add_numbers(static_cast<std::int64_t>(x.size()), y.data(), x.data());
  numbers.round(x);
}

template <class Real>
void residual_backward(TransformerNumbers<Real>& numbers, const LinearPlace& out, const NormPlace& place,
                       std::int64_t tokens, const NormKept<Real>& kept, std::vector<Real>& dn, std::vector<Real>& dx) {
  add_biases_backward(numbers, out, dx);
  numbers.round(dn);
  norm_backward(numbers, place, tokens, kept, dn, dx);
}

template <class Real>
void look_up(const TransformerNumbers<Real>& numbers, std::span<const std::int64_t> token, std::vector<Real>& x) {
  const std::int64_t h = numbers.shape.hidden;
  x.assign(token.size() * static_cast<std::size_t>(h), Real{0});
  for_rows_held(numbers, token,
                [&](std::int64_t at, std::int64_t place) { std::copy_n(numbers.at(place), h, x.data() + at); });
}

template <class Real>
void add_positions(const TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t length,
                   std::vector<Real>& x) {
  for_positions(numbers, first, length, x.size(), [&](std::int64_t at, std::int64_t place) {
    add_numbers(numbers.shape.hidden, numbers.at(place), x.data() + at);
  });
  numbers.round(x);
}

template <class Real>
void look_up_backward(TransformerNumbers<Real>& numbers, std::span<const std::int64_t> token,
                      const std::vector<Real>& dx) {
  for_rows_held(numbers, token, [&](std::int64_t at, std::int64_t place) {
    add_numbers(numbers.shape.hidden, dx.data() + at, numbers.gradient_at(place));
  });
}

template <class Real>
void add_positions_backward(TransformerNumbers<Real>& numbers, std::int64_t first, std::int64_t length,
                            const std::vector<Real>& dx) {
  for_positions(numbers, first, length, dx.size(), [&](std::int64_t at, std::int64_t place) {
    add_numbers(numbers.shape.hidden, dx.data() + at, numbers.gradient_at(place));
  });
}

void RowTokens::take(const Samples& rows, std::int64_t first, std::int64_t count, std::int64_t vocabulary) {
  const auto classes = static_cast<std::size_t>(vocabulary);
  token.clear();
  next.clear();
  for (std::int64_t i = first; i < first + count; ++i) {
    const double* const x = rows.features + rows.row(i) * rows.columns;
    for (std::int64_t t = 0; t < rows.columns; ++t) {
      token.push_back(static_cast<std::int64_t>(class_number(x[t], classes)));
      if (t > 0) next.push_back(token.back());
    }
    next.push_back(static_cast<std::int64_t>(class_number(rows.targets[rows.row(i)], classes)));
  }
}

void RowTokens::keep(std::int64_t sequence, std::int64_t first, std::int64_t count) {
  for (std::vector<std::int64_t>* tokens : {&token, &next}) {
    std::vector<std::int64_t> left;
    for (auto row = tokens->begin(); row != tokens->end(); row += sequence)
      left.insert(left.end(), row + first, row + first + count);
    *tokens = std::move(left);
  }
}

#define SIMGRAD_FOR(Real)                                                                                             \
  template void attend(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t, const std::vector<Real>&,         \
                       AttentionKept<Real>&);                                                                         \
  template void activate(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t, const std::vector<Real>&,       \
                         FeedForwardKept<Real>&, std::vector<Real>&);                                                 \
  template void attention_products(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,                       \
                                   const std::vector<Real>&, AttentionKept<Real>&, std::vector<Real>&);               \
  template void through_qkv(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t, std::int64_t,                \
                            const std::vector<Real>&, std::vector<Real>&, std::vector<Real>&);                        \
  template void attention_products_backward(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,              \
                                            const std::vector<Real>&, const AttentionKept<Real>&,                     \
                                            const std::vector<Real>&, std::vector<Real>&, std::vector<Real>&);        \
  template void feed_forward_products(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,                    \
                                      const std::vector<Real>&, FeedForwardKept<Real>&, std::vector<Real>&);          \
  template void feed_forward_products_backward(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,           \
                                               const std::vector<Real>&, FeedForwardKept<Real>&,                      \
                                               const std::vector<Real>&, std::vector<Real>&, std::vector<Real>&);     \
  template void add_to_residual(const TransformerNumbers<Real>&, const LinearPlace&, std::vector<Real>&,              \
                                std::vector<Real>&);                                                                  \
  template void residual_backward(TransformerNumbers<Real>&, const LinearPlace&, const NormPlace&, std::int64_t,      \
                                  const NormKept<Real>&, std::vector<Real>&, std::vector<Real>&);                     \
  template void look_up(const TransformerNumbers<Real>&, std::span<const std::int64_t>, std::vector<Real>&);          \
  template void add_positions(const TransformerNumbers<Real>&, std::int64_t, std::int64_t, std::vector<Real>&);       \
  template void look_up_backward(TransformerNumbers<Real>&, std::span<const std::int64_t>, const std::vector<Real>&); \
  template void add_positions_backward(TransformerNumbers<Real>&, std::int64_t, std::int64_t, const std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
