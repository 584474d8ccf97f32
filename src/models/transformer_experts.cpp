#include "models/transformer_experts.h"

#include <algorithm>
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

/// The rows of h numbers at some places, one behind the other.
template <class Real>
void gather_rows(const std::vector<std::int64_t>& places, std::int64_t h, const std::vector<Real>& from,
                 std::vector<Real>& rows) {
  rows.clear();
  for (const std::int64_t place : places)
    rows.insert(rows.end(), from.begin() + place * h, from.begin() + (place + 1) * h);
}

template <class Real>
void scatter_rows(const std::vector<std::int64_t>& places, std::int64_t h, const std::vector<Real>& rows,
                  std::vector<Real>& to) {
  const Real* from = rows.data();
  for (const std::int64_t place : places) {
    std::copy_n(from, h, to.data() + place * h);
    from += h;
  }
}

}  // namespace

template <class Real>
void place_by_sequence(std::int64_t sequences, std::int64_t of_expert, std::vector<ExpertKept<Real>>& experts) {
  for (ExpertKept<Real>& expert : experts) expert.places.clear();
  std::int64_t next = 0;
  for (std::int64_t s = 0; s < sequences; ++s)
    for (ExpertKept<Real>& expert : experts)
      for (std::int64_t c = 0; c < of_expert; ++c) expert.places.push_back(next++);
}

template <class Real>
void activate_experts(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& copies,
                      std::vector<ExpertKept<Real>>& experts) {
  std::vector<Real> room;
  for (std::size_t e = 0; e < experts.size(); ++e) {
    ExpertKept<Real>& expert = experts[e];
    if (expert.places.empty()) continue;
    gather_rows(expert.places, numbers.shape.hidden, copies, expert.n);
    activate(numbers, expert_place(place, e), static_cast<std::int64_t>(expert.places.size()), expert.n,
             expert.feed_forward, room);
  }
}

template <class Real>
std::vector<Real> experts_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t places,
                                   const std::vector<ExpertKept<Real>>& experts) {
  const std::int64_t h = numbers.shape.hidden;
  std::vector<Real> results(static_cast<std::size_t>(places * h), Real{0}), y;
  for (std::size_t e = 0; e < experts.size(); ++e) {
    if (experts[e].places.empty()) continue;
    multiply(numbers, place.experts_out[e], static_cast<std::int64_t>(experts[e].places.size()),
             experts[e].feed_forward.inner, y);
    scatter_rows(experts[e].places, h, y, results);
  }
  return results;
}

template <class Real>
void add_expert_biases(const TransformerNumbers<Real>& numbers, const BlockPlaces& place,
                       const std::vector<ExpertKept<Real>>& experts, std::vector<Real>& results) {
  const std::int64_t h = numbers.shape.hidden;
  for (std::size_t e = 0; e < experts.size(); ++e)
    if (const std::int64_t biases = place.experts_out[e].biases; biases != nowhere)
      for (const std::int64_t at : experts[e].places) add_numbers(h, numbers.at(biases), results.data() + at * h);
  numbers.round(results);
}

template <class Real>
std::vector<Real> experts_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place,
                                   const std::vector<Real>& d_results, std::vector<ExpertKept<Real>>& experts) {
  const std::int64_t h = numbers.shape.hidden;
  std::vector<Real> d_copies(d_results.size(), Real{0}), dy, room, own;
  for (std::size_t e = 0; e < experts.size(); ++e) {
    ExpertKept<Real>& expert = experts[e];
    if (expert.places.empty()) continue;
    const BlockPlaces one = expert_place(place, e);
    gather_rows(expert.places, h, d_results, dy);
    add_biases_backward(numbers, one.feed_forward_out, dy);
    feed_forward_products_backward(numbers, one, static_cast<std::int64_t>(expert.places.size()), expert.n,
                                   expert.feed_forward, dy, room, own);
    scatter_rows(expert.places, h, own, d_copies);
  }
  return d_copies;
}

template <class Real>
void expert_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& n,
                     ExpertsKept<Real>& kept, std::vector<Real>& y) {
  const TransformerShape& shape = numbers.shape;
  kept.routing =
      route(shape, router_probabilities(numbers, place.router, n), {0, shape.sequence}, CopyPlaces::by_expert);
  kept.experts.resize(static_cast<std::size_t>(shape.experts));
  std::int64_t first = 0;
  for (std::size_t e = 0; e < kept.experts.size(); ++e) {
    std::vector<std::int64_t>& places = kept.experts[e].places;
    places.resize(static_cast<std::size_t>(kept.routing.taken[e]));
    std::iota(places.begin(), places.end(), first);
    first += kept.routing.taken[e];
  }
  activate_experts(numbers, place, copies_of(shape, kept.routing, n), kept.experts);
  kept.results = experts_products(numbers, place, kept.routing.places, kept.experts);
  add_expert_biases(numbers, place, kept.experts, kept.results);
  combine(shape, kept.routing, kept.results, y);
}

template <class Real>
void expert_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& n,
                              ExpertsKept<Real>& kept, const std::vector<Real>& dy, double auxiliary_scale,
                              std::vector<Real>& dn) {
  const std::vector<Real> d_results = slopes_of_results(numbers, kept.routing, dy);
  std::vector<Real> d_copies = experts_backward(numbers, place, d_results, kept.experts);
  numbers.round(d_copies);
  router_backward(numbers, place.router, n, kept.routing, kept.results, dy, d_copies, auxiliary_scale, dn);
}

#define SIMGRAD_FOR(Real)                                                                                              \
  template void place_by_sequence(std::int64_t, std::int64_t, std::vector<ExpertKept<Real>>&);                         \
  template void activate_experts(TransformerNumbers<Real>&, const BlockPlaces&, const std::vector<Real>&,              \
                                 std::vector<ExpertKept<Real>>&);                                                      \
  template std::vector<Real> experts_products(TransformerNumbers<Real>&, const BlockPlaces&, std::int64_t,             \
                                              const std::vector<ExpertKept<Real>>&);                                   \
  template void add_expert_biases(const TransformerNumbers<Real>&, const BlockPlaces&,                                 \
                                  const std::vector<ExpertKept<Real>>&, std::vector<Real>&);                           \
  template std::vector<Real> experts_backward(TransformerNumbers<Real>&, const BlockPlaces&, const std::vector<Real>&, \
                                              std::vector<ExpertKept<Real>>&);                                         \
  template void expert_products(TransformerNumbers<Real>&, const BlockPlaces&, const std::vector<Real>&,               \
                                ExpertsKept<Real>&, std::vector<Real>&);                                               \
  template void expert_products_backward(TransformerNumbers<Real>&, const BlockPlaces&, const std::vector<Real>&,      \
                                         ExpertsKept<Real>&, const std::vector<Real>&, double, std::vector<Real>&);
SIMGRAD_FOR(float)
SIMGRAD_FOR(double)
#undef SIMGRAD_FOR

}  // namespace simgrad::models
