#include "models/transformer_context.h"

#include <algorithm>

namespace simgrad::models {

namespace {

/// Some rows of a matrix, with their biases.
LinearPlace rows_of(const LinearPlace& place, std::int64_t first, std::int64_t count) {
  return {.outputs = count,
          .inputs = place.inputs,
          .matrix = place.matrix + first * place.inputs,
          .biases = place.biases == nowhere ? nowhere : place.biases + first};
}

template <class Real>
std::int64_t keys_values_width(const TransformerNumbers<Real>& numbers) {
  return numbers.qkv_width() - numbers.heads_width();
}

template <class Real, class Number>
AttentionRows<Number> rows_at(const TransformerNumbers<Real>& numbers, const OwnTokens& own, Number* q,
                              Number* keys_values) {
  const std::int64_t width = keys_values_width(numbers);
  return {own.first, own.count, numbers.shape.sequence, q, keys_values, keys_values + width / 2, numbers.heads_width(),
          width};
}

template <class Real>
std::int64_t sequences_in(const TransformerNumbers<Real>& numbers, const std::vector<Real>& keys_values) {
  return static_cast<std::int64_t>(keys_values.size()) / (numbers.shape.sequence * keys_values_width(numbers));
}

}  // namespace

template <class Real>
std::vector<Real> keys_and_values(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const OwnTokens& own,
                                  const std::vector<Real>& n) {
  const std::int64_t width = keys_values_width(numbers);
  const LinearPlace in = rows_of(place.attention_in, numbers.heads_width(), width);
  std::vector<Real> made;
  multiply(numbers, in, static_cast<std::int64_t>(n.size()) / in.inputs, n, made);
  add_biases(numbers, in, made);
  turn_heads(numbers, own.first, own.count, numbers.kv_heads, width, false, made);
  return made;
}

template <class Real>
void attend_to(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const OwnTokens& own,
               const std::vector<Real>& n, const std::vector<Real>& keys_values, AttentionKept<Real>& kept) {
  const LinearPlace in = rows_of(place.attention_in, 0, numbers.heads_width());
  multiply(numbers, in, static_cast<std::int64_t>(n.size()) / in.inputs, n, kept.qkv);
  add_biases(numbers, in, kept.qkv);
  turn_heads(numbers, own.first, own.count, numbers.heads, numbers.heads_width(), false, kept.qkv);
  const Real* const q = kept.qkv.data();
  attention(numbers, sequences_in(numbers, keys_values), rows_at(numbers, own, q, keys_values.data()), kept);
}

template <class Real>
AttentionSlopes<Real> attend_to_backward(TransformerNumbers<Real>& numbers, const OwnTokens& own,
                                         const std::vector<Real>& keys_values, const AttentionKept<Real>& kept,
                                         const std::vector<Real>& d_result) {
  AttentionSlopes<Real> slopes{std::vector<Real>(kept.qkv.size()), std::vector<Real>(keys_values.size(), Real{0})};
  attention_backward(numbers, sequences_in(numbers, keys_values),
                     rows_at(numbers, own, kept.qkv.data(), keys_values.data()), kept, d_result,
                     rows_at(numbers, own, slopes.queries.data(), slopes.keys_values.data()));
  numbers.round(slopes.queries);
  return slopes;
}

template <class Real>
std::vector<Real> slopes_of_qkv(const TransformerNumbers<Real>& numbers, const AttentionSlopes<Real>& slopes) {
  const auto tokens = static_cast<std::int64_t>(slopes.queries.size()) / numbers.heads_width();
  return by_sequence(tokens, slopes.queries, slopes.keys_values);  // of each token
}

template <class Real>
std::vector<Real> by_sequence(std::int64_t sequences, const std::vector<Real>& a, const std::vector<Real>& b) {
  std::vector<Real> both;
  both.reserve(a.size() + b.size());
  for (std::int64_t s = 0; s < sequences; ++s)
    for (const std::vector<Real>* from : {&a, &b}) {
      const std::int64_t count = static_cast<std::int64_t>(from->size()) / sequences;
      both.insert(both.end(), from->begin() + s * count, from->begin() + (s + 1) * count);
    }
  return both;
}

template <class Real>
AttentionSlopes<Real> slopes_by_sequence(const TransformerNumbers<Real>& numbers, const OwnTokens& own,
                                         const std::vector<Real>& both) {
  const std::int64_t queries = own.count * numbers.heads_width();
  const std::int64_t of_sequence = queries + numbers.shape.sequence * keys_values_width(numbers);
  AttentionSlopes<Real> slopes;
  for (auto at = both.begin(); at != both.end(); at += of_sequence) {
    slopes.queries.insert(slopes.queries.end(), at, at + queries);
    slopes.keys_values.insert(slopes.keys_values.end(), at + queries, at + of_sequence);
  }
  return slopes;
}

#define SIMGRAD_FOR(Real)                                                                                            \
  template std::vector<Real> keys_and_values(TransformerNumbers<Real>&, const BlockPlaces&, const OwnTokens&,        \
                                             const std::vector<Real>&);                                              \
  template void attend_to(TransformerNumbers<Real>&, const BlockPlaces&, const OwnTokens&, const std::vector<Real>&, \
                          const std::vector<Real>&, AttentionKept<Real>&);                                           \
  template AttentionSlopes<Real> attend_to_backward(TransformerNumbers<Real>&, const OwnTokens&,                     \
                                                    const std::vector<Real>&, const AttentionKept<Real>&,            \
                                                    const std::vector<Real>&);                                       \
  template std::vector<Real> slopes_of_qkv(const TransformerNumbers<Real>&, const AttentionSlopes<Real>&);           \
  template std::vector<Real> by_sequence(std::int64_t, const std::vector<Real>&, const std::vector<Real>&);          \
  template AttentionSlopes<Real> slopes_by_sequence(const TransformerNumbers<Real>&, const OwnTokens&,               \
                                                    const std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
