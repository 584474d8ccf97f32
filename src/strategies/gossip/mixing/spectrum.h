/// The speed at which a mixing matrix makes replicas agree.
#pragma once

#include <optional>
#include <span>

#include "strategies/gossip/mixing/matrix.h"

namespace simgrad::strategies {

/// A summary of the eigenvalues of W, without one eigenvalue 1.
struct Spectrum {
  double second = 0.0;          ///< the largest modulus of them; disagreement falls by this factor a round in the end
  std::optional<double> least;  ///< the least real part, where it is known
};

/// Computed by Eigen's solvers (Francis' QR; for symmetric matrices the symmetric one) up to 600 ranks. For larger
/// matrices only `second` is found, by power iteration on W - 1 1^T / P, if W is symmetric and the iteration ends: then
/// 1 - second is known to a millionth of it. Else nothing.
std::optional<Spectrum> spectrum(const MixingMatrix& W);

/// 1 - second; 0 where the graph falls into several components, 1 for one rank, nothing where the spectrum is not
/// known.
std::optional<double> spectral_gap(const MixingMatrix& W);

/// For n matrices that take turns: 1 - second^(1/n) of their product; 1 where all of them together average exactly.
/// Up to 600 ranks.
std::optional<double> spectral_gap_of_turns(std::span<const MixingMatrix> turns);

/// For P averages in pairs, each of a random rank with one of its neighbours at random: 1 - lambda^(P/2), where lambda
/// is the second eigenvalue of the expected matrix of one average, by which E |x - mean|^2 falls each time. Source: S.
/// Boyd, A. Ghosh, B. Prabhakar, D. Shah, "Randomized Gossip Algorithms", 2006. Up to 600 ranks.
std::optional<double> spectral_gap_of_pairs(const Adjacency& edges);

}  // namespace simgrad::strategies
