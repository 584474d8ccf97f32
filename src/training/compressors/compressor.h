/// Compression of the vectors that ranks send: a code of fewer bytes, which the receiver decodes to nearby numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/random.h"
#include "base/registry.h"
#include "models/model.h"
#include "values/dispatcher.h"
#include "values/tensor.h"

namespace simgrad::training {

/// A part of a layer: consecutive numbers.
struct LayerPiece {
  std::int64_t count = 0;
  std::int64_t columns = 0;  ///< the columns of the layer's matrix, row by row; 0: the layer is a vector
  std::int64_t column = 0;   ///< the column of its first number
};

/// The arguments of one compression beside the vector.
struct Occasion {
  values::Dispatcher& dispatcher;
  base::Stream::Key draws;              ///< for this rank and vector
  base::Stream::Key shared_draws;       ///< for this vector, the same on all ranks
  std::int64_t parameters = 0;          ///< the whole model's; the vector may be a part of it
  std::int64_t first = 0;               ///< the vector's first number, among the parameters
  std::vector<LayerPiece> pieces = {};  ///< the vector, piece after piece
};

/// The state that a sender keeps from one vector to the next.
struct CompressorMemory {
  values::Tensor error;    ///< with error feedback: the sum of all that earlier codes left out
  values::Tensor factors;  ///< power_sgd: the factors from which the next iteration starts
};

/// The work of encoding or of decoding.
struct CodingWork {
  double flops = 0.0;
  double bytes = 0.0;  ///< read from and written to the memory of a device
};

/// Passes over a vector in a device's memory: a pass reads every number once and writes it once.
struct CodingPasses {
  double encode = 0.0;
  double decode = 0.0;
};

class Compressor : public base::Described {
 public:
  bool error_feedback = false;          ///< the part that a code leaves out is added to the next vector
  std::optional<double> encode_passes;  ///< over the memory of a device; none: the kind's own
  std::optional<double> decode_passes;

  void describe(base::Describer&) override {}

  /// The vector that the receiver decodes, with the bytes of the code.  x: (n).  Returns (n).
  virtual values::Tensor encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory) const = 0;
  /// Flops to encode at the sender, to decode at the receiver, and to add a received code to a sum.
  virtual double encode_flops(std::int64_t n, const Occasion& occasion) const = 0;
  virtual double decode_flops(std::int64_t n, const Occasion& occasion) const = 0;
  virtual double add_flops(std::int64_t n, const Occasion&) const { return static_cast<double>(n); }
  /// Passes over the n numbers in the memory of a device, as the kind has them. By default each operation is a pass, as
  /// in a library that starts a kernel for each.
  virtual CodingPasses own_passes(std::int64_t n, const Occasion& occasion) const;
  /// A kind's own passes to encode, and the published times that decided about them; nothing: they are assumed.
  struct Fitted {
    double encode_passes = 0.0;
    std::string_view to;
  };
  virtual std::optional<Fitted> fitted() const { return {}; }
  /// The work of encoding, error feedback included, and of decoding. Codes are computed in single precision, or with
  /// numbers of so many bytes.
  CodingWork encode_work(std::int64_t n, const Occasion& occasion, double number_bytes = 4.0) const;
  CodingWork decode_work(std::int64_t n, const Occasion& occasion, double number_bytes = 4.0) const;

  /// Whether codes can be added without decoding, so that an allreduce can sum them.
  virtual bool sums() const { return false; }
  struct Summed {
    values::Tensor sum;
    values::Tensor own;  ///< the part of the sum that is x's
  };
  /// The sum of the ranks' vectors, where `all` sums a tensor over the ranks. Call it only where sums().
  using SumOverRanks = std::function<values::Tensor(const values::Tensor&)>;
  virtual Summed summed(const values::Tensor& x, const Occasion& occasion, CompressorMemory& memory,
                        const SumOverRanks& all) const;
  /// The result that the receiver computes from the sum of decoded vectors.
  virtual values::Tensor concluded(const values::Tensor& sum) const { return sum; }
  /// Whether decoded parameters are close enough to the sent ones to train with; sparse codes leave most of them out.
  virtual bool keeps_parameters() const { return false; }
  /// Whether decoded numbers have sizes, and not only signs.
  virtual bool says_how_far() const { return true; }
  /// Whether layers are compressed as matrices, so that a vector must consist of contiguous parts of layers.
  virtual bool of_matrices() const { return false; }
  /// Whether vectors are sent unchanged.
  virtual bool exact() const { return false; }
  /// Whether a code is some of the numbers, with their places.
  virtual bool sparse() const { return false; }
  /// The bytes of a number in its message, where the code is a format of numbers.  uncompressed: those of a number that
  /// is sent as it is.
  virtual double bytes_per_number(double uncompressed) const { return uncompressed; }
  /// The reason why the gradients of such a model cannot be compressed, or empty.
  virtual std::string refusal(std::int64_t /*parameters*/, std::span<const models::Layer> /*layers*/) const {
    return {};
  }

 protected:
  void describe_error_feedback(base::Describer& d);
  void describe_passes(base::Describer& d);
};

/// The compressors a scenario can name.
const base::Registry<Compressor>& compressors();

/// A key as words, for the names of operations.
std::vector<std::uint64_t> words(const base::Stream::Key& key);

}  // namespace simgrad::training
