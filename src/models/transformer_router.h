/// The router of a feed-forward part of experts: to which experts each token goes, and how their results come together.
///
/// p = softmax(router n). A token goes to the top_k experts of the largest p, with weights p, or for top_k > 1 p over
/// the sum of those chosen. An expert takes capacity = ceil(capacity_factor sequence top_k / experts) tokens of each
/// sequence: first choices come first, then second ones, each in the order of tokens, and those that come later are
/// dropped. y = the sum of weight (expert n) over the choices that are not dropped. The auxiliary loss of a sequence is
/// experts times the sum over experts of f_e P_e: f_e is the share of its tokens whose first choice is e, and P_e the
/// mean of p_e. It is least where all experts have the same number of tokens. Since each sequence is a group by itself,
/// a row's loss does not depend on the rows beside it. Source: D. Lepikhin et al., GShard: Scaling Giant Models with
/// Conditional Computation and Automatic Sharding, 2020, section 3.2 and algorithm 1; W. Fedus, B. Zoph, N. Shazeer,
/// Switch Transformers, 2021, equations 1 to 6.
#pragma once

#include <vector>

#include "models/transformer_parts.h"

namespace simgrad::models {

/// One choice of a token.
struct ExpertChoice {
  std::int64_t expert = 0;
  std::int64_t place = nowhere;  ///< of the token's copy; nowhere: dropped
};

/// The places of tokens' copies.
enum class CopyPlaces {
  by_expert,   ///< expert by expert, each one's in the order of sequences, without places that stay empty
  by_sequence  ///< sequence by sequence, and in each as many of each expert as it can take of a rank's tokens
};

/// Where a rank's tokens of some sequences go.
template <class Real>
struct Routing {
  std::int64_t tokens = 0;           ///< own ones of each sequence
  std::vector<Real> probabilities;   ///< (own tokens x experts)
  std::vector<ExpertChoice> chosen;  ///< (own tokens x top_k)
  std::vector<Real> weights;         ///< (own tokens x top_k)
  std::vector<double> first_shares;  ///< (sequences x experts): f_e
  std::vector<std::int64_t> taken;   ///< (experts): own tokens that each one takes
  std::int64_t places = 0;
  std::int64_t dropped = 0;  ///< choices of own tokens
};

/// The most tokens that an expert takes of a sequence.
std::int64_t expert_capacity(const TransformerShape& shape);
/// The most that it takes of a rank's own tokens of a sequence.
std::int64_t places_of_expert(const TransformerShape& shape, std::int64_t own_tokens);

/// p, rounded: (tokens x experts).  n: (tokens x hidden).
template <class Real>
std::vector<Real> router_probabilities(TransformerNumbers<Real>& numbers, const LinearPlace& router,
                                       const std::vector<Real>& n);
/// probabilities: those of all tokens of the sequences, which compete for the experts' places.
template <class Real>
Routing<Real> route(const TransformerShape& shape, const std::vector<Real>& probabilities, const OwnTokens& own,
                    CopyPlaces places);
/// The mean of the sequences' auxiliary losses, without their weight.
template <class Real>
double auxiliary_loss(const TransformerShape& shape, const Routing<Real>& routing);
/// (places x hidden): the tokens' rows of n at their copies' places; zeros at places that are empty.
template <class Real>
std::vector<Real> copies_of(const TransformerShape& shape, const Routing<Real>& routing, const std::vector<Real>& n);
/// results: (places x hidden), what experts made of the copies.  y: (own tokens x hidden), not rounded.
template <class Real>
void combine(const TransformerShape& shape, const Routing<Real>& routing, const std::vector<Real>& results,
             std::vector<Real>& y);
/// The derivatives with respect to the results, rounded; zeros at places that are empty.
template <class Real>
std::vector<Real> slopes_of_results(const TransformerNumbers<Real>& numbers, const Routing<Real>& routing,
                                    const std::vector<Real>& dy);
/// dn: the derivatives with respect to n, not rounded, by the copies and by the router, of the auxiliary losses too.
/// d_copies: (places x hidden).  auxiliary_scale: of the sum of the sequences' auxiliary losses, beside their weight.
template <class Real>
void router_backward(TransformerNumbers<Real>& numbers, const LinearPlace& router, const std::vector<Real>& n,
                     const Routing<Real>& routing, const std::vector<Real>& results, const std::vector<Real>& dy,
                     const std::vector<Real>& d_copies, double auxiliary_scale, std::vector<Real>& dn);

}  // namespace simgrad::models
