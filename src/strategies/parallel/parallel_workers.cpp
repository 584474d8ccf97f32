/// The ranks of a mesh that are workers of a strategy, and those over which it sums gradients.
#include "strategies/parallel/parallel.h"
#include "training/program.h"

namespace simgrad::strategies {

std::vector<training::Dimension> Parallel::workers_along(const training::Traits& traits) const {
  std::vector<training::Dimension> all{training::Dimension::data};
  if (traits.sums != training::Traits::Sums::replicas && context > 1) all.push_back(training::Dimension::context);
  return all;
}

std::vector<training::Dimension> Parallel::sums_along(const training::Traits& traits) const {
  std::vector<training::Dimension> all = workers_along(traits);
  if (traits.sums == training::Traits::Sums::sharers && expert > 1) all.push_back(training::Dimension::expert);
  return all;
}

std::int64_t Parallel::workers(std::int64_t ranks, const training::Traits& traits) const {
  std::int64_t workers = 1;
  for (const training::Dimension dimension : workers_along(traits)) workers *= mesh(ranks).size(dimension);
  return workers;
}

}  // namespace simgrad::strategies
