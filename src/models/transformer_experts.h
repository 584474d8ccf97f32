/// A feed-forward part of experts: transformer_router.h says which tokens each of them gets.
#pragma once

#include <vector>

#include "models/transformer_blocks.h"
#include "models/transformer_router.h"

namespace simgrad::models {

/// The tokens of one expert, and its results that its backward pass needs.
template <class Real>
struct ExpertKept {
  std::vector<std::int64_t> places;  ///< of its tokens' copies
  std::vector<Real> n;               ///< (tokens x hidden): the copies
  FeedForwardKept<Real> feed_forward;
};

template <class Real>
struct ExpertsKept {
  Routing<Real> routing;
  std::vector<ExpertKept<Real>> experts;
  std::vector<Real> results;  ///< (places x hidden): what the experts made of the copies
};

/// Gives experts their places in CopyPlaces::by_sequence, so many of each sequence.
template <class Real>
void place_by_sequence(std::int64_t sequences, std::int64_t of_expert, std::vector<ExpertKept<Real>>& experts);
/// From copies up to the inputs of the second products, of the experts that have parameters here.  copies: (places x
/// hidden); experts: their places.
template <class Real>
void activate_experts(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& copies,
                      std::vector<ExpertKept<Real>>& experts);
/// From there the terms of the second products' sums: (places x hidden), not rounded.
template <class Real>
std::vector<Real> experts_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t places,
                                   const std::vector<ExpertKept<Real>>& experts);
/// To the results: adds biases, and rounds.
template <class Real>
void add_expert_biases(const TransformerNumbers<Real>& numbers, const BlockPlaces& place,
                       const std::vector<ExpertKept<Real>>& experts, std::vector<Real>& results);
/// From the derivatives with respect to results to those with respect to copies, not rounded. `experts` is used up.
template <class Real>
std::vector<Real> experts_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place,
                                   const std::vector<Real>& d_results, std::vector<ExpertKept<Real>>& experts);

/// y: (tokens x hidden), not rounded.
template <class Real>
void expert_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& n,
                     ExpertsKept<Real>& kept, std::vector<Real>& y);
/// dn: the derivatives with respect to n, not rounded.  auxiliary_scale: as router_backward has it. `kept` is used up.
template <class Real>
void expert_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const std::vector<Real>& n,
                              ExpertsKept<Real>& kept, const std::vector<Real>& dy, double auxiliary_scale,
                              std::vector<Real>& dn);

}  // namespace simgrad::models
