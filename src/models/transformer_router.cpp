#include "models/transformer_router.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "models/vector_functions.h"

namespace simgrad::models {

namespace {

/// The choices of all tokens, and their weights.
template <class Real>
void choose(const TransformerShape& shape, const std::vector<Real>& probabilities, std::vector<ExpertChoice>& chosen,
            std::vector<Real>& weights) {
  const std::int64_t experts = shape.experts, top_k = shape.top_k;
  const std::int64_t tokens = static_cast<std::int64_t>(probabilities.size()) / experts;
  std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Real* const p = probabilities.data() + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + top_k, order.end(),
                      [p](std::int64_t a, std::int64_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
    Real sum{0};
    for (std::int64_t k = 0; k < top_k; ++k) sum += p[order[static_cast<std::size_t>(k)]];
    for (std::int64_t k = 0; k < top_k; ++k) {
      const std::int64_t expert = order[static_cast<std::size_t>(k)];
      chosen.push_back({.expert = expert});
      weights.push_back(top_k == 1 ? p[expert] : p[expert] / sum);
    }
  }
}

/// Gives a sequence's choices places as long as their expert has room. Own tokens' are counted by themselves.
/// of_sequence: its choices.  own_taken: (experts) own tokens that the experts have taken of it.
void give_places(const TransformerShape& shape, std::int64_t capacity, const OwnTokens& own,
                 std::span<ExpertChoice> of_sequence, std::vector<std::int64_t>& own_taken) {
  std::ranges::fill(own_taken, 0);
  std::vector<std::int64_t> taken(own_taken.size(), 0);
  for (std::int64_t k = 0; k < shape.top_k; ++k)
    for (std::int64_t t = 0; t < shape.sequence; ++t) {
      ExpertChoice& choice = of_sequence[static_cast<std::size_t>(t * shape.top_k + k)];
      const auto e = static_cast<std::size_t>(choice.expert);
      if (taken[e] == capacity) continue;
      ++taken[e];
      if (t >= own.first && t < own.first + own.count) choice.place = own_taken[e]++;
    }
}

/// Leaves of each sequence's tokens the own ones; a token has `width` items.
template <class Item>
std::vector<Item> of_own_tokens(const TransformerShape& shape, const OwnTokens& own, std::int64_t width,
                                const std::vector<Item>& all) {
  std::vector<Item> left;
  for (auto s = all.begin(); s != all.end(); s += shape.sequence * width)
    left.insert(left.end(), s + own.first * width, s + (own.first + own.count) * width);
  return left;
}

/// Calls visit(choice's number, place), of all choices that are not dropped.
template <class Real, class Visit>
void for_copies(const Routing<Real>& routing, Visit visit) {
  for (std::size_t at = 0; at < routing.chosen.size(); ++at)
    if (routing.chosen[at].place != nowhere) visit(at, routing.chosen[at].place);
}

/// The share of a sequence's tokens whose first choice is an expert, of each sequence and expert.
std::vector<double> first_shares(const TransformerShape& shape, const std::vector<ExpertChoice>& chosen) {
  const auto length = static_cast<std::size_t>(shape.sequence), experts = static_cast<std::size_t>(shape.experts),
             top_k = static_cast<std::size_t>(shape.top_k);
  std::vector<double> shares(chosen.size() / top_k / length * experts, 0.0);
  for (std::size_t t = 0; t < chosen.size() / top_k; ++t)
    shares[t / length * experts + static_cast<std::size_t>(chosen[t * top_k].expert)] +=
        1.0 / static_cast<double>(length);
  return shares;
}

/// The derivatives of a token's loss with respect to p, from those with respect to the weights of its choices.
template <class Real>
void through_weights(const TransformerShape& shape, const Routing<Real>& routing, std::int64_t token,
                     const std::vector<Real>& d_weights, Real* dp) {
  const auto first = static_cast<std::size_t>(token * shape.top_k), top_k = static_cast<std::size_t>(shape.top_k);
  if (top_k == 1) {
    dp[routing.chosen[first].expert] += d_weights[0];
    return;
  }
  Real mean{0}, sum{0};
  for (std::size_t k = 0; k < top_k; ++k) {
    mean += routing.weights[first + k] * d_weights[k];
    sum += routing.probabilities[static_cast<std::size_t>(token * shape.experts + routing.chosen[first + k].expert)];
  }
  for (std::size_t k = 0; k < top_k; ++k) dp[routing.chosen[first + k].expert] += (d_weights[k] - mean) / sum;
}

/// The derivatives with respect to the router's logits.
template <class Real>
std::vector<Real> slopes_of_logits(const TransformerNumbers<Real>& numbers, const Routing<Real>& routing,
                                   const std::vector<Real>& results, const std::vector<Real>& dy,
                                   double auxiliary_scale) {
  const TransformerShape& shape = numbers.shape;
  const std::int64_t h = shape.hidden, experts = shape.experts;
  const auto tokens = static_cast<std::int64_t>(routing.chosen.size()) / shape.top_k;
  const double factor =
      auxiliary_scale * shape.auxiliary_loss * static_cast<double>(experts) / static_cast<double>(shape.sequence);
  std::vector<Real> dz(static_cast<std::size_t>(tokens * experts)), d_weights(static_cast<std::size_t>(shape.top_k));
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const dp = dz.data() + t * experts;
    const double* const f = routing.first_shares.data() + t / routing.tokens * experts;
    for (std::int64_t e = 0; e < experts; ++e) dp[e] = static_cast<Real>(factor * f[e]);
    for (std::int64_t k = 0; k < shape.top_k; ++k) {
      const std::int64_t place = routing.chosen[static_cast<std::size_t>(t * shape.top_k + k)].place;
      d_weights[static_cast<std::size_t>(k)] =
          place == nowhere ? Real{0} : dot_product(h, dy.data() + t * h, results.data() + place * h);
    }
    through_weights(shape, routing, t, d_weights, dp);
    const Real* const p = routing.probabilities.data() + t * experts;
    const Real mean = dot_product(experts, p, dp);
    for (std::int64_t e = 0; e < experts; ++e) dp[e] = p[e] * (dp[e] - mean);
  }
  numbers.round(dz);
  return dz;
}

}  // namespace

