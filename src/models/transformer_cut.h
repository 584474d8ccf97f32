/// A transformer that is cut: between blocks, and inside of them among ranks that share products.
///
/// Each of `tensor` ranks has the q, k and v of its heads and as many columns of attention's second product, its rows
/// of the feed-forward part's first product (the gate's and those that it multiplies) and as many columns of the
/// second, and its tokens' rows of the embedding and the head. Behind the second products, the look-up and the
/// softmax's totals they sum. Norms, positions and the biases behind sums are on every rank. Sequence parallelism
/// splits the tokens of each sequence outside of the products.
///
/// Each of `context` ranks has as many tokens of every sequence, one behind the other, and all parameters. Its own
/// queries meet the keys and values of all tokens, which it gathers in either direction; it has a part of their
/// derivatives, which are summed where they are owned. Sequence parallelism divides the tokens once more.
///
/// Each of `expert` ranks has as many experts of a block, and all other parameters. It routes the tokens of its own
/// samples, sends a copy to each chosen expert's rank, and gets the results back. Every sequence has as many places at
/// an expert as its capacity; those that stay empty go along as zeros. Tensor ranks route the same tokens, and sum
/// their terms of the experts' results. Context ranks gather the router's probabilities, since a sequence's tokens
/// compete for the experts. Source: M. Shoeybi et al., Megatron-LM, 2019; V. Korthikanti et al., Reducing Activation
/// Recomputation in Large Transformer Models, 2023; H. Liu, M. Zaharia, P. Abbeel, Ring Attention, 2023; D. Lepikhin et
/// al., GShard, 2020.
#pragma once

#include <string>
#include <vector>

#include "models/cut_model.h"
#include "models/transformer_places.h"

namespace simgrad::models {

/// A rank's computation between two places where ranks exchange numbers.
enum class CutWork {
  look_up,
  add_positions,
  normed,             ///< a norm's results of the rank's tokens
  keys_values,        ///< of the rank's tokens
  products,           ///< from a norm's results to the second product
  add_to_residual,    ///< biases and the residual sum
  probabilities,      ///< the router's, of the rank's tokens
  count_tokens,       ///< how many of the rank's tokens each expert takes, of each sequence
  route,              ///< the copies of the rank's tokens for every expert
  experts,            ///< from copies to results, or their terms of sums
  results,            ///< from such sums to results
  combine,            ///< from results to the residual sum
  derivatives,        ///< those that came in, of the rank's tokens
  attention_slopes,   ///< by own queries and by all keys and values, with the gradient of the second product
  keys_slopes,        ///< those by all keys and values
  products_backward,  ///< with the gradients of both products, or of the first one
  residual_backward,  ///< with the gradients of the norm and of the biases behind the sum
  slopes_of_results,  ///< the derivatives with respect to the experts' results
  experts_backward,   ///< by copies, with the gradients of the rank's experts
  copies_slopes,      ///< those by copies, from sums
  combine_backward,   ///< with the gradients of the router and the norm
  look_up_backward,   ///< with the gradients of the embedding and the positions
  greatest_logits,
  softmax_terms,       ///< of each token the sum of exponentials, then the logit of the next token (the loss needs it)
  loss_backward,       ///< with the gradient of the head's matrix
  last_norm_backward,  ///< with the gradient of the last norm
};

struct CutStep {
  CutWork work;
  Step step;
};

/// Whether ranks that share products share a sequence's tokens outside of them.
inline bool shares_tokens(const Chunk& chunk) { return chunk.sequence_parallel && chunk.tensor > 1; }
/// Whether the backward pass through experts reads the router's probabilities from the forward pass: it would have to
/// wait for other ranks' tokens to compute them again.
inline bool keeps_probabilities(const Chunk& chunk) {
  return chunk.context > 1 || (shares_tokens(chunk) && chunk.expert > 1);
}
/// The places of some parts in w as a rank holds it.
TransformerPlaces places_of(const TransformerShape& shape, const Chunk& chunk, PartRange parts);
/// The parts of a chunk.
PartRange parts_of(const TransformerShape& shape, const Chunk& chunk);
/// The steps of a part in one direction.
std::vector<CutStep> steps_of(const TransformerShape& shape, const Chunk& chunk, std::int64_t part, bool backward);

/// A stretch of a part's w, and whether this rank adds the penalty's gradient there.
struct GradientStretch {
  std::int64_t first = 0, count = 0;
  bool penalised = false;
};
/// The stretches whose gradient a step has.  places: the part's.
std::vector<GradientStretch> gradients_of(const TransformerShape& shape, const Chunk& chunk, std::int64_t part,
                                          const TransformerPlaces& places, CutWork work);

/// The functions of CutModel.
std::string cut_refusal(const TransformerShape& shape, const Shares& shares);
/// A sentence on a vocabulary that tensor ranks share padded; or empty.
std::string padding_note(const TransformerShape& shape, std::int64_t tensor);
std::vector<Segment> segments(const TransformerShape& shape, const Chunk& chunk);
std::vector<ParameterStretch> parameters_of(const TransformerShape& shape, const Chunk& chunk);
std::vector<ParameterStretch> replicated(const TransformerShape& shape, const Chunk& chunk, Among among);
ParameterStretch tied(const TransformerShape& shape, const Chunk& chunk);
/// l2: the penalty's weight.
void run_cut_step(const TransformerShape& shape, double l2, const Chunk& chunk, std::size_t segment, bool backward,
                  std::size_t step, const StepInputs& inputs, std::span<double> result);

}  // namespace simgrad::models
