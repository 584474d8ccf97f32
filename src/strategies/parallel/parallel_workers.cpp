/// The ranks of a mesh: their places, those that are workers of a strategy, and those over which it sums gradients.
#include <algorithm>

#include "strategies/parallel/parallel.h"
#include "training/program.h"

namespace simgrad::strategies {

using training::Dimension;

training::Mesh Parallel::mesh(std::int64_t ranks) const {
  if (by_stages()) return training::Mesh::of_stages({stage_replicas.begin(), stage_replicas.end()});
  training::PerDimension sizes;
  sizes[Dimension::tensor] = static_cast<int>(tensor);
  sizes[Dimension::pipeline] = static_cast<int>(pipeline);
  sizes[Dimension::context] = static_cast<int>(context);
  sizes[Dimension::expert] = static_cast<int>(expert);
  sizes[Dimension::data] = static_cast<int>(ranks / ranks_a_replica());
  training::Mesh::Order by_place{};
  auto next = by_place.begin();
  for (const std::string& text : order) *next++ = *training::dimension_named(text);
  for (const Dimension dimension : training::Mesh::tensor_innermost)  // those of one rank
    if (std::find(by_place.begin(), next, dimension) == next) *next++ = dimension;
  return training::Mesh(sizes, by_place);
}

std::vector<Dimension> Parallel::workers_along(const training::Traits& traits) const {
  std::vector<Dimension> all{Dimension::data};
  if (traits.sums != training::Traits::Sums::replicas && context > 1) all.push_back(Dimension::context);
  return all;
}

std::vector<Dimension> Parallel::sums_along(const training::Traits& traits) const {
  std::vector<Dimension> all = workers_along(traits);
  if (traits.sums == training::Traits::Sums::sharers && expert > 1) all.push_back(Dimension::expert);
  return all;
}

std::int64_t Parallel::workers(std::int64_t ranks, const training::Traits& traits) const {
  std::int64_t workers = 1;
  for (const Dimension dimension : workers_along(traits)) workers *= mesh(ranks).size(dimension);
  return workers;
}

}  // namespace simgrad::strategies
