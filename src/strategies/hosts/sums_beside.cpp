#include "strategies/hosts/sums_beside.h"

#include <utility>

#include "strategies/hosts/around_host.h"

namespace simgrad::strategies {

using cluster::Communicator;
using collectives::Stretch;
using values::Tensor;

void SumsBeside::add(const Tensor& g, const Stretch& stretch, Then then) {
  own_ = g;
  int task = nothing;
  if (stretch.count > 0)
    task = stream_.start([x = values::slice(g, stretch.first, stretch.count), bytes = number_bytes_](
                             const Communicator& devices) { return sum_on_first(devices, x, bytes); });
  pieces_.push_back({stretch, task, std::move(then)});
  while (!pieces_.empty() && (pieces_.front().task == nothing || stream_.over(pieces_.front().task))) take_first();
}

void SumsBeside::take_first() {
  Piece piece = std::move(pieces_.front());
  pieces_.pop_front();
  if (piece.task != nothing) sums_[piece.stretch.first] = stream_.wait(piece.task);
  if (piece.then && devices_.rank() == 0) piece.then(so_far());
}

/// The sums, and this device's own numbers where there is none yet.
Tensor SumsBeside::so_far() const {
  std::vector<Tensor> all;
  std::int64_t end = 0;
  const auto fill_to = [&](std::int64_t first) {
    if (first > end) all.push_back(values::slice(own_, end, first - end));
  };
  for (const auto& [first, sum] : sums_) {
    fill_to(first);
    all.push_back(sum);
    end = first + sum.size();
  }
  fill_to(own_.size());
  return values::concatenate(all);
}

Tensor SumsBeside::finish() {
  while (!pieces_.empty()) take_first();
  Tensor sum = devices_.rank() == 0 ? so_far() : Tensor();
  sums_.clear();
  own_ = {};
  return sum;
}

}  // namespace simgrad::strategies
