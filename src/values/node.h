/// One value: a constant, the result of a kernel, or a slice of one of these.
///
/// Work holds the fields that a node needs only until it has run. Ownership follows the operands: a handle holds its
/// node, and work that has not run holds its inputs. Dropping the last handle of a node cancels its work.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "values/buffer.h"
#include "values/dispatcher.h"
#include "values/lineage.h"
#include "values/tensor.h"

namespace simgrad::values {

/// The order in which work runs; smaller is sooner.
struct Priority {
  enum class Group : std::uint8_t { awaited, consumed, unread };
  Group group = Group::unread;
  std::uint64_t oldest = 0;  ///< the identity of the oldest consumer, or the node's own if there is none
  std::uint64_t id = 0;

  auto operator<=>(const Priority&) const = default;
};

/// The part of a node that exists until it has run. `inputs` and `kernel` belong to the thread that runs it, the other
/// fields to the ReadyQueue.
struct Work {
  std::vector<Tensor> inputs;
  Kernel kernel;
  std::string_view name;
  Label label;
  int overwrites = 0;
  Node* lender = nullptr;  ///< the input whose storage the result takes over

  std::map<std::uint64_t, Node*> consumers;  ///< nodes that have not run, by identity: the first is the oldest
  std::int64_t missing = 0;                  ///< different inputs that have not run
  bool awaited = false;                      ///< by value(), or an awaited node depends on this one
  bool queued = false;
  Priority queued_as;
};

/// An operation that is computed when something needs its result (values/known.cpp).
struct Later {
  std::vector<Tensor> inputs;
  Kernel kernel;
  std::string_view name;
};

struct Node : std::enable_shared_from_this<Node> {
  enum class State : std::uint8_t { pending, complete, failed };

  Node(std::shared_ptr<Dispatcher::Impl> owner, std::uint64_t identity, std::int64_t length, const WireFormat& weight)
      : dispatcher(std::move(owner)), id(identity), size(length), wire_format(weight) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  static Node& of(const Tensor& tensor);
  static std::shared_ptr<Node> shared(const Tensor& tensor) { return tensor.node_; }
  static Tensor handle(std::shared_ptr<Node> node) { return Tensor(std::move(node)); }

  /// The node that owns the numbers: itself, or the base of a slice. A slice's state and consumers are its base's.
  Node& root() { return base ? *base : *this; }
  const Node& root() const { return base ? *base : *this; }
  bool pending() const { return root().state.load(std::memory_order_acquire) == State::pending; }
  bool failed() const { return root().state.load(std::memory_order_acquire) == State::failed; }
  std::span<const double> numbers() const;  ///< the node must be complete

  const std::shared_ptr<Dispatcher::Impl> dispatcher;
  const std::uint64_t id;
  const std::int64_t size;
  const WireFormat wire_format;
  Lineage lineage = {};        ///< known where the dispatcher follows lineages
  std::shared_ptr<Node> base;  ///< null, or the node whose numbers this slice or this change of format shares
  std::int64_t first = 0;      ///< a slice's place in its base
  Buffer buffer;
  std::unique_ptr<Work> work;                ///< null once it has run
  std::unique_ptr<Later> later;              ///< only the timeline's thread looks at it
  std::unique_ptr<const std::string> error;  ///< a failed node's error message

  // Fields of the Numbering. `key` is null for a node that is not in its table.
  std::unique_ptr<std::uint64_t[]> key;
  Node* next = nullptr;
  std::uint32_t hash = 0;

  std::atomic<State> state{State::pending};
  bool unread = false;      ///< counted in the unread bytes
  bool timing_only = true;  ///< its numbers are neither there nor coming
  /// Operations since a tensor that follows from none, at most. Only where lineages are followed.
  std::uint8_t distance = 0;
};

/// The work's name for error messages: "gradient (rank 3, step 17)".
std::string description(std::string_view name, const Label& label);

}  // namespace simgrad::values
