/// One value: a constant, the result of a kernel, or a slice of one of these.
///
/// What a node needs only until it has run is in its Work. Ownership follows the operands: a handle holds its node, and
/// work that has not run holds its inputs; whoever drops the last handle to unread work thereby cancels it.
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
#include "values/tensor.h"

namespace simgrad::values {

/// Who runs first; smaller is sooner.
struct Priority {
  enum class Group : std::uint8_t { awaited, consumed, unread };
  Group group = Group::unread;
  std::uint64_t oldest = 0;  ///< the identity of the oldest consumer; one's own if there is none
  std::uint64_t id = 0;

  auto operator<=>(const Priority&) const = default;
};

/// What a node holds until it has run. `inputs` and `kernel` belong to whoever runs it, the rest to the Schedule.
struct Work {
  std::vector<Tensor> inputs;
  Kernel kernel;
  std::string_view name;
  Label label;
  int overwrites = 0;
  Node* lender = nullptr;  ///< the input whose storage the result takes over

  std::map<std::uint64_t, Node*> consumers;  ///< those that have not run, by identity: the first is the oldest
  std::int64_t missing = 0;                  ///< different inputs that have not run
  bool awaited = false;                      ///< by value(), or needed for what is
  bool queued = false;
  Priority queued_as;
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

  /// The node that owns the numbers: a slice has none of its own, and waits, fails and is consumed as its base.
  Node& root() { return base ? *base : *this; }
  const Node& root() const { return base ? *base : *this; }
  bool pending() const { return root().state.load(std::memory_order_acquire) == State::pending; }
  bool failed() const { return root().state.load(std::memory_order_acquire) == State::failed; }
  std::span<const double> numbers() const;  ///< of a complete node

  const std::shared_ptr<Dispatcher::Impl> dispatcher;
  const std::uint64_t id;
  const std::int64_t size;
  const WireFormat wire_format;
  std::shared_ptr<Node> base;  ///< of a slice, or of a tensor that only weighs otherwise
  std::int64_t first = 0;      ///< a slice's place in its base
  Buffer buffer;
  std::unique_ptr<Work> work;                ///< null once it has run
  std::unique_ptr<const std::string> error;  ///< of a failed node: the whole text

  // The Numbering's: `key` is null for a node that it does not know.
  std::unique_ptr<std::uint64_t[]> key;
  Node* next = nullptr;
  std::uint32_t hash = 0;

  std::atomic<State> state{State::pending};
  bool unread = false;  ///< counted in the unread bytes
};

/// "gradient (rank 3, step 17)"
std::string description(std::string_view name, const Label& label);

}  // namespace simgrad::values
