#include "models/transformer_experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

/// The places of one expert, as those of a block without experts.
BlockPlaces expert_place(const BlockPlaces& place, std::size_t expert) {
  BlockPlaces one;
  one.feed_forward_in = place.experts_in[expert];
  one.feed_forward_out = place.experts_out[expert];
  return one;
}

/// Fills probabilities, choices and weights.
template <class Real>
void choose(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
            const std::vector<Real>& n, ExpertsKept<Real>& kept) {
  const std::int64_t experts = numbers.shape.experts, top_k = numbers.shape.top_k;
  multiply(numbers, place.router, tokens, n, kept.probabilities);
  numbers.round(kept.probabilities);
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const p = kept.probabilities.data() + t * experts;
    const Real factor = Real{1} / exponentials(experts, Real{1}, p);
    for (std::int64_t e = 0; e < experts; ++e) p[e] *= factor;
  }
  numbers.round(kept.probabilities);
  kept.chosen.clear();
  kept.weights.clear();
  std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Real* const p = kept.probabilities.data() + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + top_k, order.end(),
                      [p](std::int64_t a, std::int64_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
    Real sum{0};
    for (std::int64_t k = 0; k < top_k; ++k) sum += p[order[static_cast<std::size_t>(k)]];
    for (std::int64_t k = 0; k < top_k; ++k) {
      const std::int64_t expert = order[static_cast<std::size_t>(k)];
      kept.chosen.push_back({.expert = expert});
      kept.weights.push_back(top_k == 1 ? p[expert] : p[expert] / sum);
    }
  }
}

/// The share of tokens whose first choice is an expert, of each one.
template <class Real>
std::vector<double> first_shares(const TransformerShape& shape, const ExpertsKept<Real>& kept) {
  const auto top_k = static_cast<std::size_t>(shape.top_k);
  std::vector<double> shares(static_cast<std::size_t>(shape.experts), 0.0);
  const double one = static_cast<double>(top_k) / static_cast<double>(kept.chosen.size());
  for (std::size_t i = 0; i < kept.chosen.size(); i += top_k)
    shares[static_cast<std::size_t>(kept.chosen[i].expert)] += one;
  return shares;
}

/// Gives each choice its row, as long as the expert has room.
template <class Real>
void dispatch(const TransformerShape& shape, std::int64_t tokens, std::int64_t capacity, const std::vector<Real>& n,
              ExpertsKept<Real>& kept) {
  kept.experts.resize(static_cast<std::size_t>(shape.experts));
  for (ExpertKept<Real>& expert : kept.experts) {
    expert.tokens.clear();
    expert.n.clear();
  }
  kept.dropped = 0;
  for (std::int64_t k = 0; k < shape.top_k; ++k)
    for (std::int64_t t = 0; t < tokens; ++t) {
      ExpertChoice& choice = kept.chosen[static_cast<std::size_t>(t * shape.top_k + k)];
      ExpertKept<Real>& expert = kept.experts[static_cast<std::size_t>(choice.expert)];
      const auto row = static_cast<std::int64_t>(expert.tokens.size());
      if (row == capacity) {
        ++kept.dropped;
        continue;
      }
      choice.row = row;
      expert.tokens.push_back(t);
      expert.n.insert(expert.n.end(), n.begin() + t * shape.hidden, n.begin() + (t + 1) * shape.hidden);
    }
}

/// The derivatives of a token's loss with respect to p, from those with respect to the weights of its choices.
template <class Real>
void through_weights(const TransformerShape& shape, const ExpertsKept<Real>& kept, std::int64_t token,
                     const std::vector<Real>& d_weights, Real* dp) {
  const auto first = static_cast<std::size_t>(token * shape.top_k), top_k = static_cast<std::size_t>(shape.top_k);
  if (top_k == 1) {
    dp[kept.chosen[first].expert] += d_weights[0];
    return;
  }
  Real mean{0}, sum{0};
  for (std::size_t k = 0; k < top_k; ++k) {
    mean += kept.weights[first + k] * d_weights[k];
    sum += kept.probabilities[static_cast<std::size_t>(token * shape.experts + kept.chosen[first + k].expert)];
  }
  for (std::size_t k = 0; k < top_k; ++k) dp[kept.chosen[first + k].expert] += (d_weights[k] - mean) / sum;
}

