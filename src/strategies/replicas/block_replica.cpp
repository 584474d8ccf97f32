#include "strategies/replicas/block_replica.h"

#include <utility>

#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;

namespace {

State block_of(const State& state, const Block& place) {
  State block{.w = values::slice(state.w, place.first, place.count),
              .step = state.step,
              .optimizer_updates = state.optimizer_updates};
  for (const Tensor& vector : state.optimizer)
    block.optimizer.push_back(values::slice(vector, place.first, place.count));
  return block;
}

/// The blocks' sums over all members, which travel as one vector.
std::vector<Tensor> sums_of(const Communicator& comm, const collectives::Allreduce& algorithm,
                            const std::vector<Tensor>& blocks) {
  std::vector<Tensor> sums;
  if (blocks.empty()) return sums;
  const Tensor all = algorithm(comm, values::concatenate(blocks));
  std::int64_t at = 0;
  for (const Tensor& block : blocks) {
    sums.push_back(values::slice(all, at, block.size()));
    at += block.size();
  }
  return sums;
}

}  // namespace

BlockReplica::BlockReplica(const Worker& worker, const BlockOptions& options, State state)
    : worker_(worker),
      state_(std::move(state)),
      schedule_(options, blocks_of(options, worker.learning().layers(), state_.w.size()), !state_.optimizer.empty(),
                state_) {
  if (schedule_.measures() && state_.own.empty()) state_.own = {state_.w};
  schedule_.keep(state_);
  for (const Block& place : schedule_.blocks()) blocks_.push_back(block_of(state_, place));
}

void BlockReplica::step_alone(std::size_t b, const Tensor& g) {
  worker_.update(blocks_[b], worker_.workers() * values::slice(g, place(b).first, place(b).count));
}

void BlockReplica::step_together(std::size_t b, const Tensor& g) { worker_.update(blocks_[b], g); }

void BlockReplica::average(std::size_t b, const Tensor& sum) {
  const int P = worker_.workers();
  blocks_[b].w = sum;
  if (P == 1) return;
  worker_.charge(static_cast<double>(sum.size()), record::Work::average);
  blocks_[b].w = (1.0 / P) * sum;
}

void BlockReplica::finish_step() {
  std::vector<double> movements(schedule_.measures() ? blocks() : 0);
  std::vector<Tensor> w, own;
  double measured = 0.0;
  for (std::size_t b = 0; b < blocks(); ++b) {
    w.push_back(blocks_[b].w);
    if (!schedule_.measures()) continue;
    const Tensor before = values::slice(state_.own.front(), place(b).first, place(b).count);
    if (due(b)) movements[b] = schedule_.moved(b, before, blocks_[b].w);
    if (due(b)) measured += static_cast<double>(place(b).count);
    own.push_back(due(b) ? blocks_[b].w : before);
  }
  if (measured > 0.0) worker_.charge(3.0 * measured, record::Work::compute);
  worker_.count_blocks(schedule_.uses(movements));
  state_.w = values::concatenate(w);
  if (schedule_.measures()) state_.own = {values::concatenate(own)};
  for (std::size_t v = 0; v < state_.optimizer.size(); ++v) {
    std::vector<Tensor> vectors;
    for (const State& block : blocks_) vectors.push_back(block.optimizer[v]);
    state_.optimizer[v] = values::concatenate(vectors);
  }
  state_.step = blocks_.front().step;
  state_.optimizer_updates = blocks_.front().optimizer_updates;
  schedule_.step(movements);
  schedule_.keep(state_);
}

void step_together(Worker& worker, BlockReplica& replica, const collectives::Allreduce& algorithm) {
  const Tensor g = worker.gradient(replica.state().w);
  std::vector<std::size_t> summed, averaged;
  std::vector<Tensor> gradients, parameters;
  for (std::size_t b = 0; b < replica.blocks(); ++b) {
    if (replica.due(b) && replica.sums(b)) {
      summed.push_back(b);
      gradients.push_back(values::slice(g, replica.place(b).first, replica.place(b).count));
      continue;
    }
    replica.step_alone(b, g);
    if (!replica.due(b)) continue;
    averaged.push_back(b);
    parameters.push_back(replica.w(b));
  }
  const std::vector<Tensor> gradient_sums = sums_of(worker.comm(), algorithm, gradients);
  for (std::size_t i = 0; i < summed.size(); ++i) replica.step_together(summed[i], gradient_sums[i]);
  const std::vector<Tensor> parameter_sums = sums_of(worker.comm(), algorithm, parameters);
  for (std::size_t i = 0; i < averaged.size(); ++i) replica.average(averaged[i], parameter_sums[i]);
  replica.finish_step();
}

}  // namespace simgrad::strategies