std::int64_t expert_capacity(const TransformerShape& shape) {
  const double even = static_cast<double>(shape.sequence * shape.top_k) / static_cast<double>(shape.experts);
  const double room = std::ceil(shape.capacity_factor * even);
  return static_cast<std::int64_t>(std::min(room, static_cast<double>(shape.sequence)));  // a token comes but once
}

std::int64_t places_of_expert(const TransformerShape& shape, std::int64_t own_tokens) {
  return std::min(expert_capacity(shape), own_tokens);
}

template <class Real>
std::vector<Real> router_probabilities(TransformerNumbers<Real>& numbers, const LinearPlace& router,
                                       const std::vector<Real>& n) {
  const std::int64_t experts = numbers.shape.experts;
  const auto tokens = static_cast<std::int64_t>(n.size()) / numbers.shape.hidden;
  std::vector<Real> probabilities;
  multiply(numbers, router, tokens, n, probabilities);
  numbers.round(probabilities);
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const p = probabilities.data() + t * experts;
    const Real factor = Real{1} / exponentials(experts, Real{1}, p);
    for (std::int64_t e = 0; e < experts; ++e) p[e] *= factor;
  }
  numbers.round(probabilities);
  return probabilities;
}

template <class Real>
Routing<Real> route(const TransformerShape& shape, const std::vector<Real>& probabilities, const OwnTokens& own,
                    CopyPlaces places) {
  const auto experts = static_cast<std::size_t>(shape.experts);
  const std::int64_t choices = shape.sequence * shape.top_k;  // of a sequence
  Routing<Real> routing;
  routing.tokens = own.count;
  routing.taken.assign(experts, 0);
  choose(shape, probabilities, routing.chosen, routing.weights);
  routing.first_shares = first_shares(shape, routing.chosen);
  const std::int64_t capacity = expert_capacity(shape);
  std::vector<std::int64_t> own_taken(experts), before;  // before: (sequences x experts) taken of earlier sequences
  for (auto first = routing.chosen.begin(); first != routing.chosen.end(); first += choices) {
    give_places(shape, capacity, own, std::span(first, first + choices), own_taken);
    before.insert(before.end(), routing.taken.begin(), routing.taken.end());
    std::ranges::transform(own_taken, routing.taken, routing.taken.begin(), std::plus());
  }
  routing.probabilities = of_own_tokens(shape, own, shape.experts, probabilities);
  routing.weights = of_own_tokens(shape, own, shape.top_k, routing.weights);
  routing.chosen = of_own_tokens(shape, own, shape.top_k, routing.chosen);
  std::vector<std::int64_t> first(experts);  // by expert: those of the experts before come first
  std::exclusive_scan(routing.taken.begin(), routing.taken.end(), first.begin(), std::int64_t{0});
  const bool by_sequence = places == CopyPlaces::by_sequence;
  const std::int64_t of_expert = places_of_expert(shape, own.count);
  for (std::size_t at = 0; at < routing.chosen.size(); ++at) {
    auto& [expert, place] = routing.chosen[at];
    if (place == nowhere) {
      ++routing.dropped;
      continue;
    }
    const std::int64_t s = static_cast<std::int64_t>(at) / (shape.top_k * own.count);
    const auto e = static_cast<std::size_t>(expert), se = static_cast<std::size_t>(s * shape.experts + expert);
    place += by_sequence ? static_cast<std::int64_t>(se) * of_expert : first[e] + before[se];
  }
  routing.places =
      by_sequence ? static_cast<std::int64_t>(before.size()) * of_expert : first.back() + routing.taken.back();
  return routing;
}

