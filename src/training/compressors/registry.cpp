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

void Compressor::describe_error_feedback(base::Describer& d) {
  d.flag("error_feedback", error_feedback,
         "the part that a message leaves out is added to the next vector (2 d flops; it is lost when ranks restart)");
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
