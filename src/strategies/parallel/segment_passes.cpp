#include "strategies/parallel/segment_passes.h"

#include <cmath>
#include <utility>

#include "cluster/recording/work_scope.h"
#include "collectives/ring.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterStretch;
using models::Segment;
using models::Step;
using training::BackwardPiece;

namespace {

/// The numbers of all members, one member after the other.
Tensor gathered(const Communicator& comm, const Tensor& x) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  return collectives::all_gather(comm, x, x.size() * comm.size());
}

}  // namespace

SegmentPasses::SegmentPasses(const Worker& worker, std::optional<Communicator> tensor)
    : worker_(worker), tensor_(std::move(tensor)) {
  if (tensor_) gathers_.emplace(*tensor_);
}

bool SegmentPasses::followed() const {
  const values::Dispatcher& dispatcher = worker_.learning().dispatcher();
  return dispatcher.numbers() || dispatcher.lineages();
}

Tensor SegmentPasses::of_length(double numbers, double bytes, std::int64_t rows) const {
  const training::Learning& learning = worker_.learning();
  const values::Format format = travels_as(learning.precision());
  const double all = numbers + bytes / values::wire_format(format).bytes_per_number;
  return values::rounded(learning.dispatcher().zeros(std::llround(all * static_cast<double>(rows))), format);
}

Tensor SegmentPasses::forward(int chunk, std::size_t segment, MicroBatchPass& micro) {
  const Segment& its = worker_.part().chunks()[static_cast<std::size_t>(chunk)].segments[segment];
  const auto c = static_cast<std::size_t>(chunk);
  micro.passes.forward(c, segment);
  std::vector<Tensor> made;
  for (std::size_t k = 0; k < its.forward.size(); ++k) {
    const Step& step = its.forward[k];
    Tensor numbers =
        followed() ? micro.passes.run(
                         {c, segment, false, k},
                         {.w = parameters(chunk, segment, micro.w), .in = micro.in[segment], .d_out = {}, .made = made})
                   : of_length(step.numbers, k + 1 == its.forward.size() ? its.exit_bytes : 0.0, micro.passes.rows());
    made.push_back(combined(step.then, std::move(numbers), micro.passes.rows()));
  }
  return made.empty() ? Tensor() : made.back();
}

Tensor SegmentPasses::backward(int chunk, std::size_t segment, MicroBatchPass& micro, const Tensor& d_out,
                               BackwardPiece piece) {
  const Segment& its = worker_.part().chunks()[static_cast<std::size_t>(chunk)].segments[segment];
  const auto c = static_cast<std::size_t>(chunk);
  const std::int64_t rows = micro.passes.rows();
  std::vector<Tensor> made;
  std::optional<int> gathering;  // the task whose result is the last of `made`
  bool charged = false;
  for (std::size_t k = 0; k < its.backward.size(); ++k) {
    const Step& step = its.backward[k];
    const bool computes = step.gradients || (step.then != Step::Then::nothing && step.then != Step::Then::gather);
    if (!charged && (computes || k + 1 == its.backward.size())) {
      micro.passes.backward(c, segment, piece);
      charged = true;
      if (gathering) {
        const training::AlongScope timed(worker_.mesh_use(), *tensor_, training::Dimension::tensor);
        made.back() = values::transposed(gathers_->wait(*gathering), tensor_->size(), rows);
      }
    }
    Tensor numbers = of_length(step.numbers, k + 1 == its.backward.size() ? its.entrance_bytes : 0.0, rows);
    if (followed()) {
      const Tensor result = micro.passes.run(
          {c, segment, true, k},
          {.w = parameters(chunk, segment, micro.w), .in = micro.in[segment], .d_out = d_out, .made = made});
      const std::int64_t count = numbers.size();
      numbers = values::slice(result, 0, count);
      if (step.gradients) {
        Tensor& sum = micro.gradients[segment];
        const Tensor g = values::slice(result, count, result.size() - count);
        sum = sum ? sum + g : g;
      }
    }
    if (step.again && tensor_) {
      gathering = gathers_->start_collective([numbers](const Communicator& comm) { return gathered(comm, numbers); });
      made.emplace_back();
    } else {
      made.push_back(combined(step.then, std::move(numbers), rows));
    }
  }
  return made.back();
}

/// The numbers of the tensor ranks, as the next step reads them.
Tensor SegmentPasses::combined(Step::Then then, Tensor numbers, std::int64_t rows) const {
  if (!tensor_ || then == Step::Then::nothing) return numbers;
  const training::AlongScope timed(worker_.mesh_use(), *tensor_, training::Dimension::tensor);
  const collectives::Ring ring;
  switch (then) {
    case Step::Then::sum:
      return ring(*tensor_, std::move(numbers));
    case Step::Then::max:
      return ring(*tensor_, std::move(numbers), collectives::Reduction::max);
    case Step::Then::gather:
      return values::transposed(gathered(*tensor_, numbers), tensor_->size(), rows);
    case Step::Then::sum_shard: {
      const cluster::WorkScope work_scope(*tensor_, record::Work::reduce_scatter);
      return collectives::reduce_scatter(*tensor_, values::transposed(numbers, rows, tensor_->size()));
    }
    case Step::Then::all_to_all:
    case Step::Then::all_to_all_back:
    case Step::Then::nothing:
      break;
  }
  return numbers;
}

/// The parameters that a segment reads.
Tensor SegmentPasses::parameters(int chunk, std::size_t segment, const Tensor& w) const {
  std::vector<Tensor> all;
  for (const ParameterStretch& stretch : worker_.part().chunks()[static_cast<std::size_t>(chunk)].parameters[segment])
    all.push_back(values::slice(w, stretch.first, stretch.count));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
