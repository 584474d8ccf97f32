/// Number formats of fewer bytes. Numbers are rounded when encoded, and again in every sum on the way, as by hardware.
#pragma once

#include <algorithm>

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct None : Compressor {
  static constexpr base::About about{
      .kind = "none", .summary = "no compression: 8 bytes a number", .cost = "M = 8 d bytes", .source = ""};

  values::Tensor encode(const values::Tensor& x, const Occasion&, CompressorMemory&) const override { return x; }
  double encode_flops(std::int64_t, const Occasion&) const override { return 0.0; }
  double decode_flops(std::int64_t, const Occasion&) const override { return 0.0; }
  bool sums() const override { return true; }
  Summed summed(const values::Tensor& x, const Occasion&, CompressorMemory&, const SumOverRanks& all) const override {
    return {all(x), x};
  }
  bool keeps_parameters() const override { return true; }
  bool exact() const override { return true; }
};

struct Float64 : None {
  static constexpr base::About about{.kind = "float64",
                                     .summary = "double precision, which is none: 8 bytes a number",
                                     .cost = "M = 8 d bytes",
                                     .source = ""};
};

/// Encoding and decoding take a flop a number each.
class Rounded : public Compressor {
 public:
  explicit Rounded(values::Format format) : format_(format) {}

  void describe(base::Describer& d) override {
    describe_error_feedback(d);
    describe_passes(d);
  }
  values::Tensor encode(const values::Tensor& x, const Occasion&, CompressorMemory&) const override {
    return values::rounded(x, format_);
  }
  double encode_flops(std::int64_t n, const Occasion&) const override { return static_cast<double>(n); }
  double decode_flops(std::int64_t n, const Occasion&) const override { return static_cast<double>(n); }
  bool sums() const override { return true; }
  Summed summed(const values::Tensor& x, const Occasion&, CompressorMemory&, const SumOverRanks& all) const override {
    const values::Tensor own = values::rounded(x, format_);
    return {values::decoded(all(own)), values::decoded(own)};
  }
  bool keeps_parameters() const override { return true; }
  double bytes_per_number(double uncompressed) const override {
    return std::min(uncompressed, values::wire_format(format_).bytes_per_number);
  }

 private:
  values::Format format_;
};

struct Float32 : Rounded {
  static constexpr base::About about{.kind = "float32",
                                     .summary = "single precision: 24 significant bits",
                                     .cost = "M/2 on the wire; d flops to encode, d to decode",
                                     .source = "IEEE 754-2019 (binary32)"};
  Float32() : Rounded(values::Format::float32) {}
};

struct Float16 : Rounded {
  static constexpr base::About about{.kind = "float16",
                                     .summary = "half precision: 11 significant bits, 6e-8 to 65504",
                                     .cost = "M/4 on the wire; d flops to encode, d to decode",
                                     .source = "IEEE 754-2019 (binary16)"};
  Float16() : Rounded(values::Format::float16) {}
};

struct BFloat16 : Rounded {
  static constexpr base::About about{
      .kind = "bfloat16",
      .summary = "8 significant bits with the range of single precision",
      .cost = "M/4 on the wire; d flops to encode, d to decode",
      .source = "S. Wang, P. Kanwar, BFloat16: The secret to high performance on Cloud TPUs, 2019"};
  BFloat16() : Rounded(values::Format::bfloat16) {}
};

}  // namespace simgrad::training
