/// Tensors that have numbers although most have none: those whose numbers are known, and all that follows from them.
///
/// A run that goes on from a state follows the training up to there by lineages alone. Tensors of the state are filled
/// in when they are made; an operation whose inputs all have numbers is computed. Every operation beyond the state
/// reads tensors of the state, or others beyond it, whatever the order in which the ranks come to them: the state is a
/// cut of the graph of all operations.
///
/// Initial values and draws follow from nothing, and so could be computed in the part that is only followed, too. They
/// and what is few operations away from them are computed when something needs them.
#include <algorithm>
#include <utility>

#include "values/dispatcher_impl.h"

namespace simgrad::values {

namespace {

/// Tensors that are nearer to the beginning are computed on demand, and never kept.
constexpr std::uint8_t near = 3;
constexpr std::uint8_t furthest = 255;

bool is_near(const Node& node) { return node.distance < near; }

}  // namespace

std::uint8_t distance_of(std::span<const Tensor> inputs) {
  std::uint8_t distance = 0;
  for (const Tensor& input : inputs) {
    const std::uint8_t before = Node::of(input).root().distance;
    distance = std::max<std::uint8_t>(distance, before == furthest ? furthest : before + 1);
  }
  return distance;
}

bool Dispatcher::Impl::has_numbers(Node& node, const Operation& operation, std::span<const Tensor> inputs,
                                   Kernel& kernel) {
  if (options_.numbers || !options_.known) return options_.numbers;
  if (is_near(node)) {
    node.later = std::make_unique<Later>(Later{.inputs = {inputs.begin(), inputs.end()},
                                               .kernel = std::move(kernel),
                                               .name = numbering_.interned(operation.name)});
    return true;
  }
  if (const auto known = options_.known->find(node.lineage); known != options_.known->end()) {
    if (std::cmp_equal(known->second.size(), node.size)) {
      node.buffer = Buffer(node.size);
      std::ranges::copy(known->second, node.buffer.data());
      return true;
    }
    ++misfits_;  // a file says so, which anybody can have written
  }
  if (std::ranges::any_of(inputs, &Tensor::timing_only)) return false;
  if (std::ranges::all_of(inputs, [](const Tensor& input) { return is_near(Node::of(input).root()); })) return false;
  for (const Tensor& input : inputs) compute_later(Node::of(input).root());
  return true;
}

void Dispatcher::Impl::compute_later(Node& node) {
  if (!node.later) return;
  const std::unique_ptr<Later> later = std::move(node.later);
  for (const Tensor& input : later->inputs) compute_later(Node::of(input).root());
  compute(node, later->name, later->inputs, later->kernel, options_.label);
  const Lock lock(mutex_);
  settle(node);
}

void Dispatcher::Impl::finish_pending() {
  std::vector<std::shared_ptr<Node>> pending;
  {
    const Lock lock(mutex_);
    numbering_.each([&](Node& node) {
      if (node.base || !node.pending()) return;
      if (auto held = node.weak_from_this().lock()) pending.push_back(std::move(held));
    });
  }
  for (const std::shared_ptr<Node>& node : pending)
    if (node->pending()) await(*node);
}

std::optional<Contents> Dispatcher::Impl::contents(std::int64_t bytes_limit) {
  finish_pending();
  Contents all;
  std::int64_t bytes = 0;
  Lock lock(mutex_);
  wait_for_pumps(lock);  // a tensor that only work which has run still holds is no part of the state
  numbering_.each([&](const Node& node) {
    const bool counts = !node.pending() && node.buffer && !is_near(node) && node.lineage != Lineage();
    if (!counts || bytes > bytes_limit || all.contains(node.lineage) || node.weak_from_this().expired()) return;
    bytes += 8 * node.size;
    if (bytes <= bytes_limit) all[node.lineage].assign(node.buffer.data(), node.buffer.data() + node.size);
  });
  return bytes > bytes_limit ? std::nullopt : std::optional(std::move(all));
}

}  // namespace simgrad::values
