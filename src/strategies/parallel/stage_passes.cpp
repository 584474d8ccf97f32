#include "strategies/parallel/stage_passes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/errors.h"
#include "cluster/recording/work_scope.h"
#include "collectives/butterfly.h"
#include "collectives/ring.h"
#include "training/learning/clipping.h"
#include "training/learning/learning.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterStretch;
using models::Segment;
using models::Step;
using training::BackwardPiece;
using training::Dimension;
using training::MicroBatch;
using training::PartPasses;
using values::Tensor;

namespace {

/// The task that a hop is for, so that a schedule whose stages disagree is found.
struct HopNote {
  std::int32_t piece = 0;  ///< of the model, that takes it
  std::int32_t micro = 0;
};

Communicator along(const Worker& worker, Dimension dimension) {
  const Communicator everyone = worker.everyone();
  return everyone.subgroup(worker.mesh().group(everyone.rank(), dimension));
}

/// The stages that hold the tied parameters, the first and the last one.
std::optional<Communicator> tied_group(const Worker& worker, const Communicator& stages) {
  if (worker.part().tied().count == 0) return {};
  const std::vector<int> ends{0, stages.size() - 1};
  return stages.subgroup(ends);
}

bool overlaps(const ParameterStretch& stretch, const models::Layer& layer) {
  return stretch.first < layer.first + layer.count && layer.first < stretch.first + stretch.count;
}

/// The numbers of all members, one member after the other.
Tensor gathered(const Communicator& comm, const Tensor& x) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  return collectives::all_gather(comm, x, x.size() * comm.size());
}

}  // namespace

StreamRule stream_rule(const Parallel& parallel) {
  if (parallel.pipeline == 1 || !parallel.schedule->asynchronous()) return StreamRule::synchronous;
  return parallel.schedule.kind() == "pipedream" ? StreamRule::newest : StreamRule::double_buffered;
}

StagePasses::StagePasses(Worker& worker, const Parallel& parallel, const PipelineTable& table)
    : worker_(worker),
      shape_(parallel.shape()),
      tasks_(&table),
      stream_(stream_rule(parallel)),
      forwards_{.comm = along(worker, Dimension::pipeline)},
      backwards_{.comm = forwards_.comm.on_own_channels()} {
  stage_ = forwards_.comm.rank();
  const int before = (stage_ + shape_.stages - 1) % shape_.stages, behind = (stage_ + 1) % shape_.stages;
  forwards_.from = backwards_.to = before;
  forwards_.to = backwards_.from = behind;
  if (parallel.tensor > 1) tensor_.emplace(along(worker, Dimension::tensor));
  if (tensor_) gathers_.emplace(*tensor_);
  if (shape_.stages > 1) tied_ = tied_group(worker, forwards_.comm);
}

bool StagePasses::followed() const {
  const values::Dispatcher& dispatcher = worker_.learning().dispatcher();
  return dispatcher.numbers() || dispatcher.lineages();
}

Tensor StagePasses::of_length(double numbers) const {
  const training::Learning& learning = worker_.learning();
  return values::rounded(learning.dispatcher().zeros(std::llround(numbers)), travels_as(learning.precision()));
}

void StagePasses::begin(const Tensor& w, std::int64_t step, MicroBatch micro, const Worker::LayerReady& ready) {
  before_w_ = step == 0 ? w : w_;
  w_ = w;
  step_ = step;
  outer_ = micro;
  ready_ = ready ? &ready : nullptr;
  step_work_ = worker_.step_work(micro.parts * shape_.micro_batches);
  completed_.assign(part().chunks().size(), 0);
  gradient_.emplace(worker_, followed());
  worker_.memory().raise(record::MemoryPart::parameters,
                         worker_.number_bytes().parameter * static_cast<double>(w.size()));
}

Tensor StagePasses::finish() {
  sum_tied();
  Tensor g = gradient_->whole();
  gradient_.reset();
  if (stream_ == StreamRule::synchronous) {
    cluster::wait_for_sends(forwards_.sent);
    cluster::wait_for_sends(backwards_.sent);
    w_ = before_w_ = {};
  }
  return g;
}

