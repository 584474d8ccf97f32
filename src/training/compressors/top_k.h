/// The k largest numbers with their places; all others count as zero.
///
/// |C(x) - x|^2 <= (1 - k/n) |x|^2. Places and values (in single precision) are 4 bytes each; with k = n nothing is
/// left out, and the vector is sent uncompressed.
#pragma once

#include "training/compressors/kept.h"

namespace simgrad::training {

struct TopK : Compressor {
  static constexpr base::About about{
      .kind = "top_k",
      .summary = "the k largest numbers and their places; needs error feedback",
      .cost =
          "k (4 + 4) bytes; 3 d flops to encode, none to decode, k to add; an allreduce becomes an all-gather: (P-1) "
          "(alpha + 8 k beta)",
      .source = "S. U. Stich, J.-B. Cordonnier, M. Jaggi, Sparsified SGD with Memory, 2018"};

  Kept kept;

  void describe(base::Describer& d) override {
    kept.describe(d);
    describe_error_feedback(d);
    describe_passes(d);
  }
  values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const override;
  double encode_flops(std::int64_t n, const Occasion&) const override { return 3.0 * static_cast<double>(n); }
  double decode_flops(std::int64_t, const Occasion&) const override { return 0.0; }
  double add_flops(std::int64_t n, const Occasion& occasion) const override {
    return static_cast<double>(kept.of(n, occasion));
  }
  bool sparse() const override { return true; }
  std::string refusal(std::int64_t parameters, std::span<const models::Layer>) const override {
    return kept.refusal(parameters);
  }
};

}  // namespace simgrad::training
