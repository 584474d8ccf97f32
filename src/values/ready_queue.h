/// The order in which work runs. It has no threads: callers hold the dispatcher's lock.
///
/// Work is ready when all its inputs have run. Among ready work, awaited work runs first, then work that has consumers,
/// the oldest consumer first, then work that has none. The last kind is held back while unread results exceed their
/// limit. Holding back cannot deadlock: awaited work is never held back, nothing is held back while the timeline waits
/// for room, and all pending work can run without the timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "values/node.h"

namespace simgrad::values {

class ReadyQueue {
 public:
  explicit ReadyQueue(std::int64_t unread_bytes_limit) : unread_bytes_limit_(unread_bytes_limit) {}

  std::int64_t pending() const { return pending_; }  ///< added, and neither finished nor removed

  void add(Node& node);     ///< new work
  void finish(Node& node);  ///< it has run, so its consumers may have become ready
  void remove(Node& node);  ///< it is dropped before it has run, because its last handle is gone
  void want(Node& node);    ///< it is awaited, and so is all that it depends on
  void read(Node& node);    ///< it has a consumer, or was read, or is gone: it is no longer unread

  bool room_for_unread() const { return unread_bytes_ <= unread_bytes_limit_; }
  void add_unread(Node& node);  ///< it has run outside the queue, and is unread
  bool startable(bool also_held) const;
  /// The next node to run, or null. Skips nodes whose last handle another thread is dropping.
  std::shared_ptr<Node> take(bool also_held);
  /// Removes all work, for the caller to destroy without the lock. No work may be running.
  std::vector<std::pair<Node*, std::unique_ptr<Work>>> abandon();

 private:
  static Priority priority(const Node& node);
  void enqueue(Node& node);
  void dequeue(Node& node);
  void requeue(Node& node);

  std::set<std::pair<Priority, Node*>> ready_;
  std::int64_t pending_ = 0;
  std::int64_t unread_bytes_ = 0;
  std::int64_t unread_bytes_limit_;
};

}  // namespace simgrad::values