Tensor StagePasses::gradient(const Tensor& w, std::int64_t step, MicroBatch micro, const Worker::LayerReady& ready) {
  begin(w, step, micro, ready);
  if (stream_ != StreamRule::synchronous) {
    work_on_stream();
    return finish();
  }
  const std::vector<PipelineTask>& tasks = (*tasks_)[static_cast<std::size_t>(stage_)];
  post_receives(tasks);
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::forward)
      forward(task);
    else if (task.piece == Piece::weight_backward)
      weights(task);
    else
      backward(task);
  }
  return finish();
}

/// One forward, one backward: stage i is stages - i micro-batches ahead with its forward passes.
void StagePasses::work_on_stream() {
  const int m = shape_.micro_batches, ahead = shape_.stages - stage_;
  const auto first_micro = static_cast<int>(step_) * m;
  for (int micro = first_micro; micro < first_micro + m; ++micro) {
    while (forwards_done_ < micro + ahead && !worker_.ends_after(forwards_done_ / m)) {
      const PipelineTask task{Piece::forward, forwards_done_++, 0};
      if (!first(0)) expect(forwards_, ahead + 1);
      forward(task);
      count_versions();
    }
    if (!last(0)) expect(backwards_, 2);
    worker_.count_staleness(step_ - under_way_.at({0, micro}).version);
    backward({Piece::backward, micro, 0});
    count_versions();
  }
  for (std::vector<cluster::Pending>* sent : {&forwards_.sent, &backwards_.sent}) {
    for (cluster::Pending& pending : *sent)
      if (pending.over()) pending.wait();
    std::erase_if(*sent, [](const cluster::Pending& pending) { return !pending.under_way(); });
  }
}

/// Posts receives until so many are posted, so that a sender does not wait for this rank's work.
void StagePasses::expect(Hops& hops, int receives) const {
  while (std::cmp_less(hops.expected.size(), receives)) hops.expected.push_back(hops.comm.start_receive(hops.from));
}

/// The weights that a micro-batch sees whose forward pass begins now.
Tensor StagePasses::weights_of(int micro) const { return sees_weights_before(micro) ? before_w_ : w_; }

bool StagePasses::sees_weights_before(int micro) const {
  const bool of_this_update = micro / shape_.micro_batches == step_;
  return stream_ == StreamRule::double_buffered && of_this_update && step_ > 0;
}

PartPasses StagePasses::passes_of(int micro) const {
  const int m = shape_.micro_batches;
  if (stream_ != StreamRule::synchronous) return {worker_, micro / m, {micro % m, m}, step_work_};
  return {worker_, step_, {outer_.part * m + micro, outer_.parts * m}, step_work_};
}

/// Versions of the weights that micro-batches under way still need, beside the newest.
void StagePasses::count_versions() const {
  std::set<std::uint64_t> versions;
  for (const auto& [key, micro] : under_way_) versions.insert(micro.w.identity());
  versions.erase(w_.identity());
  worker_.memory().set(
      record::MemoryPart::workspace,
      static_cast<double>(versions.size()) * worker_.number_bytes().parameter * static_cast<double>(w_.size()));
}

/// Receives are posted before the step, in the order of the tasks, so that a sender never waits for this rank's work.
void StagePasses::post_receives(const std::vector<PipelineTask>& tasks) {
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::forward && !first(task.chunk))
      forwards_.expected.push_back(forwards_.comm.start_receive(forwards_.from));
    const bool back = task.piece == Piece::backward || task.piece == Piece::input_backward;
    if (back && !last(task.chunk)) backwards_.expected.push_back(backwards_.comm.start_receive(backwards_.from));
  }
}

Tensor StagePasses::receive(Hops& hops, const PipelineTask& task) const {
  cluster::Packet packet = hops.expected.front().wait();
  hops.expected.pop_front();
  const auto& note = packet.note<HopNote>();
  base::check(note.piece == shape_.piece(stage_, task.chunk) && note.micro == task.micro,
              "the stages of a pipeline work on micro-batches in one order");
  return packet.tensor;
}

void StagePasses::send(Hops& hops, Tensor numbers, int piece, int micro) const {
  cluster::Packet packet(std::move(numbers), HopNote{piece, micro});
  hops.sent.push_back(hops.comm.start_send(hops.to, std::move(packet)));
}

