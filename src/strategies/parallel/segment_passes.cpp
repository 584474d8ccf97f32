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
using record::Work;
using training::BackwardPiece;

SegmentPasses::SegmentPasses(const Worker& worker, const SharingRanks& sharing) : worker_(worker), sharing_(sharing) {
  for (const Among among : {Among::tensor, Among::context})
    if (const Communicator* const comm = sharing.among(among)) streams_[static_cast<std::size_t>(among)].emplace(*comm);
}

bool SegmentPasses::followed() const {
  const values::Dispatcher& dispatcher = worker_.learning().dispatcher();
  return dispatcher.numbers() || dispatcher.lineages();
}

SegmentPasses::At SegmentPasses::at(std::size_t chunk, std::size_t segment, MicroBatchPass& micro, Work work) const {
  return {chunk, segment, micro, work, worker_.part().chunks()[chunk].segments[segment]};
}

Tensor SegmentPasses::forward(int chunk, std::size_t segment, MicroBatchPass& micro) {
  At place = at(static_cast<std::size_t>(chunk), segment, micro, Work::forward);
  const std::vector<Step>& steps = place.steps();
  micro.passes.enter_forward(place.chunk, segment);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    compute_before(place, k);
    const Tensor numbers = numbers_of(place, k, {});
    if (steps[k].counts_tokens) count_tokens(place, numbers);
    place.made.push_back(goes_beside(steps[k]) ? beside(place, steps[k], numbers) : exchanged(place, k, numbers));
    if (steps[k].kept) micro.kept[segment].push_back(place.made.back());
  }
  compute_until(place, Step::all_layers);
  return place.made.empty() ? Tensor() : place.made.back();
}

Tensor SegmentPasses::backward(int chunk, std::size_t segment, MicroBatchPass& micro, const Tensor& d_out,
                               BackwardPiece piece) {
  At place = at(static_cast<std::size_t>(chunk), segment, micro, Work::backward);
  place.piece = piece;
  const std::vector<Step>& steps = place.steps();
  repeat_forward(place);
  micro.passes.enter_backward(place.chunk, segment);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    compute_before(place, k);
    const Tensor numbers = numbers_of(place, k, d_out);
    if (goes_beside(step)) {
      place.made.push_back(beside(place, step, numbers));
    } else if (step.again && sharing_.among(step.among)) {
      place.gathered = k;
      place.gathering = streams_[static_cast<std::size_t>(step.among)]->start_collective(
          [exchange = Exchange(step, micro.passes.rows()), numbers](const Communicator& of_side) {
            return exchange.collective(of_side, numbers);
          });
      place.made.push_back(values::slice(numbers, 0, 0));  // until it has come
    } else {
      place.made.push_back(exchanged(place, k, numbers));
    }
  }
  compute_until(place, Step::all_layers);
  micro.kept[segment].clear();
  return place.made.back();
}

/// Computes the layers that precede the step's exchange, or what is gathered beside them.
void SegmentPasses::compute_before(At& at, std::size_t step) {
  const Step& model_step = at.steps()[step];
  const bool meets = model_step.then != Step::Then::nothing && sharing_.among(model_step.among);
  if (meets || at.gathering) compute_until(at, model_step.layers);
}

/// Computes the layers up to there, and waits for what is gathered beside them.
void SegmentPasses::compute_until(At& at, std::size_t layers) {
  if (layers <= at.computed) return;
  if (const auto taken = at.micro.tokens.find(at.segment); taken != at.micro.tokens.end() && taken->second.arrived())
    at.micro.passes.take_tokens(at.chunk, at.segment, taken->second.here());
  at.micro.passes.compute(
      at.chunk, at.segment,
      {.kind = at.work, .piece = at.piece, .first = at.computed, .end = layers, .less = work_beside(at.steps())});
  at.computed = layers;
  const bool made_gradients = at.backward() && at.piece == BackwardPiece::whole;
  if (made_gradients && layers == Step::all_layers) at.micro.passes.leave_backward(at.chunk, at.segment);
  finish_gathering(at);
}

/// The numbers of a step before what is done among ranks. A gradient that it makes goes to the micro-batch's.
Tensor SegmentPasses::numbers_of(const At& at, std::size_t step, const Tensor& d_out) const {
  if (!followed()) return lengths_of(at, step);
  const std::vector<Step>& steps = at.steps();
  const auto rows = static_cast<double>(at.micro.passes.rows());
  const Tensor result =
      at.micro.passes.run({at.chunk, at.segment, at.backward(), step},
                          {.w = parameters(at),
                           .in = at.micro.in[at.segment],
                           .d_out = d_out,
                           .made = at.made,
                           .kept = at.backward() ? at.micro.kept[at.segment] : std::vector<Tensor>()});
  if (!steps[step].gradients) return result;
  const std::int64_t count = std::llround(rows * steps[step].numbers);
  Tensor& sum = at.micro.gradients[at.segment];
  const Tensor g = values::slice(result, count, result.size() - count);
  sum = sum ? sum + g : g;
  return values::slice(result, 0, count);
}

/// As many zeros as a step has numbers.
Tensor SegmentPasses::lengths_of(const At& at, std::size_t step) const {
  const std::vector<Step>& steps = at.steps();
  if (assumes(steps[step])) return assumed_lengths(at, steps[step]);
  const auto rows = static_cast<double>(at.micro.passes.rows());
  const bool last = step + 1 == steps.size();
  const double bytes = !last ? 0.0 : at.backward() ? at.model_segment.entrance_bytes : at.model_segment.exit_bytes;
  return zeros_on_the_wire(worker_.learning(), rows * steps[step].numbers, rows * bytes);
}

/// The share of the work of a segment's first layer that goes on beside exchanges.
double SegmentPasses::work_beside(const std::vector<Step>& steps) const {
  double sum = 0.0;
  for (const Step& step : steps)
    if (goes_beside(step)) sum += step.beside;
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
