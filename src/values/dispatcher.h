/// Numbers are dispatched at the call and awaited at the read.
///
/// Work counts its missing inputs and starts when there are none, so no thread ever blocks on an input. Ready work runs
/// on oneTBB's threads, in the order of its oldest consumers. Small work whose inputs are there runs at once in the
/// caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "values/contents.h"
#include "values/tensor.h"

namespace simgrad::values {

/// The rank and step that asked for a piece of work, for error messages.
struct Label {
  int rank = -1;  ///< -1: unknown
  std::int64_t step = -1;
};

/// An exception thrown by a kernel. Its text adds the operation's name and the rank and step that asked for it.
class ValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An operation: its identity for value numbering, and an estimate of its time.
struct Operation {
  std::string_view name;                    ///< a literal: "gradient"
  std::span<const std::uint64_t> key = {};  ///< scalars, and identities of other data that it reads
  double seconds = 0.0;         ///< estimated real time on one core: decides whether it runs inline or in the pool
  bool numbered = true;         ///< false: never shared, not even with an equal operation
  WireFormat wire_format = {};  ///< the result's; results of different formats must differ in name or key
  bool commutes = false;        ///< whether the inputs' order has no meaning
  bool joins = false;           ///< whether the result is its inputs one after another
  int overwrites = 0;  ///< the result may overwrite so many leading inputs: elements i are read before i is written
};

/// Computes `result` from the inputs' numbers, which come in the order given to `dispatch`. A kernel writes all of the
/// result, which starts uninitialised. A kernel owns all other data that it reads: it captures shared immutable data by
/// value, and never `this` or a reference.
using Kernel = std::function<void(std::span<const std::span<const double>> inputs, std::span<double> result)>;

class Dispatcher {
 public:
  struct Options {
    int threads = 0;  ///< threads for the numbers; 0: the caller computes, at once if possible
    /// false: timing only; shapes, identities and value numbering, no kernel is ever called. Without lineages,
    /// operations on sixteen operands or more are not numbered.
    bool numbers = true;
    bool lineages = false;  ///< whether tensors know their lineage
    /// Numbers that are known where none are computed: tensors of these lineages have them, and so has what follows
    /// from such tensors. Wants lineages.
    std::shared_ptr<const Contents> known = {};
    double inline_below_s = 20e-6;         ///< work shorter than this with ready inputs runs at once
    std::int64_t pending_limit = 1 << 16;  ///< pieces of work that have not run; a dispatch beyond it waits
    std::int64_t unread_bytes_limit = std::int64_t{256}
                                      << 20;  ///< results without a consumer; beyond it no more are computed
    std::function<Label()> label = {};        ///< called in the dispatching thread
  };

  explicit Dispatcher(Options options);
  ~Dispatcher();  ///< drops work that has not started, waits for work that is running
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  bool numbers() const;
  bool lineages() const;
  /// All numbers that are held now, but those of few operations' making; nothing if they have more bytes. Waits for
  /// them. An equal training can go on from them: they are `known` there. Wants lineages.
  std::optional<Contents> contents(std::int64_t bytes_limit);

  /// A complete tensor of these numbers (in timing-only mode only their count is kept).
  Tensor constant(std::vector<double> numbers);
  /// Zeros; equal sizes are one tensor.
  Tensor zeros(std::int64_t size);
  /// The result of a kernel, of the given size; `inputs` are tensors of this dispatcher.
  /// Only the thread that made the dispatcher may call it.
  Tensor dispatch(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs, Kernel kernel);

  /// Counts for tests and benchmarks.
  struct Statistics {
    std::int64_t dispatched = 0;  ///< calls of dispatch
    std::int64_t shared = 0;      ///< calls answered by a value that existed already
    std::int64_t inlined = 0;     ///< calls computed in the caller
    std::int64_t live_bytes = 0;  ///< bytes of all numbers held now
    std::int64_t peak_bytes = 0;
    /// Tensors for which `known` has another number of numbers, which were left out: it is of another training.
    std::int64_t misfits = 0;
  };
  Statistics statistics() const;

 private:
  friend class Tensor;
  friend struct Node;
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace simgrad::values
