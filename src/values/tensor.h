/// Immutable arrays whose shape is known at once and whose numbers are perhaps still being computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "values/wire_format.h"

namespace simgrad::values {

class Dispatcher;
struct Node;

/// A handle to one immutable vector of doubles; copying it copies no numbers. Operations return new tensors; `w -= x`
/// rebinds w. Every operation takes its dispatcher from its operands.
///
/// Operations are value-numbered: the same operation on the same operands (by identity, with the same scalars) is one
/// tensor, computed and held once.
///
/// The numbers are doubles; on the wire they weigh what the tensor's format says. Sums of two tensors of one rounding
/// format are rounded to it, as hardware would, and keep it; slices and concatenations keep any format; the results of
/// all other arithmetic are float64.
class Tensor {
 public:
  Tensor() = default;  ///< no tensor at all: only assignment and the test below are allowed

  explicit operator bool() const { return node_ != nullptr; }
  std::int64_t size() const;              ///< known at once
  std::int64_t size_bytes() const;        ///< what it weighs on the wire
  const WireFormat& wire_format() const;  ///< float64 unless it was rounded or encoded
  std::uint64_t identity() const;         ///< equal for equal value numbers; never reused
  bool timing_only() const;               ///< shape without numbers

  /// The numbers; waits in real time, never in virtual time, until they are there. Valid while a handle lives.
  /// Errors: what the computation threw, as ValueError; an invariant breaks on a timing-only tensor.
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
/// Rounded where both are of one rounding format; so are combine and combine_around with `add`.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(double scale, const Tensor& a);
/// a + scale * b in one pass.
Tensor add_scaled(const Tensor& a, double scale, const Tensor& b);
/// sum of scales[i] * terms[i], added in the order of the terms; at least one term, all of one size.
Tensor weighted_sum(std::span<const Tensor> terms, std::span<const double> scales);
/// terms[0] + terms[1] + ..., added in that order. Long terms are added a few at a time: so that none is held for
/// longer than it takes, they are taken over.
Tensor sum(std::vector<Tensor> terms);
/// Element by element the larger or smaller of two; as with +, the order of a and b does not matter.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

/// What two elements become one by.
enum class Combination : unsigned char { add, maximum, minimum };
Tensor combine(Combination how, const Tensor& a, const Tensor& b);
/// The terms combined where each stretch of elements begins with another term: elements starts[c] .. starts[c + 1] - 1
/// in the order of terms c + shift, c + shift + 1, ..., counted around.  starts: a stretch a term, ascending; the last
/// ends with the terms.
Tensor combine_around(Combination how, std::span<const Tensor> terms, std::span<const std::int64_t> starts, int shift);
/// Elements first .. first + count - 1, without a copy: a slice keeps the whole of its tensor.
Tensor slice(const Tensor& a, std::int64_t first, std::int64_t count);
/// The parts one after the other, weighing what they weigh. Slices that cover one tensor in order give that tensor
/// itself.
Tensor concatenate(std::span<const Tensor> parts);

/// x as the format has it: really rounded, to nearest and ties to even. A flop a number, which nobody charges here.
Tensor rounded(const Tensor& x, Format format);
/// The same numbers without a copy, as float64.
Tensor decoded(const Tensor& x);
/// The same numbers without a copy, weighing that many bytes: what a receiver decodes from a code of that length.
Tensor encoded(const Tensor& x, std::int64_t bytes);

}  // namespace simgrad::values
