/// Numbers are dispatched at the call and awaited at the read.
///
/// Work waits for its inputs by counting them, so no thread ever blocks on an unready input. Work that is ready runs on
/// oneTBB's threads, the oldest consumer's first; small work whose inputs are there runs at once in the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "values/tensor.h"

namespace simgrad::values {

/// Who asked for a piece of work: for the texts of errors.
struct Label {
  int rank = -1;  ///< -1: nobody in particular
  std::int64_t step = -1;
};

/// What a piece of work threw, with the operation's name, the rank and the step that asked for it in the text.
class ValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An operation: what makes two pieces of work the same, and about how long one takes.
struct Operation {
  std::string_view name;                    ///< a literal: "gradient"
  std::span<const std::uint64_t> key = {};  ///< scalars and identities of what is read beside the inputs
  double seconds = 0.0;                     ///< estimated real time on one core: decides inline or pool
  bool numbered = true;                     ///< false: never shared, not even with an equal operation
  WireFormat wire_format = {};  ///< of the result; the name or the key must tell results of different formats apart
  int overwrites = 0;  ///< the result may overwrite so many leading inputs: elements i are read before i is written
};

/// Inputs' numbers in the order given, and where the result goes (all of it is written; it starts undefined).
/// A kernel owns what else it reads: shared immutable data captured by value; never `this`, a reference, or a local.
using Kernel = std::function<void(std::span<const std::span<const double>> inputs, std::span<double> result)>;

class Dispatcher {
 public:
  struct Options {
    int threads = 0;      ///< threads for the numbers beside the caller's own; 0: in the caller, at once if possible
    bool numbers = true;  ///< false: timing only; shapes, identities and value numbering, no kernel is ever called
    double inline_below_s = 20e-6;         ///< work shorter than this with ready inputs runs at once
    std::int64_t pending_limit = 1 << 16;  ///< closures held; a dispatch beyond it waits for the pool
    std::int64_t unread_bytes_limit = std::int64_t{256}
                                      << 20;  ///< results without a consumer: beyond it none are added
    std::function<Label()> label = {};        ///< called in the dispatching thread
  };

  explicit Dispatcher(Options options);
  ~Dispatcher();  ///< drops work that nobody started, waits for what runs
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  bool numbers() const;

  /// A tensor of these numbers, there at once (in timing-only mode their count is all that is kept).
  Tensor constant(std::vector<double> numbers);
  /// Zeros; equal sizes are one tensor.
  Tensor zeros(std::int64_t size);
  /// The result of a kernel, of the given size; `inputs` are tensors of this dispatcher.
  /// Only the thread that made the dispatcher may call.
  Tensor dispatch(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs, Kernel kernel);

  /// Counts for tests and benchmarks.
  struct Statistics {
    std::int64_t dispatched = 0;  ///< calls of dispatch
    std::int64_t shared = 0;      ///< of them answered by a value that existed already
    std::int64_t inlined = 0;     ///< of them computed in the caller
    std::int64_t live_bytes = 0;  ///< numbers held now
    std::int64_t peak_bytes = 0;
  };
  Statistics statistics() const;

 private:
  friend class Tensor;
  friend struct Node;
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace simgrad::values
