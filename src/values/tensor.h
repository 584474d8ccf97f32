/// Immutable arrays whose shape is known at once and whose numbers may still be being computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "values/lineage.h"
#include "values/wire_format.h"

namespace simgrad::values {

class Dispatcher;
struct Node;

/// A handle to one immutable vector of doubles. Copying a handle copies no numbers. Operations return new tensors; `w
/// -= x` rebinds w. Every operation takes its dispatcher from its operands.
///
/// Operations are value-numbered: the same operation on the same operands (by identity, with the same scalars) is one
/// tensor, computed and held once.
///
/// The numbers are doubles; their bytes in a message are those of the tensor's wire format. Sums of two tensors of one
/// rounding format are rounded to this format, as hardware would, and keep it. Slices and concatenations keep any
/// format. The results of all other arithmetic are float64.
class Tensor {
 public:
  Tensor() = default;  ///< an empty handle: only assignment and the test below are allowed

  explicit operator bool() const { return node_ != nullptr; }
  std::int64_t size() const;              ///< known at once
  std::int64_t size_bytes() const;        ///< in a message
  const WireFormat& wire_format() const;  ///< float64 unless it was rounded or encoded
  std::uint64_t identity() const;         ///< equal for equal value numbers; never reused
  bool timing_only() const;               ///< shape without numbers, which are not coming either
  /// A hash of all that its numbers follow from; unknown unless the dispatcher follows lineages.
  const Lineage& lineage() const;

  /// The numbers; waits for them in real time, never in virtual time. Valid while a handle lives.  Errors: ValueError
  /// if the computation threw; InvariantError for a timing-only tensor.
  std::span<const double> value() const;

  Tensor& operator+=(const Tensor& x);
  Tensor& operator-=(const Tensor& x);

 private:
  friend class Dispatcher;
  friend struct Node;
  explicit Tensor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  std::shared_ptr<Node> node_;
};

/// a + b and b + a are one tensor (IEEE addition commutes), so both sides of an exchange hold the same sum.
/// The sum is rounded where both are of one rounding format; so are combine and combine_around with `add`.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(double scale, const Tensor& a);
/// a + scale * b in one pass.
Tensor add_scaled(const Tensor& a, double scale, const Tensor& b);
/// sum of scales[i] * terms[i], added in the order of the terms; at least one term, all of one size.
Tensor weighted_sum(std::span<const Tensor> terms, std::span<const double> scales);
/// terms[0] + terms[1] + ..., added in that order. Long terms are added a few at a time. The terms are moved in, so
/// that each is freed as soon as it is added.
Tensor sum(std::vector<Tensor> terms);
/// The larger or smaller of two, element by element; as with +, the order of a and b does not matter.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

/// The operation that combines two elements.
enum class Combination : unsigned char { add, maximum, minimum };
Tensor combine(Combination how, const Tensor& a, const Tensor& b);
/// The terms combined in an order that differs from chunk to chunk: elements starts[c] .. starts[c + 1] - 1 in the
/// order of terms c + shift, c + shift + 1, ..., modulo their number.  starts: ascending, as many as terms; the last
/// chunk ends with the vector.
Tensor combine_around(Combination how, std::span<const Tensor> terms, std::span<const std::int64_t> starts, int shift);
/// Elements first .. first + count - 1, without a copy: a slice keeps its whole tensor alive.
Tensor slice(const Tensor& a, std::int64_t first, std::int64_t count);
/// The parts one after the other; their bytes add up. Slices that cover one tensor in order give that tensor itself.
Tensor concatenate(std::span<const Tensor> parts);
/// The blocks of x in another order.  x: (outer x inner x n), row by row.  Returns (inner x outer x n).
Tensor transposed(const Tensor& x, std::int64_t outer, std::int64_t inner);

/// x rounded to the format, to nearest and ties to even. Its cost, a flop a number, is left to the caller to charge.
Tensor rounded(const Tensor& x, Format format);
/// The numbers of x as float64, without a copy.
Tensor decoded(const Tensor& x);
/// The numbers of x without a copy, as a receiver decodes them from a code of so many bytes.
Tensor encoded(const Tensor& x, std::int64_t bytes);

}  // namespace simgrad::values
