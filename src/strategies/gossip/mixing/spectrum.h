/// How fast a mixing matrix makes replicas agree.
#pragma once

#include <optional>
#include <span>

#include "strategies/gossip/mixing/matrix.h"

namespace simgrad::strategies {

/// The eigenvalues of W but for one eigenvalue 1, in short.
struct Spectrum {
  double second = 0.0;          ///< the largest modulus of them; disagreement falls by this factor a round in the end
  std::optional<double> least;  ///< the least real part, where it is known
};

/// By Eigen's solvers (Francis' QR; symmetric matrices: the symmetric one) up to 600 ranks. Of larger matrices the
/// second alone is found, by power iteration on W - 1 1^T / P, if W is symmetric and the iteration comes to an end: 1 -
/// second is known to a millionth of it then. Else nothing.
std::optional<Spectrum> spectrum(const MixingMatrix& W);

/// 1 - second, 0 where the graph falls into several components, 1 of one rank; nothing where the spectrum is not known.
std::optional<double> spectral_gap(const MixingMatrix& W);

/// Of matrices that take turns: 1 - second^(1/n) of the product of all n; 1 where all of them together average exactly.
/// Up to 600 ranks.
std::optional<double> spectral_gap_of_turns(std::span<const MixingMatrix> turns);

/// Of averages in pairs, each asked for by a rank at random, of one of its neighbours at random, as many as there are
/// ranks: 1 - lambda^(P/2), lambda the second eigenvalue of the expected matrix of one: E |x - mean|^2 falls by it each
/// time. Source: S. Boyd, A. Ghosh, B. Prabhakar, D. Shah, "Randomized Gossip Algorithms", 2006. Up to 600 ranks.
std::optional<double> spectral_gap_of_pairs(const Adjacency& edges);

}  // namespace simgrad::strategies
