/// Which piece of work runs next. No threads here: whoever calls holds the dispatcher's lock.
///
/// Work is ready when all its inputs have run. Of the ready, those somebody waits for come first, then those whose
/// oldest consumer is oldest, then those that nobody reads yet. The last are held back while the unread results outgrow
/// their limit. Holding back cannot deadlock: what is waited for is never held, nor is anything while the timeline
/// waits for room, and everything pending can run without the timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "values/node.h"

namespace simgrad::values {

class Schedule {
 public:
  explicit Schedule(std::int64_t unread_bytes_limit) : unread_bytes_limit_(unread_bytes_limit) {}

  std::int64_t pending() const { return pending_; }  ///< added, and neither finished nor removed

  void add(Node& node);     ///< new work
  void finish(Node& node);  ///< it has run: whoever missed it may have become ready
  void remove(Node& node);  ///< it is dropped unexecuted, as nobody holds it
  void want(Node& node);    ///< somebody waits for it, and so for all it depends on
  void read(Node& node);    ///< it has a consumer, or is looked at, or is gone: no longer unread

  bool room_for_unread() const { return unread_bytes_ <= unread_bytes_limit_; }
  void add_unread(Node& node);  ///< it has run without being in the schedule, and nobody has read it
  bool startable(bool also_held) const;
  /// The next node to run, or null. Skips nodes whose last handle is just being dropped by another thread.
  std::shared_ptr<Node> take(bool also_held);
  /// Takes everything out, for the caller to destroy without the lock. None may be running.
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
