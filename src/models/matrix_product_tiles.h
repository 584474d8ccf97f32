/// The innermost loops of matrix products: one tile of C, all of k, for each set of instructions.
#pragma once

#include <cstdint>

namespace simgrad::models {

/// The instructions that a tile is compiled for. All of them compute the same bits.
enum class Instructions {
  portable,  ///< those of every machine; where it has no fused multiply-add, the C library computes it, slowly
  avx2,      ///< with FMA
  avx512
};

/// Whether this processor has them.
bool has(Instructions instructions);
/// The widest that it has.
Instructions widest_instructions();

/// One tile of C, (rows x columns), and how to compute it.
template <class Real>
struct Tile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// c_ij <- fma(a_ip, b_pj, c_ij) for p = 0 .. k-1, from 0 if `fresh`.  a: (k x rows), b: (k x columns), both packed;
  /// c: its rows are `stride` numbers apart.
  void (*compute)(std::int64_t k, const Real* a, const Real* b, Real* c, std::int64_t stride, bool fresh) = nullptr;
};

template <class Real>
Tile<Real> tile_for(Instructions instructions);

}  // namespace simgrad::models
