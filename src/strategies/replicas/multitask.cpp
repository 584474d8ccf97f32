#include "strategies/replicas/multitask.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "strategies/circumstances.h"
#include "strategies/replicas/compressed_sum.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::MultitaskPerceptron;
using models::ParameterRange;
using training::Learning;

namespace {

/// w with some stretches, in ascending order, taken from elsewhere.
Tensor replaced(const Tensor& w, const std::vector<ParameterRange>& stretches, const std::vector<Tensor>& by) {
  std::vector<Tensor> pieces;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].first > at) pieces.push_back(values::slice(w, at, stretches[i].first - at));
    pieces.push_back(by[i]);
    at = stretches[i].first + stretches[i].count;
  }
  if (at < w.size()) pieces.push_back(values::slice(w, at, w.size() - at));
  return values::concatenate(pieces);
}

std::vector<Tensor> slices(const Tensor& w, const std::vector<ParameterRange>& stretches) {
  std::vector<Tensor> all;
  for (const ParameterRange& stretch : stretches) all.push_back(values::slice(w, stretch.first, stretch.count));
  return all;
}

/// The parameters to evaluate: the shared layers, which all have, and every output from its own group.
Tensor assembled(const std::vector<Tensor>& replicas, const Learning& learning) {
  const std::int64_t tasks = MultitaskPerceptron::tasks(learning.problem());
  const auto P = static_cast<int>(replicas.size());
  Tensor w = replicas.front();
  for (TaskGroup group = task_group(tasks, P, 0); group.first + group.size < P;) {
    group = task_group(tasks, P, group.first + group.size);
    const auto heads = learning.multitask()->heads(learning.problem(), group.tasks);
    w = replaced(w, heads, slices(replicas[static_cast<std::size_t>(group.first)], heads));
  }
  return w;
}

}  // namespace

TaskGroup task_group(std::int64_t tasks, int workers, int worker) {
  using training::stretch;
  const std::int64_t groups = std::min<std::int64_t>(tasks, workers);
  std::int64_t g = 0;
  while (stretch(workers, static_cast<int>(g) + 1, static_cast<int>(groups)) <= worker) ++g;
  const auto of = [&](std::int64_t n) {
    const std::int64_t from = stretch(n, static_cast<int>(g), static_cast<int>(groups));
    return std::pair(from, stretch(n, static_cast<int>(g) + 1, static_cast<int>(groups)) - from);
  };
  const auto [first_task, count] = of(tasks);
  const auto [first, size] = of(workers);
  return {{first_task, count}, static_cast<int>(first), static_cast<int>(size)};
}

void Multitask::describe(base::Describer& d) {
  d.component("algorithm", algorithm, "how sums are made");
  describe_compression(d, compression);
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
}

Traits Multitask::traits(int) const {
  return {.many_to_many = algorithm->many_to_many(),
          .recoveries = {cluster::Recovery::restart},  // a lost rank's outputs are in the last checkpoint alone
          .assembly = assembled};
}

std::optional<Refusal> Multitask::refusal(const Circumstances& circumstances) const {
  if (!circumstances.model.multitask())
    return Refusal{"kind",
                   fmt::format("multitask trains tasks that share layers, but [model] kind = \"{}\" has one task; set "
                               "that to \"multitask_perceptron\"",
                               circumstances.model_kind)};
  if (const std::string whole = circumstances.needs_whole_gradient(); !whole.empty())
    return Refusal{"kind", fmt::format("under {} the update of one parameter depends on others, which another "
                                       "group has; take an optimizer that works element by element, without clip_norm",
                                       whole)};
  const std::string why = algorithm->refusal(circumstances.cluster);
  return why.empty() ? compression_refusal(compression, circumstances) : std::optional(Refusal{"algorithm", why});
}

void Multitask::operator()(Worker& worker) const {
  const Learning& learning = worker.learning();
  const MultitaskPerceptron& model = *learning.multitask();
  const int P = worker.workers();
  const TaskGroup own = task_group(model.tasks(learning.problem()), P, worker.rank());
  const ParameterRange shared = model.shared(learning.problem());
  const std::vector<ParameterRange> heads = model.heads(learning.problem(), own.tasks);
  std::vector<int> members(static_cast<std::size_t>(own.size));
  std::iota(members.begin(), members.end(), own.first);
  const Communicator group = worker.comm().subgroup(members);

  CompressedSum sum(*compression, *algorithm, worker);
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = (static_cast<double>(P) / own.size) * worker.task_gradient(state.w, own.tasks);
    const Tensor all_shared = sum(worker.comm(), values::slice(g, shared.first, shared.count), shared.first);
    const Tensor own_heads = sum(group, values::concatenate(slices(g, heads)), heads.front().first);
    const std::int64_t weights = heads.front().count;
    worker.update(state, replaced(g, {shared, heads[0], heads[1]},
                                  {all_shared, values::slice(own_heads, 0, weights),
                                   values::slice(own_heads, weights, own_heads.size() - weights)}));
  }
}

}  // namespace simgrad::strategies
