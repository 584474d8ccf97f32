/// Linear layers and norms of a transformer.
#include "models/transformer_parts.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "models/vector_functions.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

constexpr double norm_epsilon = 1e-5;  // PyTorch's

template <class Real>
void add_rows(const std::vector<Real>& rows, std::int64_t width, Real* sum) {
  for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(width))
    add_numbers(width, rows.data() + at, sum);
}

std::size_t size_of(std::int64_t rows, std::int64_t columns) { return static_cast<std::size_t>(rows * columns); }

}  // namespace

template <class Real>
TransformerNumbers<Real>::TransformerNumbers(const TransformerShape& of, const TransformerPlaces& at,
                                             std::span<const double> parameters, values::Format in, bool backward)
    : shape(of),
      places(at),
      heads(at.share.heads),
      kv_heads(at.share.kv_heads.count),
      vocabulary(at.share.vocabulary.count),
      format(in),
      w(parameters.size()) {
  constexpr std::size_t piece = 4096;
  std::vector<double> rounded(piece);
  for (std::size_t first = 0; first < w.size(); first += piece) {
    const auto part = parameters.subspan(first, std::min(piece, w.size() - first));
    const std::span<double> result = std::span(rounded).first(part.size());
    values::round_numbers(format, part, result);
    std::transform(result.begin(), result.end(), w.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double w_j) { return static_cast<Real>(w_j); });
  }
  if (backward) g.assign(w.size(), Real{0});
  if (shape.positions != Positions::rotary) return;
  const std::int64_t width = shape.head_width();
  for (std::int64_t t = 0; t < shape.sequence; ++t)
    for (std::int64_t i = 0; i < width / 2; ++i) {
      const double angle =
          static_cast<double>(t) * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
      cosines.push_back(static_cast<Real>(std::cos(angle)));
      sines.push_back(static_cast<Real>(std::sin(angle)));
    }
}

template <class Real>
void TransformerNumbers<Real>::round(std::vector<Real>& numbers) const {
  if constexpr (std::is_same_v<Real, float>) values::round_numbers(format, std::span<float>(numbers));
}

template <class Real>
void multiply(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
              const std::vector<Real>& x, std::vector<Real>& y) {
  y.resize(size_of(tokens, place.outputs));
  const MatrixView<Real> W{numbers.at(place.matrix), place.inputs};
  numbers.product.set({tokens, place.outputs, place.inputs}, {x.data(), place.inputs}, W.transposed(), y.data(),
                      place.outputs);
}

template <class Real>
void add_biases(const TransformerNumbers<Real>& numbers, const LinearPlace& place, std::vector<Real>& y) {
  if (place.biases != nowhere)
    for (std::size_t at = 0; at < y.size(); at += static_cast<std::size_t>(place.outputs))
      add_numbers(place.outputs, numbers.at(place.biases), y.data() + at);
  numbers.round(y);
}

template <class Real>
void multiply_backward(TransformerNumbers<Real>& numbers, const LinearPlace& place, std::int64_t tokens,
                       const std::vector<Real>& x, const std::vector<Real>& dy, std::vector<Real>& dx) {
  const MatrixView<Real> derivatives{dy.data(), place.outputs};
  numbers.product.add({place.outputs, place.inputs, tokens}, derivatives.transposed(), {x.data(), place.inputs},
                      numbers.gradient_at(place.matrix), place.inputs);
  dx.resize(size_of(tokens, place.inputs));
  numbers.product.set({tokens, place.inputs, place.outputs}, derivatives, {numbers.at(place.matrix), place.inputs},
                      dx.data(), place.inputs);
}

template <class Real>
void add_biases_backward(TransformerNumbers<Real>& numbers, const LinearPlace& place, const std::vector<Real>& dy) {
  if (place.biases != nowhere) add_rows(dy, place.outputs, numbers.gradient_at(place.biases));
}

