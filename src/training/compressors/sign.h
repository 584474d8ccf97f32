/// The signs alone: one bit a number.
#pragma once

#include "training/compressors/compressor.h"

namespace simgrad::training {

enum class Scale {
  l1_mean,  ///< times the mean of the sizes
  majority  ///< the sign that most ranks sent
};

struct Sign : Compressor {
  static constexpr base::About about{
      .kind = "sign",
      .summary = "signs alone: times the mean size, or voting; needs error feedback, or a small learning rate",
      .cost =
          "d/8 + 4 bytes (majority: d/8); 2 d flops to encode, d to decode; on a device 16.46 passes over its memory "
          "to "
          "encode, fitted to DeepSpeed's 1-bit Adam, and 5 to decode",
      .source =
          "S. P. Karimireddy, Q. Rebjock, S. U. Stich, M. Jaggi, Error Feedback Fixes SignSGD, 2019; majority: J. "
          "Bernstein, Y.-X. Wang, K. Azizzadenesheli, A. Anandkumar, signSGD, 2018"};

  Scale scale = Scale::l1_mean;

  void describe(base::Describer& d) override;
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const override;
  double encode_flops(std::int64_t n, const Occasion&) const override { return 2.0 * static_cast<double>(n); }
  double decode_flops(std::int64_t n, const Occasion&) const override { return static_cast<double>(n); }
  /// A library that starts a kernel for each operation passes over the numbers for norms, signs, scales, conversions
  /// and packing. Those of decoding are counted in DeepSpeed's compressed_allreduce: unpacking, conversion, a shift,
  /// two factors and a copy read and write some 40 bytes a number.
  CodingPasses own_passes(std::int64_t, const Occasion&) const override {
    return {.encode = fitted()->encode_passes, .decode = 5.0};
  }
  std::optional<Fitted> fitted() const override {
    return Fitted{.encode_passes = 16.46,
                  .to = "Microsoft, DeepSpeed with 1-bit Adam, 2020: BERT-large on 8 to 32 V100 over InfiniBand"};
  }
  bool says_how_far() const override { return scale == Scale::l1_mean; }
  /// The result of the vote, if there is one: 1, -1, or 0 in a tie.
  values::Tensor concluded(const values::Tensor& sum) const override;
};

}  // namespace simgrad::training
