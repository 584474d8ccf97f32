#include "strategies/replicas/local_sgd.h"

#include <array>

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array memories{Choice{"keep", "every replica keeps its own"},
                              Choice{"average", "averaged as the parameters are, each of its vectors as long as they"},
                              Choice{"reset", "forgotten: every round begins without one"}};

/// How many vectors the optimizer remembers. Those of slow momentum stand behind them in State::memory, so that
/// checkpoints hold them too: what all replicas were when the round began, then the slow momentum itself.
std::size_t optimizer_vectors(const Worker& worker, const State& state) {
  State fresh{.w = state.w, .memory = {}, .step = 0};
  worker.training().setup().options.optimizer->start(fresh);
  return fresh.memory.size();
}

}  // namespace

void LocalSgd::describe(base::Describer& d) {
  d.integer_or(
      "local_steps", local_steps, "all",
      "H: updates of its own that a replica makes between two averages; \"all\": the replicas are averaged once, "
      "at the end. An evaluation between two averages is of the mean that they would have, which nobody holds",
      Bounds::at_least(1));
  d.integer("synchronous_steps", synchronous_steps,
            "so many steps at first are averaged one by one, as if H were 1 (post-local SGD)", Bounds::at_least(0));
  d.number("slow_momentum", slow_momentum, "beta: how much of the rounds' moves so far goes on in the next (SlowMo)",
           Bounds{.least = 0.0, .most = 1.0 - 1e-9});
  d.number("slow_rate", slow_rate, "alpha: how far a round moves towards the average, momentum included (SlowMo)",
           Bounds{.least = 0.0, .positive = true});
  d.choice(
      "optimizer_memory", optimizer_memory, memories,
      "what becomes of the optimizer's memory at an average, where it travels as float64 whatever the compression");
  d.component("algorithm", algorithm, "how the average is made");
  describe_move_compression(d, compression);
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
  if (!local_steps && slow())
    d.refuse(
        slow_momentum > 0.0 ? "slow_momentum" : "slow_rate",
        "slow momentum goes on from round to round, but local_steps = \"all\" is a single round; give local_steps a "
        "number, or leave slow momentum out");
}

std::optional<Strategy::Unfit> LocalSgd::unfit(const Fit& fit) const {
  if (const std::string why = algorithm->refusal(fit.cluster); !why.empty()) return Unfit{"algorithm", why};
  if (!local_steps && !fit.stop.steps && !fit.stop.samples && !fit.stop.epochs)
    return Unfit{"local_steps",
                 "local_steps = \"all\" averages after the last step, but no number of steps, samples or "
                 "epochs in [stop] says which that is; give one of them"};
  return compression_misfit(compression, fit);
}

bool LocalSgd::averages_after(const Worker& worker, std::int64_t step) const {
  if (step <= synchronous_steps) return true;
  return local_steps ? (step - synchronous_steps) % *local_steps == 0 : worker.training().last_step(step);
}

void LocalSgd::operator()(Worker& worker) const {
  State state = worker.start();
  if (remembers_beginning() && state.memory.size() == optimizer_vectors(worker, state)) {
    state.memory.push_back(state.w);
    if (slow()) state.memory.push_back(0.0 * state.w);
  }
  CompressedSum moves(*compression, *algorithm, worker);
  while (worker.continues(state)) {
    // A rank steps alone, so its part of the global mean counts P times.
    worker.update(state, worker.workers() * worker.gradient(state.w));
    if (averages_after(worker, state.step)) average(worker, state, moves);
  }
}

void LocalSgd::average(Worker& worker, State& state, CompressedSum& moves) const {
  using collectives::Reduction;
  const std::size_t vectors = optimizer_vectors(worker, state);
  if (moves.exact()) {
    state.w = (*algorithm)(worker.comm(), state.w, Reduction::mean);
  } else {
    // Codes leave out a part of what they are of: of the round's moves, not of the parameters.
    Tensor& begun_at = state.memory[vectors];
    worker.comm().charge_reduction(3.0 * static_cast<double>(state.w.size()), record::Work::update);
    state.w = values::add_scaled(begun_at, 1.0 / worker.workers(), moves(worker.comm(), state.w - begun_at));
    if (!slow()) begun_at = state.w;
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    Tensor& m = state.memory[i];
    if (optimizer_memory == MemoryAtAverage::average) m = (*algorithm)(worker.comm(), m, Reduction::mean);
    if (optimizer_memory == MemoryAtAverage::reset) m = 0.0 * m;
  }
  if (slow()) move_slowly(worker, state);
}

/// SlowMo, Algorithm 1: the round's move is a gradient that momentum is taken of.
void LocalSgd::move_slowly(Worker& worker, State& state) const {
  Tensor& begun_at = state.memory[state.memory.size() - 2];
  Tensor& u = state.memory.back();
  const double lr = worker.learning_rate(state.step - 1);
  if (state.step > synchronous_steps && lr > 0.0) {
    worker.comm().charge_reduction(7.0 * static_cast<double>(state.w.size()), record::Work::update);
    u = values::add_scaled(slow_momentum * u, 1.0 / lr, begun_at - state.w);
    state.w = values::add_scaled(begun_at, -slow_rate * lr, u);
  }
  begun_at = state.w;
}

}  // namespace simgrad::strategies
