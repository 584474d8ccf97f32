/// The exchanges of a segment's steps among the ranks that share it: at once, or beside its work.
#include <algorithm>
#include <cmath>
#include <span>

#include "cluster/ranks/block_work_scope.h"
#include "strategies/parallel/part_gradient.h"
#include "strategies/parallel/segment_passes.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Step;
using training::AlongScope;

/// The numbers of all ranks that share the unit, as the next step reads them.
Tensor SegmentPasses::exchanged(const At& at, std::size_t number, const Tensor& numbers) const {
  const Step& step = at.steps()[number];
  const Communicator* const comm = sharing_.among(step.among);
  if (!comm || step.then == Step::Then::nothing) return numbers;
  if (cache_ && step.among == models::Among::tensor)
    return cache_->exchanged({at.chunk, at.segment, at.backward(), number}, step.then, at.micro.passes.row_numbers(),
                             numbers);
  const AlongScope timed(worker_.mesh_time(), *comm, dimension_of(step.among));
  const auto tokens = at.micro.tokens.find(at.segment);
  if (step.places > 0 && tokens != at.micro.tokens.end()) return tokens->second.exchanged(step, *comm, numbers);
  if (assumes(step) && step.among == models::Among::expert)
    return exchange_assumed(step, at.micro.passes.rows(), *comm, numbers);
  return Exchange(step, at.micro.passes.rows())(*comm, numbers);
}

/// Whether the tokens of experts that travel are assumed. Among ranks that keep the others' slices places are whole.
bool SegmentPasses::assumes(const Step& step) const {
  return !followed() && !step.assumed.empty() && !(cache_ && step.among == models::Among::tensor);
}

Tensor SegmentPasses::assumed_lengths(const At& at, const Step& step) const {
  const int expert_rank = worker_.part().chunks()[at.chunk].chunk.expert_rank;
  const std::int64_t numbers = assumed_length(step, at.micro.passes.rows(), expert_rank);
  return zeros_on_the_wire(worker_.learning(), static_cast<double>(numbers));
}

/// Keeps how many of the rank's tokens each expert takes, in a run with numbers.
void SegmentPasses::count_tokens(const At& at, const Tensor& counts) const {
  const std::int64_t rows = at.micro.passes.rows();
  if (!worker_.learning().dispatcher().numbers() || rows == 0) return;
  const Communicator* const sharing = sharing_.among(models::Among::expert);
  const double even = at.micro.passes.expert_tokens(at.chunk, at.segment) * static_cast<double>(rows);
  at.micro.tokens.emplace(
      at.segment, ExpertTokens(worker_.learning(), counts, rows, sharing ? sharing->size() : 1, std::llround(even)));
}

/// Exchanges while work goes on, block by block: a ring brings the numbers of one rank after the other, and the work on
/// the last ones stands behind the ring; or the ring takes the sums for one rank after the other away.
/// collectives/block_work.h says what waits for what within the ring.
Tensor SegmentPasses::beside(const At& at, const Step& step, const Tensor& numbers) {
  const Communicator& comm = *sharing_.among(step.among);
  cluster::SideStream& stream = *streams_[static_cast<std::size_t>(step.among)];
  const Exchange exchange(step, at.micro.passes.rows());
  const int members = comm.size();
  const double block_s = at.micro.passes.more_s(at.chunk, at.segment, at.work, step.beside) / members;
  const int task =
      stream.start_collective([exchange, block_s, sent = exchange.sent(numbers, members)](const Communicator& of_side) {
        const cluster::BlockWorkScope working(of_side, block_s);
        return exchange.collective(of_side, sent);
      });
  const int behind = step.then == Step::Then::gather ? 1 : 0;  // blocks
  at.micro.passes.more(at.chunk, at.segment, at.work, step.beside * (members - behind) / members);
  Tensor all;
  {
    const AlongScope timed(worker_.mesh_time(), comm, dimension_of(step.among));
    all = exchange.received(stream.wait(task), members);
  }
  if (behind > 0) at.micro.passes.more(at.chunk, at.segment, at.work, step.beside * behind / members);
  return all;
}

/// The forward pass through the segment's unit a second time, where all of the unit is recomputed: it takes the time of
/// its work and of its exchanges, and the numbers are known already. A look-up keeps nothing: it is not exchanged
/// again.
void SegmentPasses::repeat_forward(const At& here) {
  if (!here.micro.passes.repeats_forward(here.chunk, here.segment)) return;
  const models::PlacedChunk& chunk = worker_.part().chunks()[here.chunk];
  const std::span<const models::Layer> layers = std::span(worker_.learning().layers()).subspan(chunk.first_layer);
  const auto layers_of = [&](const models::Segment& model_segment) {
    return layers.subspan(model_segment.first_layer, model_segment.layers);
  };
  const auto unit_of = [&](std::size_t segment) { return layers_of(chunk.segments[segment]).front().unit; };
  std::size_t first = here.segment;
  while (first > 0 && unit_of(first - 1) == unit_of(here.segment)) --first;
  for (std::size_t segment = first; segment <= here.segment; ++segment) {
    At again = at(here.chunk, segment, here.micro, record::Work::recompute);
    const std::vector<Step>& steps = again.steps();
    const bool computes = std::ranges::any_of(layers_of(again.model_segment),
                                              [](const models::Layer& layer) { return layer.forward_flops > 0.0; });
    for (std::size_t k = 0; computes && k < steps.size(); ++k) {
      compute_before(again, k);
      const Tensor numbers = lengths_of(again, k);
      if (goes_beside(steps[k]))
        beside(again, steps[k], numbers);
      else if (!cache_)  // which has the numbers still
        exchanged(again, k, numbers);
    }
    compute_until(again, Step::all_layers);
  }
}

/// Waits for what a step gathers beside the segment's work.
void SegmentPasses::finish_gathering(At& at) {
  if (!at.gathering) return;
  const Step& step = at.model_segment.backward[at.gathered];
  const Communicator& comm = *sharing_.among(step.among);
  const AlongScope timed(worker_.mesh_time(), comm, dimension_of(step.among));
  at.made[at.gathered] =
      Exchange(step, at.micro.passes.rows())
          .received(streams_[static_cast<std::size_t>(step.among)]->wait(*at.gathering), comm.size());
  at.gathering.reset();
}

}  // namespace simgrad::strategies