void StagePasses::forward(const PipelineTask& task) {
  Tensor x = first(task.chunk) ? Tensor() : receive(forwards_, task);
  const std::size_t segments = placed(task.chunk).segments.size();
  UnderWay& under_way =
      under_way_
          .emplace(Key(task.chunk, task.micro), UnderWay{.passes = passes_of(task.micro),
                                                         .w = weights_of(task.micro),
                                                         .version = sees_weights_before(task.micro) ? step_ - 1 : step_,
                                                         .in = std::vector<Tensor>(segments),
                                                         .gradients = std::vector<Tensor>(segments)})
          .first->second;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    under_way.in[segment] = x;
    x = pass_forward(task.chunk, segment, under_way);
  }
  if (!last(task.chunk)) send(forwards_, std::move(x), shape_.piece(stage_, task.chunk) + 1, task.micro);
}

Tensor StagePasses::pass_forward(int chunk, std::size_t segment, UnderWay& micro) {
  const Segment& its = placed(chunk).segments[segment];
  const auto c = static_cast<std::size_t>(chunk);
  micro.passes.forward(c, segment);
  std::vector<Tensor> made;
  for (std::size_t k = 0; k < its.forward.size(); ++k) {
    const Step& step = its.forward[k];
    Tensor numbers =
        followed() ? micro.passes.run(
                         {c, segment, false, k},
                         {.w = parameters(chunk, segment, micro.w), .in = micro.in[segment], .d_out = {}, .made = made})
                   : of_length(step.numbers * static_cast<double>(micro.passes.rows()));
    made.push_back(combined(step.then, std::move(numbers), micro.passes.rows()));
  }
  return made.empty() ? Tensor() : made.back();
}

void StagePasses::backward(const PipelineTask& task) {
  const bool whole = task.piece == Piece::backward;
  UnderWay& micro = under_way_.at({task.chunk, task.micro});
  Tensor d = last(task.chunk) ? Tensor() : receive(backwards_, task);
  const bool completes = whole && completes_chunk(task.chunk);
  for (std::size_t segment = placed(task.chunk).segments.size(); segment-- > 0;) {
    d = pass_backward(task.chunk, segment, micro, d, whole ? BackwardPiece::whole : BackwardPiece::inputs);
    if (whole) complete(task.chunk, segment, micro, completes);
  }
  if (!first(task.chunk)) send(backwards_, std::move(d), shape_.piece(stage_, task.chunk) - 1, task.micro);
  if (whole) under_way_.erase({task.chunk, task.micro});
}

void StagePasses::weights(const PipelineTask& task) {
  UnderWay& micro = under_way_.at({task.chunk, task.micro});
  const bool completes = completes_chunk(task.chunk);
  for (std::size_t segment = placed(task.chunk).segments.size(); segment-- > 0;) {
    micro.passes.backward(static_cast<std::size_t>(task.chunk), segment, BackwardPiece::weights);
    complete(task.chunk, segment, micro, completes);
  }
  under_way_.erase({task.chunk, task.micro});
}

/// Counts a micro-batch of the chunk whose gradient is made. Returns whether it is the last one.
bool StagePasses::completes_chunk(int chunk) {
  return ++completed_[static_cast<std::size_t>(chunk)] == shape_.micro_batches;
}

Tensor StagePasses::pass_backward(int chunk, std::size_t segment, UnderWay& micro, const Tensor& d_out,
                                  BackwardPiece piece) {
  const Segment& its = placed(chunk).segments[segment];
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
      if (gathering) made.back() = values::transposed(gathers_->wait(*gathering), tensor_->size(), rows);
    }
    Tensor numbers = of_length(step.numbers * static_cast<double>(rows));
    if (followed()) {
      const Tensor result = micro.passes.run(
          {c, segment, true, k},
          {.w = parameters(chunk, segment, micro.w), .in = micro.in[segment], .d_out = d_out, .made = made});
      const std::int64_t count = numbers.size();
      numbers = values::slice(result, 0, count);
      if (step.gradients) add_to_gradient(micro, segment, values::slice(result, count, result.size() - count));
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

void StagePasses::add_to_gradient(UnderWay& micro, std::size_t segment, const Tensor& g) {
  Tensor& sum = micro.gradients[segment];
  sum = sum ? sum + g : g;
}

/// The numbers of the tensor ranks, as the next step reads them.
Tensor StagePasses::combined(Step::Then then, Tensor numbers, std::int64_t rows) const {
  if (!tensor_ || then == Step::Then::nothing) return numbers;
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
    case Step::Then::nothing:
      break;
  }
  return numbers;
}

