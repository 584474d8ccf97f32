/// k numbers at places that are drawn from the seed for each vector. All ranks know the places, so that only values are
/// sent, and an allreduce can sum them.
///
/// E |C(x) - x|^2 = (1 - k/n) |x|^2; multiplied by n/k it is unbiased, and E |C(x) - x|^2 = (n/k - 1) |x|^2.
#pragma once

#include "training/compressors/kept.h"

namespace simgrad::training {

struct RandomK : Compressor {
  static constexpr base::About about{
      .kind = "random_k",
      .summary = "k numbers at places drawn from the seed, which are not sent",
      .cost = "8 k bytes, summed by the allreduce; 2 k flops to encode, k to decode",
      .source = "S. U. Stich, J.-B. Cordonnier, M. Jaggi, Sparsified SGD with Memory, 2018"};

  Kept kept;
  bool unbiased = true;

  void describe(base::Describer& d) override;
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory) const override;
  double encode_flops(std::int64_t n, const Occasion& occasion) const override {
    return 2.0 * static_cast<double>(kept.of(n, occasion));
  }
  double decode_flops(std::int64_t n, const Occasion& occasion) const override {
    return static_cast<double>(kept.of(n, occasion));
  }
  double add_flops(std::int64_t n, const Occasion& occasion) const override { return decode_flops(n, occasion); }
  bool sums() const override { return true; }
  Summed summed(const values::Tensor& x, const Occasion& occasion, CompressorMemory&,
                const SumOverRanks& all) const override;
  bool sparse() const override { return true; }
  std::string refusal(std::int64_t parameters, std::span<const models::Layer>) const override {
    return kept.refusal(parameters);
  }
};

}  // namespace simgrad::training