/// The derivatives with respect to the router's logits; fills d_y, those with respect to each expert's results.
template <class Real>
std::vector<Real> router_slopes(const TransformerNumbers<Real>& numbers, std::int64_t tokens,
                                const ExpertsKept<Real>& kept, const std::vector<Real>& dy, double auxiliary_scale,
                                std::vector<std::vector<Real>>& d_y) {
  const TransformerShape& shape = numbers.shape;
  const std::int64_t h = shape.hidden, experts = shape.experts;
  const std::vector<double> shares = first_shares(shape, kept);
  const double factor =
      auxiliary_scale * shape.auxiliary_loss * static_cast<double>(experts) / static_cast<double>(tokens);
  std::vector<Real> dz(static_cast<std::size_t>(tokens * experts)), d_weights(static_cast<std::size_t>(shape.top_k));
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const dp = dz.data() + t * experts;
    for (std::int64_t e = 0; e < experts; ++e) dp[e] = static_cast<Real>(factor * shares[static_cast<std::size_t>(e)]);
    for (std::int64_t k = 0; k < shape.top_k; ++k) {
      const auto at = static_cast<std::size_t>(t * shape.top_k + k);
      const auto& [expert, row] = kept.chosen[at];
      d_weights[static_cast<std::size_t>(k)] = Real{0};
      if (row == nowhere) continue;
      const auto e = static_cast<std::size_t>(expert);
      d_weights[static_cast<std::size_t>(k)] = dot_product(h, dy.data() + t * h, kept.experts[e].y.data() + row * h);
      for (std::int64_t j = 0; j < h; ++j)
        d_y[e][static_cast<std::size_t>(row * h + j)] = kept.weights[at] * dy[static_cast<std::size_t>(t * h + j)];
    }
    through_weights(shape, kept, t, d_weights, dp);
    const Real* const p = kept.probabilities.data() + t * experts;
    const Real mean = dot_product(experts, p, dp);
    for (std::int64_t e = 0; e < experts; ++e) dp[e] = p[e] * (dp[e] - mean);
  }
  numbers.round(dz);
  return dz;
}

}  // namespace

std::int64_t expert_capacity(const TransformerShape& shape, std::int64_t tokens) {
  const double room = shape.capacity_factor * static_cast<double>(tokens * shape.top_k);
  return static_cast<std::int64_t>(std::ceil(room / static_cast<double>(shape.experts)));
}

template <class Real>
void expert_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens, bool limited,
                     const std::vector<Real>& n, ExpertsKept<Real>& kept, std::vector<Real>& y) {
  const TransformerShape& shape = numbers.shape;
  const std::int64_t h = shape.hidden;
  choose(numbers, place, tokens, n, kept);
  dispatch(shape, tokens, limited ? expert_capacity(shape, tokens) : tokens, n, kept);
  kept.auxiliary = 0.0;
  const std::vector<double> shares = first_shares(shape, kept);
  for (std::size_t i = 0; i < kept.probabilities.size(); ++i)
    kept.auxiliary += shares[i % shares.size()] * static_cast<double>(kept.probabilities[i]);
  kept.auxiliary *= static_cast<double>(shape.experts) / static_cast<double>(tokens);
  for (std::size_t e = 0; e < kept.experts.size(); ++e) {
    ExpertKept<Real>& expert = kept.experts[e];
    if (expert.tokens.empty()) continue;
    const BlockPlaces one = expert_place(place, e);
    const auto count = static_cast<std::int64_t>(expert.tokens.size());
    feed_forward_products(numbers, one, count, expert.n, expert.feed_forward, expert.y);
    add_biases(numbers, one.feed_forward_out, expert.y);
  }
  y.assign(static_cast<std::size_t>(tokens * h), Real{0});
  for (std::size_t at = 0; at < kept.chosen.size(); ++at) {
    const auto& [expert, row] = kept.chosen[at];
    if (row == nowhere) continue;
    const Real* const from = kept.experts[static_cast<std::size_t>(expert)].y.data() + row * h;
    Real* const to = y.data() + static_cast<std::int64_t>(at) / shape.top_k * h;
    for (std::int64_t j = 0; j < h; ++j) to[j] += kept.weights[at] * from[j];
  }
}

template <class Real>
void expert_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                              const std::vector<Real>& n, ExpertsKept<Real>& kept, const std::vector<Real>& dy,
                              double auxiliary_scale, std::vector<Real>& dn) {
  const std::int64_t h = numbers.shape.hidden;
  std::vector<std::vector<Real>> d_y;
  for (const ExpertKept<Real>& expert : kept.experts) d_y.emplace_back(expert.n.size());
  const std::vector<Real> dz = router_slopes(numbers, tokens, kept, dy, auxiliary_scale, d_y);
  multiply_backward(numbers, place.router, tokens, n, dz, dn);
  std::vector<Real> room, own;
  for (std::size_t e = 0; e < kept.experts.size(); ++e) {
    ExpertKept<Real>& expert = kept.experts[e];
    if (expert.tokens.empty()) continue;
    const BlockPlaces one = expert_place(place, e);
    const auto count = static_cast<std::int64_t>(expert.tokens.size());
    numbers.round(d_y[e]);
    add_biases_backward(numbers, one.feed_forward_out, d_y[e]);
    feed_forward_products_backward(numbers, one, count, expert.n, expert.feed_forward, d_y[e], room, own);
    for (std::int64_t row = 0; row < count; ++row)
      add_numbers(h, own.data() + row * h, dn.data() + expert.tokens[static_cast<std::size_t>(row)] * h);
  }
}

#define SIMGRAD_FOR(Real)                                                                                        \
  template void expert_products(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t, bool,               \
                                const std::vector<Real>&, ExpertsKept<Real>&, std::vector<Real>&);               \
  template void expert_products_backward(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,            \
                                         const std::vector<Real>&, ExpertsKept<Real>&, const std::vector<Real>&, \
                                         double, std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
