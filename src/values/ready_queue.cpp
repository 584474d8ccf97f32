#include "values/ready_queue.h"

#include <utility>

namespace simgrad::values {

void ReadyQueue::add(Node& node) {
  ++pending_;
  for (const Tensor& input : node.work->inputs) {
    Node& source = Node::of(input).root();
    read(source);
    if (!source.pending()) continue;
    auto& consumers = source.work->consumers;
    if (!consumers.empty() && consumers.rbegin()->first == node.id) continue;  // a + a misses one input, not two
    consumers.emplace_hint(consumers.end(), node.id, &node);                   // identities grow
    ++node.work->missing;
    if (consumers.size() == 1) requeue(source);
  }
  if (node.work->missing == 0) enqueue(node);
}

void ReadyQueue::finish(Node& node) {
  --pending_;
  for (const auto& [id, consumer] : node.work->consumers)
    if (--consumer->work->missing == 0) enqueue(*consumer);
}

void ReadyQueue::remove(Node& node) {
  --pending_;
  dequeue(node);
  for (const Tensor& input : node.work->inputs) {
    Node& source = Node::of(input).root();
    if (!source.pending()) continue;
    source.work->consumers.erase(node.id);
    requeue(source);
  }
}

void ReadyQueue::want(Node& node) {
  std::vector<Node*> wanted{&node};
  while (!wanted.empty()) {
    Node& next = *wanted.back();
    wanted.pop_back();
    if (!next.pending() || next.work->awaited) continue;
    next.work->awaited = true;
    requeue(next);
    for (const Tensor& input : next.work->inputs) wanted.push_back(&Node::of(input).root());
  }
}

void ReadyQueue::read(Node& node) {
  if (!std::exchange(node.unread, false)) return;
  unread_bytes_ -= 8 * node.size;
}

void ReadyQueue::add_unread(Node& node) {
  node.unread = true;
  unread_bytes_ += 8 * node.size;
}

bool ReadyQueue::startable(bool also_held) const {
  if (ready_.empty()) return false;
  const bool is_unread = ready_.begin()->first.group == Priority::Group::unread;
  return !is_unread || also_held || room_for_unread();
}

std::shared_ptr<Node> ReadyQueue::take(bool also_held) {
  while (startable(also_held)) {
    Node& node = *ready_.begin()->second;
    const bool is_unread = ready_.begin()->first.group == Priority::Group::unread;
    dequeue(node);
    std::shared_ptr<Node> taken = node.weak_from_this().lock();
    if (!taken) continue;
    if (is_unread) add_unread(node);  // now, so that work that runs concurrently cannot exceed the limit together
    return taken;
  }
  return nullptr;
}

std::vector<std::pair<Node*, std::unique_ptr<Work>>> ReadyQueue::abandon() {
  // Since nothing is running, all pending work depends on ready work.
  std::vector<Node*> found;
  for (const auto& [priority, node] : ready_) found.push_back(node);
  ready_.clear();
  std::vector<std::pair<Node*, std::unique_ptr<Work>>> dropped;
  while (!found.empty()) {
    Node* const node = found.back();
    found.pop_back();
    if (!node->work) continue;
    for (const auto& [id, consumer] : node->work->consumers) found.push_back(consumer);
    dropped.emplace_back(node, std::move(node->work));
  }
  pending_ = 0;
  return dropped;
}

Priority ReadyQueue::priority(const Node& node) {
  using Group = Priority::Group;
  const Work& work = *node.work;
  const std::uint64_t oldest = work.consumers.empty() ? node.id : work.consumers.begin()->first;
  const Group group = work.awaited ? Group::awaited : work.consumers.empty() ? Group::unread : Group::consumed;
  return {group, oldest, node.id};
}

void ReadyQueue::enqueue(Node& node) {
  node.work->queued = true;
  node.work->queued_as = priority(node);
  ready_.emplace(node.work->queued_as, &node);
}

void ReadyQueue::dequeue(Node& node) {
  if (!std::exchange(node.work->queued, false)) return;
  ready_.erase({node.work->queued_as, &node});
}

void ReadyQueue::requeue(Node& node) {
  if (!node.work->queued) return;
  dequeue(node);
  enqueue(node);
}

}  // namespace simgrad::values
