#include "strategies/replicas/local_sgd.h"

#include <array>

#include "strategies/circumstances.h"
#include "strategies/replicas/local_sgd_buckets.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array memories{
    Choice{"keep", "every replica keeps its own vectors"},
    Choice{"average", "the vectors are averaged as the parameters are; each of them is as long as the parameters"},
    Choice{"reset", "the vectors are dropped: every round begins with a new optimizer"}};

}  // namespace

void LocalSgd::describe(base::Describer& d) {
  d.integer_or(
      "local_steps", local_steps, "all",
      "H: the number of its own updates that a replica makes between two averages; \"all\": the replicas are averaged "
      "once, at the end. An evaluation between two averages is of the mean that they would have, which no worker "
      "holds: "
      "a target loss counts after an average",
      Bounds::at_least(1));
  d.integer("synchronous_steps", synchronous_steps,
            "the number of first steps after each of which replicas are averaged, as in mini-batch SGD, without slow "
            "momentum (post-local SGD)",
            Bounds::at_least(0));
  d.number("slow_momentum", slow_momentum,
           "beta: the share of the earlier rounds' moves that each round keeps (SlowMo)",
           Bounds{.least = 0.0, .most = 1.0 - 1e-9});
  d.number("slow_rate", slow_rate, "alpha: how far a round moves towards the average, momentum included (SlowMo)",
           Bounds{.least = 0.0, .positive = true});
  d.choice("optimizer_memory", optimizer_memory, memories,
           "what happens to the optimizer's vectors at an average; they travel uncompressed, in the format of "
           "training.wire");
  d.component("algorithm", algorithm, "how the average is made");
  describe_move_compression(d, compression);
  describe_codes_way(d, codes, *compression);
  describe_bucket_size(
      d, bucket_bytes,
      "smallest bucket, in bytes on the wire; the step before an average updates and averages the replicas in buckets "
      "of layers while its backward pass continues; \"none\": one average after it");
  describe_hosts_first(d, algorithm.kind());
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
  if (!local_steps && slow())
    d.refuse(
        slow_momentum > 0.0 ? "slow_momentum" : "slow_rate",
        "slow momentum goes on from round to round, but local_steps = \"all\" is a single round; give local_steps a "
        "number, or leave slow momentum out");
}

std::optional<Refusal> LocalSgd::refusal(const Circumstances& circumstances) const {
  if (const std::string why = algorithm->refusal(circumstances.cluster); !why.empty()) return Refusal{"algorithm", why};
  if (bucket_bytes)
    if (auto refusal = bucket_updates_refusal(circumstances)) return refusal;
  const training::StopOptions& stop = circumstances.stop;
  if (!local_steps && !stop.steps && !stop.samples && !stop.epochs)
    return Refusal{"local_steps",
                   "local_steps = \"all\" averages after the last step, but no number of steps, samples or "
                   "epochs in [stop] says which that is; give one of them"};
  return compression_refusal(compression, circumstances);
}

void LocalSgd::operator()(Worker& worker) const {
  CompressedSum moves(*compression, *algorithm, worker, codes);
  State state = worker.start();
  if (slow() && state.own.empty()) state.own = {state.w, 0.0 * state.w};
  if (!compression->exact() && state.own.empty()) state.own = {state.w};
  std::optional<AveragingStep> in_buckets;
  if (bucket_bytes) in_buckets.emplace(*this, worker, moves);
  while (worker.continues(state)) {
    const bool averages = rounds().end_after(state.step + 1, worker.ends_after(state.step + 1));
    if (averages && in_buckets) {
      (*in_buckets)(state);
      conclude_average(worker, state);
      continue;
    }
    worker.update(state, worker.own_gradient(state.w));
    if (averages) average(worker, state, moves);
  }
}

void LocalSgd::average(Worker& worker, State& state, CompressedSum& moves) const {
  using collectives::Reduction;
  if (moves.exact()) {
    state.w = (*algorithm)(worker.comm(), state.w, Reduction::mean);
  } else {
    // Codes leave a part out. So the round's moves are encoded, and not the parameters.
    const Tensor begun = state.own[begun_at];
    worker.charge(3.0 * static_cast<double>(state.w.size()), record::Work::update);
    state.w = values::add_scaled(begun, 1.0 / worker.workers(), moves(worker.comm(), state.w - begun));
    if (!slow()) state.own[begun_at] = state.w;
  }
  conclude_average(worker, state);
}

void LocalSgd::conclude_average(Worker& worker, State& state) const {
  using collectives::Reduction;
  if (optimizer_memory == MemoryAtAverage::average)
    for (Tensor& m : state.optimizer) m = (*algorithm)(worker.comm(), m, Reduction::mean);
  if (optimizer_memory == MemoryAtAverage::reset) worker.optimizer().start(state);
  if (slow()) move_slowly(worker, state);
}

/// SlowMo, Algorithm 1: momentum is taken of the round's move, as of a gradient.
void LocalSgd::move_slowly(Worker& worker, State& state) const {
  const Tensor begun = state.own[begun_at];
  Tensor& u = state.own[momentum];
  const double lr = worker.learning_rate(state.step - 1);
  if (state.step > synchronous_steps && lr > 0.0) {
    worker.charge(7.0 * static_cast<double>(state.w.size()), record::Work::update);
    u = values::add_scaled(slow_momentum * u, 1.0 / lr, begun - state.w);
    state.w = values::add_scaled(begun, -slow_rate * lr, u);
  }
  state.own[begun_at] = state.w;
}

}  // namespace simgrad::strategies