template <class Real>
void norm(const TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
          const std::vector<Real>& x, NormKept<Real>& kept, std::vector<Real>& n) {
  const std::int64_t h = numbers.shape.hidden;
  kept.scaled.resize(size_of(tokens, h));
  kept.inverse.resize(static_cast<std::size_t>(tokens));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Real* const x_t = x.data() + t * h;
    Real* const scaled = kept.scaled.data() + t * h;
    const Real mean = numbers.shape.norm == Norm::layer_norm ? sum_of(h, x_t) / static_cast<Real>(h) : Real{0};
    for (std::int64_t j = 0; j < h; ++j) scaled[j] = x_t[j] - mean;
    const Real variance = dot_product(h, scaled, scaled) / static_cast<Real>(h);
    const Real inverse = Real{1} / std::sqrt(variance + static_cast<Real>(norm_epsilon));
    for (std::int64_t j = 0; j < h; ++j) scaled[j] *= inverse;
    kept.inverse[static_cast<std::size_t>(t)] = inverse;
  }
  norm_again(numbers, place, tokens, kept, n);
}

template <class Real>
void norm_again(const TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
                const NormKept<Real>& kept, std::vector<Real>& n) {
  const std::int64_t h = numbers.shape.hidden;
  n.resize(size_of(tokens, h));
  const Real* const gains = numbers.at(place.gains);
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const n_t = n.data() + t * h;
    for (std::int64_t j = 0; j < h; ++j) n_t[j] = gains[j] * kept.scaled[static_cast<std::size_t>(t * h + j)];
    if (place.biases != nowhere) add_numbers(h, numbers.at(place.biases), n_t);
  }
  numbers.round(n);
}

template <class Real>
void norm_backward(TransformerNumbers<Real>& numbers, const NormPlace& place, std::int64_t tokens,
                   const NormKept<Real>& kept, const std::vector<Real>& dn, std::vector<Real>& dx) {
  const std::int64_t h = numbers.shape.hidden;
  const bool centred = numbers.shape.norm == Norm::layer_norm;
  const Real* const gains = numbers.at(place.gains);
  Real* const d_gains = numbers.gradient_at(place.gains);
  std::vector<Real> d_scaled(static_cast<std::size_t>(h));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Real* const dn_t = dn.data() + t * h;
    const Real* const scaled = kept.scaled.data() + t * h;
    Real* const d = d_scaled.data();
    for (std::int64_t j = 0; j < h; ++j) d_gains[j] += dn_t[j] * scaled[j];
    for (std::int64_t j = 0; j < h; ++j) d[j] = gains[j] * dn_t[j];
    const Real mean = centred ? sum_of(h, d) / static_cast<Real>(h) : Real{0};
    const Real along = dot_product(h, d, scaled) / static_cast<Real>(h);
    const Real inverse = kept.inverse[static_cast<std::size_t>(t)];
    Real* const dx_t = dx.data() + t * h;
    for (std::int64_t j = 0; j < h; ++j) dx_t[j] += inverse * (d[j] - mean - scaled[j] * along);
  }
  if (place.biases != nowhere) add_rows(dn, h, numbers.gradient_at(place.biases));
  numbers.round(dx);
}

#define SIMGRAD_FOR(Real)                                                                                          \
  template struct TransformerNumbers<Real>;                                                                        \
  template void multiply(TransformerNumbers<Real>&, const LinearPlace&, std::int64_t, const std::vector<Real>&,    \
                         std::vector<Real>&);                                                                      \
  template void add_biases(const TransformerNumbers<Real>&, const LinearPlace&, std::vector<Real>&);               \
  template void multiply_backward(TransformerNumbers<Real>&, const LinearPlace&, std::int64_t,                     \
                                  const std::vector<Real>&, const std::vector<Real>&, std::vector<Real>&);         \
  template void add_biases_backward(TransformerNumbers<Real>&, const LinearPlace&, const std::vector<Real>&);      \
  template void norm(const TransformerNumbers<Real>&, const NormPlace&, std::int64_t, const std::vector<Real>&,    \
                     NormKept<Real>&, std::vector<Real>&);                                                         \
  template void norm_again(const TransformerNumbers<Real>&, const NormPlace&, std::int64_t, const NormKept<Real>&, \
                           std::vector<Real>&);                                                                    \
  template void norm_backward(TransformerNumbers<Real>&, const NormPlace&, std::int64_t, const NormKept<Real>&,    \
                              const std::vector<Real>&, std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
