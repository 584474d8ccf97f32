#include "strategies/parallel/segment_passes.h"

#include <cmath>

#include "strategies/parallel/part_gradient.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Among;
using models::ParameterStretch;
using models::Step;
using training::BackwardPiece;

SegmentPasses::SegmentPasses(const Worker& worker, const SharingRanks& sharing) : worker_(worker), sharing_(sharing) {
  for (const Among among : {Among::tensor, Among::context})
    if (const Communicator* const comm = sharing.among(among)) streams_[static_cast<std::size_t>(among)].emplace(*comm);
}

bool SegmentPasses::followed() const {
  const values::Dispatcher& dispatcher = worker_.learning().dispatcher();
  return dispatcher.numbers() || dispatcher.lineages();
}

SegmentPasses::At SegmentPasses::at(int chunk, std::size_t segment, MicroBatchPass& micro, bool backward) const {
  const auto c = static_cast<std::size_t>(chunk);
  return {c, segment, micro, backward, worker_.part().chunks()[c].segments[segment]};
}

Tensor SegmentPasses::forward(int chunk, std::size_t segment, MicroBatchPass& micro) {
  At place = at(chunk, segment, micro, false);
  const std::vector<Step>& steps = place.its.forward;
  micro.passes.forward(place.chunk, segment, 1.0 - work_beside(steps));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Tensor numbers = numbers_of(place, k, {});
    const bool has_stream = steps[k].beside > 0.0 && sharing_.among(steps[k].among);
    place.made.push_back(has_stream ? beside(place, steps[k], numbers, record::Work::forward)
                                    : exchanged(place, k, numbers));
    if (steps[k].kept) micro.kept[segment].push_back(place.made.back());
  }
  return place.made.empty() ? Tensor() : place.made.back();
}

Tensor SegmentPasses::backward(int chunk, std::size_t segment, MicroBatchPass& micro, const Tensor& d_out,
                               BackwardPiece piece) {
  At place = at(chunk, segment, micro, true);
  const std::vector<Step>& steps = place.its.backward;
  repeat_forward(place);
  bool charged = false;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    const Communicator* const comm = sharing_.among(step.among);
    const bool has_stream = step.beside > 0.0 && comm;
    const bool computes =
        step.gradients || has_stream || (step.then != Step::Then::nothing && step.then != Step::Then::gather);
    if (!charged && (computes || k + 1 == steps.size())) {
      micro.passes.backward(place.chunk, segment, piece, work_beside(steps));
      charged = true;
      finish_gathering(place);
    }
    const Tensor numbers = numbers_of(place, k, d_out);
    if (has_stream) {
      place.made.push_back(beside(place, step, numbers, record::Work::backward));
    } else if (step.again && comm) {
      place.gathering = streams_[static_cast<std::size_t>(step.among)]->start_collective(
          [exchange = Exchange(step, micro.passes.rows()), numbers](const Communicator& of_side) {
            return exchange.collective(of_side, numbers);
          });
      place.made.emplace_back();
    } else {
      place.made.push_back(exchanged(place, k, numbers));
    }
  }
  micro.kept[segment].clear();
  return place.made.back();
}

/// The numbers of a step before what is done among ranks. A gradient that it makes goes to the micro-batch's.
Tensor SegmentPasses::numbers_of(const At& at, std::size_t step, const Tensor& d_out) const {
  if (!followed()) return lengths_of(at, step);
  const std::vector<Step>& steps = at.backward ? at.its.backward : at.its.forward;
  const auto rows = static_cast<double>(at.micro.passes.rows());
  const Tensor result = at.micro.passes.run({at.chunk, at.segment, at.backward, step},
                                            {.w = parameters(at),
                                             .in = at.micro.in[at.segment],
                                             .d_out = d_out,
                                             .made = at.made,
                                             .kept = at.backward ? at.micro.kept[at.segment] : std::vector<Tensor>()});
  if (!steps[step].gradients) return result;
  const std::int64_t count = std::llround(rows * steps[step].numbers);
  Tensor& sum = at.micro.gradients[at.segment];
  const Tensor g = values::slice(result, count, result.size() - count);
  sum = sum ? sum + g : g;
  return values::slice(result, 0, count);
}

/// As many zeros as a step has numbers.
Tensor SegmentPasses::lengths_of(const At& at, std::size_t step) const {
  const std::vector<Step>& steps = at.backward ? at.its.backward : at.its.forward;
  const auto rows = static_cast<double>(at.micro.passes.rows());
  const bool last = step + 1 == steps.size();
  const double bytes = !last ? 0.0 : at.backward ? at.its.entrance_bytes : at.its.exit_bytes;
  return zeros_on_the_wire(worker_.learning(), rows * steps[step].numbers, rows * bytes);
}

/// The share of a segment's work that goes on beside exchanges.
double SegmentPasses::work_beside(const std::vector<Step>& steps) const {
  double sum = 0.0;
  for (const Step& step : steps)
    if (sharing_.among(step.among)) sum += step.beside;
  return sum;
}

/// The parameters that a segment reads.
Tensor SegmentPasses::parameters(const At& at) const {
  std::vector<Tensor> all;
  for (const ParameterStretch& stretch : worker_.part().chunks()[at.chunk].parameters[at.segment]) {
    if (!visitor_) {
      all.push_back(values::slice(at.micro.w, stretch.first, stretch.count));
      continue;
    }
    for (const PartUnits::Place& place : units_->of_parameters(stretch))
      all.push_back(values::slice(visitor_->parameters(place.unit), place.first, place.count));
  }
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
