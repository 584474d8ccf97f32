#include <algorithm>

#include "base/errors.h"
#include "training/compressors/formats.h"
#include "training/compressors/int8.h"
#include "training/compressors/power_sgd.h"
#include "training/compressors/qsgd.h"
#include "training/compressors/random_k.h"
#include "training/compressors/sign.h"
#include "training/compressors/top_k.h"

namespace simgrad::training {

Compressor::Summed Compressor::summed(const values::Tensor&, const Occasion&, CompressorMemory&,
                                      const SumOverRanks&) const {
  base::check(false, "a compressor whose messages cannot be added");
  return {};
}

CodingPasses Compressor::own_passes(std::int64_t n, const Occasion& occasion) const {
  const double numbers = std::max(1.0, static_cast<double>(n));
  return {.encode = encode_flops(n, occasion) / numbers, .decode = decode_flops(n, occasion) / numbers};
}

CodingWork Compressor::encode_work(std::int64_t n, const Occasion& occasion, double number_bytes) const {
  // Error feedback adds the error, and subtracts the code: each reads two numbers and writes one, which is 1.5 passes.
  const double feedback_flops = error_feedback ? 2.0 : 0.0, feedback_passes = error_feedback ? 3.0 : 0.0;
  const auto numbers = static_cast<double>(n);
  return {.flops = encode_flops(n, occasion) + feedback_flops * numbers,
          .bytes = 2.0 * number_bytes * numbers *
                   (encode_passes.value_or(own_passes(n, occasion).encode) + feedback_passes)};
}

CodingWork Compressor::decode_work(std::int64_t n, const Occasion& occasion, double number_bytes) const {
  return {
      .flops = decode_flops(n, occasion),
      .bytes = 2.0 * number_bytes * static_cast<double>(n) * decode_passes.value_or(own_passes(n, occasion).decode)};
}

void Compressor::describe_error_feedback(base::Describer& d) {
  d.flag("error_feedback", error_feedback,
         "the part that a message leaves out is added to the next vector (2 d flops, or 3 passes over a device's "
         "memory; it "
         "is lost when ranks restart)");
}

void Compressor::describe_passes(base::Describer& d) {
  d.number(
      "encode_passes", encode_passes,
      "the number of passes over a device's memory that encoding takes, error feedback not counted; each of them reads "
      "and writes all numbers in single precision; default: the kind's own number, or one for each operation",
      base::Bounds::between(0, 1e6));
  d.number("decode_passes", decode_passes, "the number of such passes that decoding takes",
           base::Bounds::between(0, 1e6));
}

std::vector<std::uint64_t> words(const base::Stream::Key& key) {
  return {key.seed, static_cast<std::uint64_t>(key.purpose), key.step, key.rank, key.attempt};
}

const base::Registry<Compressor>& compressors() {
  static const base::Registry<Compressor> table({
      base::entry<Compressor, None>(),
      base::entry<Compressor, Float64>(),
      base::entry<Compressor, Float32>(),
      base::entry<Compressor, Float16>(),
      base::entry<Compressor, BFloat16>(),
      base::entry<Compressor, Int8>(),
      base::entry<Compressor, Qsgd>(),
      base::entry<Compressor, Sign>(),
      base::entry<Compressor, TopK>(),
      base::entry<Compressor, RandomK>(),
      base::entry<Compressor, PowerSgd>(),
  });
  return table;
}

}  // namespace simgrad::training
