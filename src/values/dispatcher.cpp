#include "values/dispatcher.h"

#include <algorithm>
#include <bit>

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

using base::check;

namespace {

constexpr std::size_t many_operands = 16;

}  // namespace

Dispatcher::Dispatcher(Options options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Dispatcher::~Dispatcher() { impl_->close(); }

bool Dispatcher::numbers() const { return impl_->numbers(); }
bool Dispatcher::lineages() const { return impl_->lineages(); }
Tensor Dispatcher::constant(std::vector<double> numbers) { return impl_->constant(std::move(numbers)); }
std::optional<Contents> Dispatcher::contents(std::int64_t bytes_limit) { return impl_->contents(bytes_limit); }
Dispatcher::Statistics Dispatcher::statistics() const { return impl_->statistics(); }

Tensor Dispatcher::zeros(std::int64_t size) {
  return impl_->dispatch({.name = "zeros"}, size, {},
                         [](auto, std::span<double> result) { std::fill(result.begin(), result.end(), 0.0); });
}

Tensor Dispatcher::dispatch(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs,
                            Kernel kernel) {
  return impl_->dispatch(operation, size, inputs, std::move(kernel));
}

Dispatcher::Impl::Impl(Options options)
    : options_(std::move(options)),
      pending_limit_(std::max<std::int64_t>(options_.pending_limit, 1)),
      ready_(options_.unread_bytes_limit) {
  check(options_.threads >= 0, "a negative number of threads");
  check(!options_.known || options_.lineages, "numbers are known by their lineage");
  if (options_.threads > 0 && (options_.numbers || options_.known)) pool_ = std::make_unique<Pool>(options_.threads);
}

Tensor Dispatcher::Impl::constant(std::vector<double> numbers) {
  const auto node = make_node(static_cast<std::int64_t>(numbers.size()));
  if (options_.lineages) node->lineage = lineage_of_constant(numbers);
  node->timing_only = !options_.numbers && !options_.known;
  if (!node->timing_only) {
    node->buffer = Buffer(node->size);
    std::copy(numbers.begin(), numbers.end(), node->buffer.data());
  }
  const Lock lock(mutex_);
  settle(*node);
  return Node::handle(node);
}

Tensor Dispatcher::Impl::dispatch(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs,
                                  Kernel kernel) {
  check(size >= 0, "a tensor of negative size");
  for (const Tensor& input : inputs) check(Node::of(input).dispatcher.get() == this, "a tensor of another dispatcher");
  ++dispatched_;
  Numbering::Key key;
  // Where there are shapes alone, to look up many operands takes longer than to make one more of them.
  const bool numbered = operation.numbered && (inputs.size() < many_operands || numbers() || lineages());
  if (numbered) {
    key = numbering_.key(operation, size, inputs);
    if (auto node = known(key)) {
      check(node->wire_format == operation.wire_format, "one operation with results of two formats");
      ++shared_;
      return Node::handle(std::move(node));
    }
  }
  auto node = make_node(size, operation.wire_format);
  if (options_.lineages) {
    node->lineage = lineage_of(operation, size, inputs);
    node->distance = distance_of(inputs);
  }
  node->timing_only = !has_numbers(*node, operation, inputs, kernel);
  const bool computes = !node->timing_only && !node->buffer && !node->later;
  if (computes && !runs_here(operation, inputs)) {
    hand_over(*node, operation, inputs, std::move(kernel), key);
    return Node::handle(std::move(node));
  }
  if (computes) run_here(*node, operation, inputs, kernel);
  {
    Lock lock(mutex_);
    for (const Tensor& input : inputs) ready_.read(Node::of(input).root());
    settle(*node);
    if (!pool_ && node->buffer) ready_.add_unread(*node);
    if (numbered) numbering_.insert(*node, key);
    wake(lock);
  }
  return Node::handle(std::move(node));
}

Tensor Dispatcher::Impl::view(const Tensor& a, std::int64_t first, std::int64_t count, const WireFormat& wire) {
  const Node& from = Node::of(a);
  const Tensor whole = from.base ? Node::handle(from.base) : a;
  if (count == whole.size() && wire == whole.wire_format()) return whole;
  const std::uint64_t words[] = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(wire.format),
                                 std::bit_cast<std::uint64_t>(wire.bytes_per_number)};
  const auto key = numbering_.key({.name = "slice", .key = words}, count, {&whole, 1});
  if (auto node = known(key)) return Node::handle(std::move(node));
  auto node = make_node(count, wire);
  if (options_.lineages) node->lineage = lineage_of_view(Node::of(whole).lineage, first, count, wire);
  node->base = Node::shared(whole);
  node->first = first;
  const Lock lock(mutex_);
  numbering_.insert(*node, key);
  return Node::handle(std::move(node));
}

Dispatcher::Statistics Dispatcher::Impl::statistics() const {
  const Lock lock(mutex_);
  return {dispatched_, shared_, inlined_, live_bytes_, peak_bytes_, misfits_};
}

std::shared_ptr<Node> Dispatcher::Impl::make_node(std::int64_t size, const WireFormat& wire) {
  check(!closed_, "an operation after its dispatcher's end");
  return std::make_shared<Node>(shared_from_this(), ++identity_last_, size, wire);
}

std::shared_ptr<Node> Dispatcher::Impl::known(const Numbering::Key& key) {
  const Lock lock(mutex_);
  Node* const node = numbering_.find(key);
  return node ? node->weak_from_this().lock() : nullptr;  // also null while its last handle is being dropped
}

bool Dispatcher::Impl::runs_here(const Operation& operation, std::span<const Tensor> inputs) const {
  // Without a pool, work is put off only for lack of room for results.
  const bool soon = pool_ ? operation.seconds < options_.inline_below_s : ready_.room_for_unread();
  return soon &&
         std::none_of(inputs.begin(), inputs.end(), [](const Tensor& input) { return Node::of(input).pending(); });
}

void Dispatcher::Impl::run_here(Node& node, const Operation& operation, std::span<const Tensor> inputs,
                                const Kernel& kernel) {
  ++inlined_;
  compute(node, operation.name, inputs, kernel, options_.label);
}

void Dispatcher::Impl::hand_over(Node& node, const Operation& operation, std::span<const Tensor> inputs, Kernel kernel,
                                 const Numbering::Key& key) {
  auto work = std::make_unique<Work>();
  work->inputs.assign(inputs.begin(), inputs.end());
  work->kernel = std::move(kernel);
  work->name = numbering_.interned(operation.name);
  if (options_.label) work->label = options_.label();
  work->overwrites = operation.overwrites;
  Lock lock(mutex_);
  wait_for_room(lock);
  node.work = std::move(work);
  ready_.add(node);
  if (operation.numbered) numbering_.insert(node, key);
  if (!pool_) work_here(lock, [] { return false; });
  wake(lock);
}

}  // namespace simgrad::values
