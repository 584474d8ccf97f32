/// Low-rank gradients: every layer's matrix M (n x m) becomes P Q' with orthonormal P (n x r) and Q (m x r), by one
/// step of power iteration that starts from the last Q.
///
/// P = orthonormal(sum of M Q), Q = sum of M' P: two allreduces of r (n + m) numbers in place of n m, whose sums are
/// those of the matrices' products. Use it with error feedback, as in the paper's Algorithm 2. As there, vectors
/// (biases, linear models, tables) are sent uncompressed beside the left factors, and so are matrices that are no
/// larger than their factors. A shard's or bucket's piece of a layer is a matrix with the layer's columns; missing
/// numbers of its first and last row are zeros. Q begins with normal draws that all ranks share.
#pragma once

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct PowerSgd : Compressor {
  static constexpr base::About about{
      .kind = "power_sgd",
      .summary = "each layer as a product of two thin matrices, by a step of power iteration",
      .cost =
          "8 r (n + m) bytes for a layer n x m, 8 n for a vector, in two allreduces; 4 n m r + 4 n r^2 flops to "
          "encode, "
          "2 n m r more with error feedback, 2 n m r to decode; on a device, where a product reads or writes the "
          "matrix "
          "once, 1 pass over its memory to encode, 1/2 more with error feedback, 1/2 to decode",
      .source =
          "T. Vogels, S. P. Karimireddy, M. Jaggi, PowerSGD: Practical Low-Rank Gradient Compression for Distributed "
          "Optimization, 2019"};

  std::int64_t rank = 2;

  PowerSgd() { error_feedback = true; }
  void describe(base::Describer& d) override;
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory) const override;
  double encode_flops(std::int64_t n, const Occasion& occasion) const override;
  double decode_flops(std::int64_t n, const Occasion& occasion) const override;
  /// Products with thin matrices are bound by memory: each reads or writes the layer's matrix once, half a pass.
  CodingPasses own_passes(std::int64_t, const Occasion&) const override {
    return {.encode = error_feedback ? 1.5 : 1.0, .decode = 0.5};
  }
  bool sums() const override { return true; }
  bool of_matrices() const override { return true; }
  Summed summed(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory,
                const SumOverRanks& all) const override;
  std::string refusal(std::int64_t parameters, std::span<const models::Layer> layers) const override;
};

/// A piece as a matrix, and the number of columns of its two factors.
struct LowRank {
  std::int64_t first = 0;  ///< where it begins in the vector
  std::int64_t count = 0;
  std::int64_t column = 0;  ///< where it begins in its first row
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t rank = 0;  ///< columns of the factors; 0: the piece is sent uncompressed
};
std::vector<LowRank> low_ranks(std::span<const LayerPiece> pieces, std::int64_t rank);

}  // namespace simgrad::training
