#include "training/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cluster/options.h"
#include "training/learning/batches.h"

namespace simgrad::training {

using cluster::Recovery;

std::vector<Recovery> recoveries_by_generation() {
  return {Recovery::restart, Recovery::wait, Recovery::shrink, Recovery::elastic};
}

std::vector<Recovery> every_recovery() {
  std::vector all = recoveries_by_generation();
  all.push_back(Recovery::keep_going);
  return all;
}

std::vector<int> Traits::places(int P) const {
  if (!hosts.empty()) return hosts;
  std::vector<int> own(static_cast<std::size_t>(P + servers));
  std::iota(own.begin(), own.end(), 0);
  return own;
}

int Traits::hosts_needed(int P) const {
  const std::vector<int> all = places(P);
  return 1 + *std::max_element(all.begin(), all.end());
}

std::int64_t Traits::side_actors(const cluster::Options& cluster) const {
  return answering_actors + (cluster.own_network(many_to_many) ? 0 : taking_actors);
}

std::string step_of_gradients(std::int64_t gradients, int P) {
  if (P == 1) return "";
  return gradients == 1 ? "one update by the gradient of one worker, and not of all"
                        : fmt::format("one update by {} gradients, from any workers", gradients);
}

std::string about_steps(const Traits& traits, std::int64_t steps) {
  return traits.step_is.empty() ? "" : fmt::format("stop.steps = {}: a step is {}", steps, traits.step_is);
}

std::string about_rows(const Traits& traits, const Batches& batches, int workers) {
  // Elsewhere rows are not dealt by one share a worker: free workers take splits, and tasks have turns.
  const bool a_share_each = traits.lockstep() && !traits.cuts && !traits.turns && traits.free_workers_take.empty();
  if (!a_share_each || batches.batch() >= workers) return "";
  int without = 0;
  for (int worker = 0; worker < workers; ++worker) without += batches.count(worker, workers) == 0 ? 1 : 0;
  return fmt::format("a batch of {} row{} for {} workers leaves {} of them without rows in every step", batches.batch(),
                     batches.batch() == 1 ? "" : "s", workers, without);
}

}  // namespace simgrad::training
