/// Attention of ranks that share each sequence's tokens. Each has the queries of its own tokens, and needs the keys and
/// values of all tokens up to them; for these it has a part of the derivatives.
///
/// On a cluster keys and values go around a ring, and each part of them is worked on while the next one comes; the
/// numbers do not depend on that. Source: H. Liu, M. Zaharia, P. Abbeel, Ring Attention with Blockwise Transformers for
/// Near-Infinite Context, 2023.
#pragma once

#include <vector>

#include "models/transformer_blocks.h"

namespace simgrad::models {

/// (own tokens x 2 kv_width): keys, turned, and values.
template <class Real>
std::vector<Real> keys_and_values(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const OwnTokens& own,
                                  const std::vector<Real>& n);
/// From own tokens' n up to the inputs of the second product.  keys_values: those of all tokens.
template <class Real>
void attend_to(TransformerNumbers<Real>& numbers, const BlockPlaces& place, const OwnTokens& own,
               const std::vector<Real>& n, const std::vector<Real>& keys_values, AttentionKept<Real>& kept);

/// Derivatives with respect to turned queries, and those with respect to keys and values, of all tokens or of a rank's.
template <class Real>
struct AttentionSlopes {
  std::vector<Real> queries;      ///< (own tokens x heads_width), rounded
  std::vector<Real> keys_values;  ///< (tokens x 2 kv_width), terms of sums
};
template <class Real>
AttentionSlopes<Real> attend_to_backward(TransformerNumbers<Real>& numbers, const OwnTokens& own,
                                         const std::vector<Real>& keys_values, const AttentionKept<Real>& kept,
                                         const std::vector<Real>& d_result);
/// (own tokens x qkv_width): rows of q, k and v, from own tokens' slopes.
template <class Real>
std::vector<Real> slopes_of_qkv(const TransformerNumbers<Real>& numbers, const AttentionSlopes<Real>& slopes);

/// Joins numbers sequence by sequence: some of a, then some of b. The second function takes them apart again.
template <class Real>
std::vector<Real> by_sequence(std::int64_t sequences, const std::vector<Real>& a, const std::vector<Real>& b);
template <class Real>
AttentionSlopes<Real> slopes_by_sequence(const TransformerNumbers<Real>& numbers, const OwnTokens& own,
                                         const std::vector<Real>& both);

}  // namespace simgrad::models
