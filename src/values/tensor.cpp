#include "values/tensor.h"

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

std::int64_t Tensor::size() const { return Node::of(*this).size; }
std::int64_t Tensor::size_bytes() const { return wire_format().bytes(size()); }
const WireFormat& Tensor::wire_format() const { return Node::of(*this).wire_format; }
std::uint64_t Tensor::identity() const { return Node::of(*this).id; }
const Lineage& Tensor::lineage() const { return Node::of(*this).lineage; }
bool Tensor::timing_only() const { return Node::of(*this).root().timing_only; }

std::span<const double> Tensor::value() const {
  base::check(!timing_only(), "the numbers of a timing-only tensor");
  Node& root = Node::of(*this).root();
  if (root.later) root.dispatcher->compute_later(root);
  // Once the node has run, only this thread changes `unread`.
  if (root.pending() || root.unread) root.dispatcher->await(root);
  if (root.failed()) throw ValueError(*root.error);
  return Node::of(*this).numbers();
}

Tensor& Tensor::operator+=(const Tensor& x) { return *this = *this + x; }
Tensor& Tensor::operator-=(const Tensor& x) { return *this = *this - x; }

}  // namespace simgrad::values