/// A micro-batch's gradient of a segment is made. completes: it was the last micro-batch.
void StagePasses::complete(int chunk, std::size_t segment, UnderWay& micro, bool completes) {
  const auto c = static_cast<std::size_t>(chunk);
  if (followed()) gradient_->add(c, segment, micro.gradients[segment]);
  if (!completes) return;
  const models::PlacedChunk& its = placed(chunk);
  sum_partial(its.parameters[segment]);
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const std::size_t first_layer = its.first_layer + its.segments[segment].first_layer;
  const Tensor g = gradient_->whole();
  for (std::size_t i = first_layer + its.segments[segment].layers; i-- > first_layer;)
    if (!tied_ || !overlaps(part().tied(), layers[i])) (*ready_)(g, layers[i]);
}

/// Sums over the tensor ranks the gradients in these stretches of which each has a part.
void StagePasses::sum_partial(const std::vector<ParameterStretch>& within) {
  const auto is_in = [](const ParameterStretch& inner, const ParameterStretch& outer) {
    return inner.first >= outer.first && inner.first + inner.count <= outer.first + outer.count;
  };
  std::vector<ParameterStretch> stretches;
  for (const ParameterStretch& stretch : part().partial())
    if (std::ranges::any_of(within, [&](const ParameterStretch& outer) { return is_in(stretch, outer); }))
      stretches.push_back(stretch);
  if (stretches.empty()) return;
  std::vector<Tensor> parts;
  for (const ParameterStretch& stretch : stretches) parts.push_back(gradient_->stretch(stretch));
  const Tensor sum = collectives::Ring()(*tensor_, values::concatenate(parts));
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : stretches) {
    gradient_->replace(stretch, values::slice(sum, at, stretch.count));
    at += stretch.count;
  }
}

/// Sums the gradients of tied parameters, which two stages have, and reports their layers.
void StagePasses::sum_tied() {
  if (!tied_) return;
  const ParameterStretch tied = part().tied();
  gradient_->replace(tied, collectives::Ring()(*tied_, gradient_->stretch(tied)));
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const Tensor g = gradient_->whole();
  for (std::size_t i = layers.size(); i-- > 0;)
    if (overlaps(tied, layers[i])) (*ready_)(g, layers[i]);
}

Tensor StagePasses::squares(const Tensor& g, const Tensor& of_shards) const {
  const Communicator stages = forwards_.comm.unrounded();
  Tensor sum = of_shards ? of_shards : training::sum_of_squares(counted_once(g));
  const collectives::RecursiveDoubling doubling;
  if (tensor_) sum = doubling(tensor_->unrounded(), sum);
  return stages.size() > 1 ? doubling(stages, sum) : sum;
}

/// The gradient without numbers that other ranks of the replica count: replicated ones, and a copy.
Tensor StagePasses::counted_once(const Tensor& g) const {
  std::vector<ParameterStretch> elsewhere;
  if (part().chunks().front().chunk.tensor_rank > 0) elsewhere = part().replicated();
  if (part().holds_copy()) elsewhere.push_back(part().tied());
  std::ranges::sort(elsewhere, {}, &ParameterStretch::first);
  std::vector<Tensor> own;
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : elsewhere) {
    if (stretch.first > at) own.push_back(values::slice(g, at, stretch.first - at));
    at = stretch.first + stretch.count;
  }
  if (at < g.size() || own.empty()) own.push_back(values::slice(g, at, g.size() - at));
  return values::concatenate(own);
}

/// The parameters that a segment reads.
Tensor StagePasses::parameters(int chunk, std::size_t segment, const Tensor& w) const {
  std::vector<Tensor> all;
  for (const ParameterStretch& stretch : placed(chunk).parameters[segment])
    all.push_back(values::slice(w, stretch.first, stretch.count));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
