#include "strategies/parallel/on_mesh.h"

#include <algorithm>

#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/stage_copies.h"
#include "strategies/parallel/stage_passes.h"
#include "strategies/parallel/stage_tables.h"
#include "strategies/parallel/stages.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

OnMesh::OnMesh(std::shared_ptr<const Strategy> strategy, Parallel parallel, std::string warning)
    : strategy_(std::move(strategy)), parallel_(std::move(parallel)), warning_(std::move(warning)) {}

const PipelineTable& OnMesh::table() const {
  if (!table_) table_ = table_of(parallel_);
  return *table_;
}

void OnMesh::operator()(Worker& worker) const {
  StagePasses passes(worker, parallel_, table());
  worker.make_gradients_with(passes);
  std::optional<StageCopies> copies;
  if (copies_next_stage(parallel_)) {
    copies.emplace(worker);
    worker.before_each_report([&copies](const training::State& state) { copies->refresh(state); });
  }
  (*strategy_)(worker);
  passes.finish_sends();  // SimGrid cancels the transfers of a rank that ends
}

Traits OnMesh::traits(int P) const {
  Traits traits = traits_on_mesh(*strategy_, parallel_, P);
  const std::vector<training::Dimension> sums_along = parallel_.sums_along(traits);
  if (traits.workers) *traits.workers *= parallel_.ranks_a_replica();
  // Hops, keys and values, sums among tensor ranks and sums among replicas may be under way at one time.
  traits.many_to_many = true;
  traits.few_neighbours = true;
  traits.copies_next_stage = copies_next_stage(parallel_);
  traits.recoveries = recoveries(traits);
  traits.may_stand_in = parallel_.simulate == Simulate::one_of_alike && traits.meets != cluster::Meets::freely &&
                        !parallel_.slices().active() && !parallel_.shares_by_speed() && !parallel_.by_stages();
  traits.numbers_follow_times = traits.numbers_follow_times || parallel_.slices().slack() > 0;
  traits.cuts = [strategy = strategy_, parallel = parallel_, workers_along = parallel_.workers_along(traits),
                 sums_along](const training::MemoryTerms& whole) {
    return training::MeshLayout{.mesh = parallel.mesh(whole.workers),
                                .chunks = chunks_of_parts(*strategy, parallel, whole),
                                .workers_along = workers_along,
                                .sums_along = sums_along};
  };
  return traits;
}

/// A mesh needs all of its ranks. From memory it recovers where a lost rank's state is in another memory.
std::vector<cluster::Recovery> OnMesh::recoveries(const Traits& traits) const {
  std::vector<cluster::Recovery> all{cluster::Recovery::restart};
  const auto& of_strategy = traits.recoveries;
  if (copies_next_stage(parallel_) || std::ranges::find(of_strategy, cluster::Recovery::wait) != of_strategy.end())
    all.push_back(cluster::Recovery::wait);
  return all;
}

std::vector<std::string> OnMesh::warnings(std::int64_t P, std::uint64_t seed) const {
  std::vector<std::string> all = strategy_->warnings(workers_on_mesh(*strategy_, parallel_, P), seed);
  if (!warning_.empty()) all.push_back(warning_);
  return all;
}

record::MemoryParts OnMesh::memory(const training::MemoryTerms& terms) const {
  return largest_part(*strategy_, parallel_, terms);
}

std::vector<record::MemoryParts> OnMesh::memory_of_stages(const training::MemoryTerms& terms) const {
  return strategies::memory_of_stages(*strategy_, parallel_, terms);
}

std::vector<std::vector<record::MemoryParts>> OnMesh::memory_of_tensor_ranks(const training::MemoryTerms& terms) const {
  return strategies::memory_of_tensor_ranks(*strategy_, parallel_, terms);
}

std::int64_t workers_on_mesh(const Strategy& strategy, const Parallel& parallel, std::int64_t ranks) {
  return parallel.workers(ranks, strategy.traits(static_cast<int>(ranks / parallel.ranks_a_replica())));
}

Traits traits_on_mesh(const Strategy& strategy, const Parallel& parallel, std::int64_t ranks) {
  Traits traits = strategy.traits(static_cast<int>(workers_on_mesh(strategy, parallel, ranks)));
  if (!parallel.cuts()) return traits;
  traits.main_gradients = traits.gathers_units ? training::MainGradients::never : training::MainGradients::by_default;
  return traits;
}

std::shared_ptr<const Strategy> on_mesh(std::shared_ptr<const Strategy> strategy, const Parallel& parallel,
                                        std::string warning) {
  if (!parallel.cuts()) return strategy;
  return std::make_shared<const OnMesh>(std::move(strategy), parallel, std::move(warning));
}

}  // namespace simgrad::strategies
