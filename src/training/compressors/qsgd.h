/// Quantised gradients: every number becomes its sign and one of s + 1 levels between 0 and its bucket's norm, chosen
/// at random without bias.
///
/// E |Q(x) - x|^2 <= min(n/s^2, sqrt(n)/s) |x|^2 in a bucket of n numbers. Every number takes the same number of bits;
/// the paper's Elias code would take fewer where most levels are 0.
#pragma once

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct Qsgd : Compressor {
  static constexpr base::About about{
      .kind = "qsgd",
      .summary = "sign and one of s levels of a bucket's norm, chosen at random, unbiased",
      .cost = "d ceil(lg(2 s + 1)) / 8 + 4 d/bucket bytes; 5 d flops to encode, d to decode",
      .source =
          "D. Alistarh, D. Grubic, J. Li, R. Tomioka, M. Vojnovic, QSGD: Communication-Efficient SGD via Gradient "
          "Quantization and Encoding, 2017"};

  std::int64_t levels = 7;
  std::int64_t bucket = 512;

  void describe(base::Describer& d) override;
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const override;
  double encode_flops(std::int64_t n, const Occasion&) const override { return 5.0 * static_cast<double>(n); }
  double decode_flops(std::int64_t n, const Occasion&) const override { return static_cast<double>(n); }
  bool keeps_parameters() const override { return true; }
};

}  // namespace simgrad::training
