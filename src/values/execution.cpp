/// Running work and waiting for it.
///
/// A pump is a task of the pool that runs work until there is none to start. There is at most one pump for each thread.
/// A pump never waits, so TBB can park the pool's threads. A pump that takes work starts another pump if more work is
/// left.
#include <algorithm>
#include <new>
#include <utility>

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

void compute(Node& node, std::string_view name, std::span<const Tensor> inputs, const Kernel& kernel,
             const std::function<Label()>& label, Node* lender) {
  for (const Tensor& input : inputs)
    if (Node::of(input).failed()) {
      node.error = std::make_unique<const std::string>(*Node::of(input).root().error);
      return;
    }
  const auto fail = [&](std::string_view what) {
    node.error =
        std::make_unique<const std::string>(description(name, label ? label() : Label()).append(": ").append(what));
  };
  try {
    std::vector<std::span<const double>> numbers;
    numbers.reserve(inputs.size());
    for (const Tensor& input : inputs) numbers.push_back(Node::of(input).numbers());
    node.buffer = lender ? std::move(lender->buffer) : Buffer(node.size);
    kernel(numbers, {node.buffer.data(), static_cast<std::size_t>(node.size)});
  } catch (const std::bad_alloc&) {
    fail("not enough memory");
  } catch (const std::exception& thrown) {
    fail(thrown.what());
  } catch (...) {
    fail("threw something that is not a std::exception");
  }
}

void Dispatcher::Impl::await(Node& node) {
  Lock lock(mutex_);
  ready_.want(node);
  ready_.read(node);
  if (!pool_) return work_here(lock, [&] { return !node.pending(); });
  awaited_ = &node;
  wake(lock);
  changed_.wait(lock, [&] { return !node.pending(); });
  awaited_ = nullptr;
}

bool Dispatcher::Impl::has_room() const {
  return ready_.pending() <= pending_limit_ - std::max<std::int64_t>(pending_limit_ / 8, 1);
}

void Dispatcher::Impl::wait_for_room(Lock& lock) {
  if (ready_.pending() < pending_limit_) return;
  full_ = true;
  if (!pool_) work_here(lock, [&] { return has_room(); });
  wake(lock);
  changed_.wait(lock, [&] { return has_room(); });
  full_ = false;
}

/// Returns when no thread of the pool runs work, or still holds handles of work that has run.
void Dispatcher::Impl::wait_for_pumps(Lock& lock) {
  awaits_pumps_ = true;
  changed_.wait(lock, [&] { return pumps_ == 0; });
  awaits_pumps_ = false;
}

/// Starts a pump if there is work and a free thread. Releases the lock meanwhile, because waking a thread takes long.
void Dispatcher::Impl::wake(Lock& lock) {
  if (closed_ || pumps_ >= options_.threads || !ready_.startable(full_)) return;
  ++pumps_;
  lock.unlock();
  pool_->start([impl = shared_from_this()] { impl->pump(); });
  lock.lock();
}

/// Runs startable work on the timeline's thread until `done`; used without a pool.
void Dispatcher::Impl::work_here(Lock& lock, const std::function<bool()>& done) {
  if (std::exchange(working_here_, true)) return;
  while (!done()) {
    const std::shared_ptr<Node> node = ready_.take(full_);
    if (!node) break;
    node->work->lender = lender(*node);
    lock.unlock();
    run(*node);
    lock.lock();
  }
  working_here_ = false;
}

void Dispatcher::Impl::pump() noexcept {
  while (const std::shared_ptr<Node> node = next()) run(*node);
}

std::shared_ptr<Node> Dispatcher::Impl::next() {
  Lock lock(mutex_);
  std::shared_ptr<Node> node = closed_ ? nullptr : ready_.take(full_);
  if (node) {
    node->work->lender = lender(*node);
    wake(lock);
  } else {
    --pumps_;
    if (awaits_pumps_) changed_.notify_one();
  }
  return node;
}

/// An input that only this work holds and whose storage can become the result's, or null. A running sum then needs one
/// buffer. The lender is still reachable through the numbering table, so it is erased from there first.
Node* Dispatcher::Impl::lender(const Node& node) {
  const auto& inputs = node.work->inputs;
  const auto candidates = std::min(inputs.size(), static_cast<std::size_t>(node.work->overwrites));
  for (std::size_t i = 0; i < candidates; ++i) {
    Node& input = Node::of(inputs[i]);
    if (!input.buffer || input.size != node.size || input.weak_from_this().use_count() != 1) continue;
    const auto ordered = input.shared_from_this();  // acquires: threads that dropped a handle have finished reading
    numbering_.erase(input);
    return &input;
  }
  return nullptr;
}

void Dispatcher::Impl::run(Node& node) {
  std::unique_ptr<Work> work;
  Node* const lent_by = node.work->lender;
  const auto label = [&node] { return node.work->label; };
  compute(node, node.work->name, node.work->inputs, node.work->kernel, label, lent_by);
  const Lock lock(mutex_);
  if (lent_by && !lent_by->buffer) live_bytes_ -= 8 * lent_by->size;
  settle(node);
  ready_.finish(node);
  work = std::move(node.work);  // destroyed after the lock is
  if (&node == awaited_ || (full_ && has_room())) changed_.notify_one();
}

/// Publishes the result or the error that compute() left in the node.
void Dispatcher::Impl::settle(Node& node) {
  if (node.error) {
    node.buffer = Buffer();
    ready_.read(node);
  }
  if (node.buffer) live_bytes_ += 8 * node.size;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  node.state.store(node.error ? Node::State::failed : Node::State::complete, std::memory_order_release);
}

void Dispatcher::Impl::bury(Node& node) {
  Lock lock(mutex_);
  numbering_.erase(node);
  ready_.read(node);
  if (node.buffer) live_bytes_ -= 8 * node.size;
  if (node.work) {
    ready_.remove(node);
    dropped_.push_back(std::move(node.work));
    if (full_ && has_room()) changed_.notify_one();
  }
  drain(lock);
  wake(lock);
}

/// Destroys dropped work one by one. This may drop the last handles of inputs, whose work is then dropped in turn, by
/// this thread or another. Such work only joins the list, so a chain of any length takes no stack.
void Dispatcher::Impl::drain(Lock& lock) {
  if (draining_) return;
  draining_ = true;
  while (!dropped_.empty()) {
    std::unique_ptr<Work> work = std::move(dropped_.back());
    dropped_.pop_back();
    lock.unlock();
    work.reset();
    lock.lock();
  }
  draining_ = false;
}

void Dispatcher::Impl::close() {
  std::vector<std::pair<Node*, std::unique_ptr<Work>>> abandoned;
  {
    Lock lock(mutex_);
    closed_ = true;
    wait_for_pumps(lock);
    abandoned = ready_.abandon();
    for (const auto& [node, work] : abandoned) {
      node->error = std::make_unique<const std::string>(description(work->name, work->label) +
                                                        ": dropped, as the dispatcher ended before it had run");
      settle(*node);
    }
  }
  abandoned.clear();  // without the lock: last handles of inputs may be dropped here
  pool_.reset();
}

}  // namespace simgrad::values
