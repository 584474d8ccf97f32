/// The reduction of the workers' gradients to the one that an update takes.
///
/// The gradients are those of the mean loss over each worker's own rows. Only the mean weights them, by their rows.
/// A robust reduction tolerates workers that send anything: it is no sum, so that a server holds all gradients at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "strategies/compression.h"
#include "training/worker.h"
#include "values/dispatcher.h"

namespace simgrad::strategies {

class Reduction : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// Whether it is the mean by rows, which adds the workers' parts as they are.
  virtual bool adds() const { return false; }
  /// Whether all gradients are in memory at once; else each is taken in as it comes.
  virtual bool holds_all() const { return false; }
  /// Whether it compares whole gradients, so that no server can reduce a part of them.
  virtual bool needs_whole() const { return false; }
  /// Whether a model that lies within those that it gets is the result; a sum of models is none.
  virtual bool lies_within() const { return true; }
  /// Flops for so many gradients of n numbers each; by default one for each number.
  virtual double flops(std::int64_t gradients, std::int64_t n) const {
    return static_cast<double>(gradients) * static_cast<double>(n);
  }
  /// Reduces at least one gradient, where it does not add. The kernel reads nothing but its inputs and copies of the
  /// options.
  virtual values::Kernel kernel() const = 0;
  /// The options, as the key of an operation.
  virtual std::vector<std::uint64_t> key() const { return {}; }
  /// The reason why so many gradients cannot be reduced, or empty; and a sentence about an option that does nothing
  /// with so many.
  virtual std::string refusal(std::int64_t /*gradients*/) const { return {}; }
  virtual std::string warning(std::int64_t /*gradients*/) const { return {}; }
};

using Reduce = base::Slot<Reduction>;
/// mean, sum, min, max, median, trimmed_mean, krum
const base::Registry<Reduction>& reductions();
inline Reduce mean_by_rows() { return {reductions(), "mean"}; }

/// The option `reduce`.  compression: the code in which the vectors are sent.
void describe_reduce(base::Describer& d, Reduce& reduce, const Compression& compression, std::string_view meaning);
/// Refuses what needs whole gradients beside an option that cuts them ("servers = 2"); empty: none does.
void refuse_parts(base::Describer& d, const Reduce& reduce, const std::string& cut);
/// The reason why so many gradients cannot be reduced.
std::optional<Refusal> reduce_refusal(const Reduce& reduce, std::int64_t gradients);
std::vector<std::string> reduce_warnings(const Reduce& reduce, std::int64_t gradients);
/// The gradients that a server holds at a time, where so many are reduced.
std::int64_t gradients_held(const Reduce& reduce, std::int64_t gradients);

/// The server has room for so many numbers of gradients, if the reduction holds all.
void hold(const Server& server, const Reduce& reduce, std::int64_t numbers);
/// The reduction of vectors, which may be codes, in their order.  Virtual time: its flops.  The server holds them if
/// the reduction holds all.
Tensor reduced(const Server& server, const Reduce& reduce, std::vector<Tensor> vectors);
/// The reduction of parts of the gradient that belong to so many rows each; a part without rows does not count. Virtual
/// time: as above, and a flop a number more.
Tensor reduced(const Server& server, const Reduce& reduce, std::vector<Tensor> parts,
               const std::vector<std::int64_t>& rows);
/// The rows of each worker in a step.
std::vector<std::int64_t> rows_of_workers(const Server& server);

}  // namespace simgrad::strategies
