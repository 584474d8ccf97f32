/// The dispatcher's implementation: the numbering table, the ready queue and the pool under one lock.
///
/// Threads: the timeline creates and reads nodes, the pool runs and destroys them. Either may drop the last handle of a
/// node. `mutex_` guards the table, the queue, and the unread flags; a node's numbers and error are written before
/// its state is, and read after. No handle is released under the lock, for a node's destructor takes it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "values/node.h"
#include "values/numbering.h"
#include "values/pool.h"
#include "values/ready_queue.h"

namespace simgrad::values {

class Dispatcher::Impl : public std::enable_shared_from_this<Dispatcher::Impl> {
 public:
  explicit Impl(Options options);

  // dispatcher.cpp: the timeline's side.
  bool numbers() const { return options_.numbers; }
  bool lineages() const { return options_.lineages; }
  Tensor constant(std::vector<double> numbers);
  Tensor dispatch(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs, Kernel kernel);
  /// Elements of a tensor without a copy; `first` counts in the tensor that owns the numbers.
  Tensor view(const Tensor& a, std::int64_t first, std::int64_t count, const WireFormat& wire);
  Statistics statistics() const;

  // known.cpp: numbers that are known from the start, and numbers for another run.
  void compute_later(Node& node);  ///< what was put off until something needs it
  std::optional<Contents> contents(std::int64_t bytes_limit);

  // execution.cpp: waiting, running, ending.
  void await(Node& node);  ///< returns when the node has run or failed, and marks it as read
  void bury(Node& node);   ///< called by the node's destructor
  void close();            ///< drops work that has not started, waits for work that is running

 private:
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<Node> make_node(std::int64_t size, const WireFormat& wire = {});
  std::shared_ptr<Node> known(const Numbering::Key& key);
  bool has_numbers(Node& node, const Operation& operation, std::span<const Tensor> inputs, Kernel& kernel);
  void finish_pending();
  bool runs_here(const Operation& operation, std::span<const Tensor> inputs) const;
  void run_here(Node& node, const Operation& operation, std::span<const Tensor> inputs, const Kernel& kernel);
  void hand_over(Node& node, const Operation& operation, std::span<const Tensor> inputs, Kernel kernel,
                 const Numbering::Key& key);

  bool has_room() const;
  void wait_for_room(Lock& lock);
  void wait_for_pumps(Lock& lock);
  void wake(Lock& lock);
  void work_here(Lock& lock, const std::function<bool()>& done);
  void pump() noexcept;
  std::shared_ptr<Node> next();
  void run(Node& node);
  Node* lender(const Node& node);
  void settle(Node& node);
  void drain(Lock& lock);

  const Options options_;
  const std::int64_t pending_limit_;
  std::unique_ptr<Pool> pool_;  // null without threads: a process that will fork must not have started TBB's

  // Used by the timeline's thread alone.
  std::uint64_t identity_last_ = 0;
  std::int64_t dispatched_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t inlined_ = 0;
  std::int64_t misfits_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // only the timeline waits on this condition
  Numbering numbering_;
  ReadyQueue ready_;
  const Node* awaited_ = nullptr;  // the node that the timeline waits for
  bool full_ = false;              // the timeline waits for room
  bool awaits_pumps_ = false;      // the timeline waits for the pool to be at rest
  bool closed_ = false;
  int pumps_ = 0;  // tasks of the pool that are running or queued
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::vector<std::unique_ptr<Work>> dropped_;  // work whose node was destroyed; it is destroyed without the lock
  bool draining_ = false;
  bool working_here_ = false;  // without a pool: the timeline is running work that was put off
};

/// The distance of an operation's result (node.h).
std::uint8_t distance_of(std::span<const Tensor> inputs);

/// Runs the kernel into the node's buffer, which is the lender's if there is one. On an error it leaves the text in the
/// node instead; if an input has failed, it is the text of the first failed input. `label` is called only on an error.
void compute(Node& node, std::string_view name, std::span<const Tensor> inputs, const Kernel& kernel,
             const std::function<Label()>& label, Node* lender = nullptr);

}  // namespace simgrad::values
