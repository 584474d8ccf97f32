/// Whole numbers of eight bits times a unit for each bucket: the bucket's largest size / 127, in single precision.
#pragma once

#include "training/compressors/compressor.h"

namespace simgrad::training {

enum class Rounding {
  stochastic,  ///< up or down at random, unbiased
  nearest
};

struct Int8 : Compressor {
  static constexpr base::About about{
      .kind = "int8",
      .summary = "whole numbers -127 .. 127 times a unit for each bucket of numbers",
      .cost = "d + 4 d/bucket bytes; 4 d flops to encode (nearest: 3 d), d to decode",
      .source =
          "S. Gupta, A. Agrawal, K. Gopalakrishnan, P. Narayanan, Deep Learning with Limited Numerical Precision, "
          "2015"};

  Rounding rounding = Rounding::stochastic;
  std::int64_t bucket = 1024;

  void describe(base::Describer& d) override;
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const override;
  double encode_flops(std::int64_t n, const Occasion&) const override;
  double decode_flops(std::int64_t n, const Occasion&) const override { return static_cast<double>(n); }
  bool keeps_parameters() const override { return true; }
};

}  // namespace simgrad::training
