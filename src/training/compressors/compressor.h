/// What is sent instead of a vector: fewer bytes, from which the receiver makes numbers that are near it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/random.h"
#include "base/registry.h"
#include "models/model.h"
#include "values/dispatcher.h"
#include "values/tensor.h"

namespace simgrad::training {

/// A contiguous part of a layer.
struct LayerPiece {
  std::int64_t count = 0;
  std::int64_t columns = 0;  ///< of the matrix that it is cut from, row by row; 0: from a vector
  std::int64_t column = 0;   ///< its first number's
};

/// What one compression depends on beside the vector.
struct Occasion {
  values::Dispatcher& dispatcher;
  base::Stream::Key draws;              ///< of this rank, for this vector
  base::Stream::Key shared_draws;       ///< the same on all ranks
  std::int64_t parameters = 0;          ///< of the model, of which the vector may be a part
  std::int64_t first = 0;               ///< the vector's first number, among the parameters
  std::vector<LayerPiece> pieces = {};  ///< the vector, piece after piece
};

/// What a sender remembers from one vector to the next.
struct CompressorMemory {
  values::Tensor error;    ///< what the last ones left out, with error feedback
  values::Tensor factors;  ///< power_sgd's, to start from
};

class Compressor : public base::Described {
 public:
  bool error_feedback = false;  ///< what is left out is added to the next vector

  void describe(base::Describer&) override {}

  /// What the receiver decodes, weighing what the message weighs.  x: (n).  Returns (n).
  virtual values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory) const = 0;
  /// At the sender; at the receiver; and to add what was received to a sum.
  virtual double encode_flops(std::int64_t n, const Occasion& occasion) const = 0;
  virtual double decode_flops(std::int64_t n, const Occasion& occasion) const = 0;
  virtual double add_flops(std::int64_t n, const Occasion&) const { return static_cast<double>(n); }

  /// Whether messages can be added on their way, so that an allreduce can sum them.
  virtual bool sums() const { return false; }
  struct Summed {
    values::Tensor sum;
    values::Tensor own;  ///< what of it is x's
  };
  /// The sum over all ranks by `all`, which sums what it is handed over the ranks.  Only where sums().
  using SumOverRanks = std::function<values::Tensor(const values::Tensor&)>;
  virtual Summed summed(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory,
                        const SumOverRanks& all) const;
  /// What the receiver makes of the sum of what it has decoded.
  virtual values::Tensor concluded(const values::Tensor& sum) const { return sum; }
  /// Whether what is decoded of parameters is near enough to them to be trained at: others leave most of them out.
  virtual bool keeps_parameters() const { return false; }
  /// Whether what is decoded says how large the numbers are, and not only on which side of zero.
  virtual bool says_how_far() const { return true; }
  /// Whether it looks at layers as matrices, of which a vector must be whole stretches.
  virtual bool of_matrices() const { return false; }
  /// Whether it does nothing at all.
  virtual bool exact() const { return false; }
  /// Why it cannot compress the gradients of such a model, or empty.
  virtual std::string unfit(std::int64_t /*parameters*/, std::span<const models::Layer> /*layers*/) const { return {}; }

 protected:
  void describe_error_feedback(base::Describer& d);
};

/// none, float64, float32, float16, bfloat16, int8, qsgd, sign, top_k, random_k, power_sgd
const base::Registry<Compressor>& compressors();

/// A key as words, for the names of operations.
std::vector<std::uint64_t> words(const base::Stream::Key& key);

}  // namespace simgrad::training