template <class Real>
double auxiliary_loss(const TransformerShape& shape, const Routing<Real>& routing) {
  const auto experts = static_cast<std::size_t>(shape.experts), length = static_cast<std::size_t>(routing.tokens);
  double sum = 0.0;
  for (std::size_t i = 0; i < routing.probabilities.size(); ++i)
    sum += routing.first_shares[i / (experts * length) * experts + i % experts] *
           static_cast<double>(routing.probabilities[i]);
  return sum * static_cast<double>(experts * experts) / static_cast<double>(routing.probabilities.size());
}

template <class Real>
std::vector<Real> copies_of(const TransformerShape& shape, const Routing<Real>& routing, const std::vector<Real>& n) {
  std::vector<Real> copies(static_cast<std::size_t>(routing.places * shape.hidden), Real{0});
  for_copies(routing, [&](std::size_t at, std::int64_t place) {
    const std::int64_t token = static_cast<std::int64_t>(at) / shape.top_k;
    std::copy_n(n.data() + token * shape.hidden, shape.hidden, copies.data() + place * shape.hidden);
  });
  return copies;
}

template <class Real>
void combine(const TransformerShape& shape, const Routing<Real>& routing, const std::vector<Real>& results,
             std::vector<Real>& y) {
  const std::int64_t h = shape.hidden;
  y.assign(routing.chosen.size() / static_cast<std::size_t>(shape.top_k) * static_cast<std::size_t>(h), Real{0});
  for_copies(routing, [&](std::size_t at, std::int64_t place) {
    const Real* const from = results.data() + place * h;
    Real* const to = y.data() + static_cast<std::int64_t>(at) / shape.top_k * h;
    for (std::int64_t j = 0; j < h; ++j) to[j] += routing.weights[at] * from[j];
  });
}

template <class Real>
std::vector<Real> slopes_of_results(const TransformerNumbers<Real>& numbers, const Routing<Real>& routing,
                                    const std::vector<Real>& dy) {
  const std::int64_t h = numbers.shape.hidden;
  std::vector<Real> slopes(static_cast<std::size_t>(routing.places * h), Real{0});
  for_copies(routing, [&](std::size_t at, std::int64_t place) {
    const Real* const from = dy.data() + static_cast<std::int64_t>(at) / numbers.shape.top_k * h;
    Real* const to = slopes.data() + place * h;
    for (std::int64_t j = 0; j < h; ++j) to[j] = routing.weights[at] * from[j];
  });
  numbers.round(slopes);
  return slopes;
}

template <class Real>
void router_backward(TransformerNumbers<Real>& numbers, const LinearPlace& router, const std::vector<Real>& n,
                     const Routing<Real>& routing, const std::vector<Real>& results, const std::vector<Real>& dy,
                     const std::vector<Real>& d_copies, double auxiliary_scale, std::vector<Real>& dn) {
  const std::int64_t h = numbers.shape.hidden, top_k = numbers.shape.top_k;
  const std::vector<Real> dz = slopes_of_logits(numbers, routing, results, dy, auxiliary_scale);
  multiply_backward(numbers, router, static_cast<std::int64_t>(routing.chosen.size()) / top_k, n, dz, dn);
  for_copies(routing, [&](std::size_t at, std::int64_t place) {
    add_numbers(h, d_copies.data() + place * h, dn.data() + static_cast<std::int64_t>(at) / top_k * h);
  });
}

#define SIMGRAD_FOR(Real)                                                                                             \
  template std::vector<Real> router_probabilities(TransformerNumbers<Real>&, const LinearPlace&,                      \
                                                  const std::vector<Real>&);                                          \
  template Routing<Real> route(const TransformerShape&, const std::vector<Real>&, const OwnTokens&, CopyPlaces);      \
  template double auxiliary_loss(const TransformerShape&, const Routing<Real>&);                                      \
  template std::vector<Real> copies_of(const TransformerShape&, const Routing<Real>&, const std::vector<Real>&);      \
  template void combine(const TransformerShape&, const Routing<Real>&, const std::vector<Real>&, std::vector<Real>&); \
  template std::vector<Real> slopes_of_results(const TransformerNumbers<Real>&, const Routing<Real>&,                 \
                                               const std::vector<Real>&);                                             \
  template void router_backward(TransformerNumbers<Real>&, const LinearPlace&, const std::vector<Real>&,              \
                                const Routing<Real>&, const std::vector<Real>&, const std::vector<Real>&,             \
                                const std::vector<Real>&, double, std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
