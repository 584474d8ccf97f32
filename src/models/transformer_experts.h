/// A feed-forward part of experts: a router sends each token to some of them.
///
/// p = softmax(router n). A token goes to the top_k experts of the largest p, with weights p, or for top_k > 1 p over
/// the sum of those chosen. An expert takes capacity = ceil(capacity_factor tokens top_k / experts) tokens of a
/// micro-batch: first choices come first, then second ones, each in the order of tokens, and those that come later are
/// dropped. y = the sum of weight (expert n) over the choices that are not dropped. The auxiliary loss of a micro-batch
/// is experts times the sum over experts of f_e P_e: f_e is the share of tokens whose first choice is e, and P_e the
/// mean of p_e. It is least where all experts have the same number of tokens. Source: D. Lepikhin et al., GShard:
/// Scaling Giant Models with Conditional Computation and Automatic Sharding, 2020, algorithm 1; W. Fedus, B. Zoph, N.
/// Shazeer, Switch Transformers, 2021, equations 1 to 6.
#pragma once

#include <vector>

#include "models/transformer_blocks.h"

namespace simgrad::models {

/// One choice of a token.
struct ExpertChoice {
  std::int64_t expert = 0;
  std::int64_t row = nowhere;  ///< among the expert's tokens; nowhere: dropped
};

/// The tokens of one expert, and its results.
template <class Real>
struct ExpertKept {
  std::vector<std::int64_t> tokens;
  std::vector<Real> n, y;  ///< (tokens x hidden): what came in, and what the expert made of it
  FeedForwardKept<Real> feed_forward;
};

template <class Real>
struct ExpertsKept {
  std::vector<Real> probabilities;   ///< (tokens x experts)
  std::vector<ExpertChoice> chosen;  ///< (tokens x top_k)
  std::vector<Real> weights;         ///< (tokens x top_k)
  std::vector<ExpertKept<Real>> experts;
  std::int64_t dropped = 0;  ///< choices
  double auxiliary = 0.0;    ///< the auxiliary loss, without its weight
};

/// The most tokens that an expert takes of a micro-batch.
std::int64_t expert_capacity(const TransformerShape& shape, std::int64_t tokens);

/// limited: with the capacity, as in training. Without it no token is dropped, as for a score.  y: (tokens x hidden),
/// not rounded.
template <class Real>
void expert_products(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens, bool limited,
                     const std::vector<Real>& n, ExpertsKept<Real>& kept, std::vector<Real>& y);
/// dn: the derivatives with respect to n, not rounded, with those of the auxiliary loss times auxiliary_scale and its
/// weight. `kept` is used up.
template <class Real>
void expert_products_backward(TransformerNumbers<Real>& numbers, const BlockPlaces& place, std::int64_t tokens,
                              const std::vector<Real>& n, ExpertsKept<Real>& kept, const std::vector<Real>& dy,
                              double auxiliary_scale, std::vector<Real>& dn);

}  // namespace simgrad::models
