#include "strategies/parallel/on_mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "strategies/circumstances.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/stage_passes.h"
#include "strategies/parallel/stages.h"
#include "strategies/parallel/uneven_batch.h"
#include "training/learning/learning.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

OnMesh::OnMesh(std::shared_ptr<const Strategy> strategy, Parallel parallel, std::string warning)
    : strategy_(std::move(strategy)), parallel_(std::move(parallel)), warning_(std::move(warning)) {}

const PipelineTable& OnMesh::table() const {
  if (!table_)
    table_ = parallel_.pipeline > 1 ? parallel_.schedule->table(shape_of_table())
                                    : one_stage(static_cast<int>(parallel_.micro_batch_count()));
  return *table_;
}

/// An asynchronous schedule's table stands for a stream of micro-batches, of which some are enough.
PipelineShape OnMesh::shape_of_table() const {
  PipelineShape shape = parallel_.shape();
  if (parallel_.schedule->asynchronous()) shape.micro_batches = 2 * shape.stages;
  return shape;
}

void OnMesh::operator()(Worker& worker) const {
  StagePasses passes(worker, parallel_, table());
  worker.make_gradients_with(passes);
  (*strategy_)(worker);
}

Traits OnMesh::traits(int P) const {
  Traits traits = strategy_->traits(static_cast<int>(replicas(P)));
  if (traits.workers) *traits.workers *= parallel_.ranks_a_replica();
  // Hops, sums among tensor ranks and sums among replicas may be under way at one time.
  traits.many_to_many = traits.many_to_many || parallel_.pipeline > 1;
  traits.few_neighbours = true;
  traits.may_stand_in = parallel_.simulate == Simulate::one_of_alike && traits.meets_in_rings;
  traits.cuts = [parallel = parallel_](const training::Learning& whole, int ranks) {
    return training::MeshLayout{parallel.mesh(ranks), chunks_of_parts(parallel, whole.layers())};
  };
  return traits;
}

std::optional<Refusal> OnMesh::model_refusal(const Circumstances& of) const {
  const models::CutModel* const cut = of.model.cut();
  if (!cut)
    return Refusal{"", fmt::format("[parallel] cuts the model, but {} cannot be cut; take transformer, perceptron or a "
                                   "model of layers, or leave [parallel] out",
                                   of.model_kind)};
  if (const std::string why = cut->refusal(*of.problem, parallel_.shares()); !why.empty())
    return Refusal{"parallel.tensor", why};
  const auto units = static_cast<std::int64_t>(training::units_of(of.layers).size());
  const bool asynchronous = parallel_.pipeline > 1 && parallel_.schedule->asynchronous();
  if (asynchronous && cut->tied(*of.problem, {.first_unit = units - 1, .end_unit = units}).count > 0)
    return Refusal{
        "parallel.schedule",
        fmt::format("schedule = \"{}\" lets every stage go on by itself, but the first and the last stage would "
                    "add the gradients of the tied embedding at every update; set model.tied = false, or take "
                    "a synchronous schedule",
                    parallel_.schedule.kind())};
  if (const std::string why = stages_refusal(parallel_, units); !why.empty()) return Refusal{"parallel.pipeline", why};
  if (const std::string why = uneven_batch(of.batch, replicas(of.workers), parallel_); !why.empty())
    return Refusal{"parallel.micro_batches", why};
  return {};
}

std::optional<Refusal> OnMesh::strategy_refusal(const Circumstances& of) const {
  const Traits traits = strategy_->traits(static_cast<int>(replicas(of.workers)));
  if (!traits.lockstep() || traits.servers > 0 || traits.holder != Holder::workers || !traits.optimizes)
    return Refusal{
        "kind",
        "under [parallel] a strategy works among ranks that hold the same part of the model, each a replica, "
        "in lockstep; take allreduce, zero (stage 1 or 2), local_sgd, diloco, gossip or single"};
  if (traits.gathers_units)
    return Refusal{"kind",
                   "the strategy gathers the parameters of one unit of the model after the other, but under "
                   "[parallel] a rank works on its part as a whole; take zero with stage 1 or 2, or allreduce"};
  if (!of.optimizer.elementwise() && parallel_.tensor > 1)
    return Refusal{"kind", fmt::format("optimizer = \"{}\" needs whole matrices, but tensor = {} deals them to ranks; "
                                       "take an optimizer that works element by element",
                                       of.optimizer_kind, parallel_.tensor)};
  if (of.precision == training::Precision::float16)
    return Refusal{
        "kind",
        "precision = \"float16\" scales the loss, but the passes of a cut model have no scale; take precision = "
        "\"bfloat16\""};
  if (of.clips && traits.state_shards > 1)
    return Refusal{
        "kind",
        "training.clip_norm needs the norm of the whole gradient, but under [parallel] a shard of a part has "
        "parameters that other ranks count, too; take allreduce, or leave clip_norm out"};
  if (parallel_.pipeline > 1 && parallel_.schedule->asynchronous() && traits.micro_batches > 1)
    return Refusal{"micro_batches",
                   fmt::format("schedule = \"{}\" has an update behind its own micro-batches; leave the "
                               "strategy's micro_batches out",
                               parallel_.schedule.kind())};
  if (of.cluster.failures.any())
    return Refusal{"kind",
                   "cluster.failures beside [parallel]: a part of the model would be lost with its rank; leave "
                   "failures out"};
  return {};
}

std::optional<Refusal> OnMesh::refusal(const Circumstances& circumstances) const {
  if (auto why = model_refusal(circumstances)) return why;
  if (auto why = strategy_refusal(circumstances)) return why;
  Circumstances inner = circumstances;
  inner.workers = replicas(circumstances.workers);
  return strategy_->refusal(inner);
}

std::vector<std::string> OnMesh::warnings(std::int64_t P, std::uint64_t seed) const {
  std::vector<std::string> all = strategy_->warnings(replicas(P), seed);
  if (!warning_.empty()) all.push_back(warning_);
  return all;
}

record::MemoryParts OnMesh::memory(const training::MemoryTerms& terms) const {
  return largest_part(*strategy_, parallel_, table(), terms);
}

std::shared_ptr<const Strategy> on_mesh(std::shared_ptr<const Strategy> strategy, const Parallel& parallel,
                                        std::string warning) {
  if (!parallel.cuts()) return strategy;
  return std::make_shared<const OnMesh>(std::move(strategy), parallel, std::move(warning));
}

}  // namespace simgrad::strategies
