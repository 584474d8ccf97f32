/// The models, batches and strategies that a mesh cannot train.
#include <fmt/format.h>

#include "strategies/circumstances.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/stages.h"
#include "strategies/parallel/uneven_batch.h"
#include "strategies/replicas/block_sync.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

namespace {

/// The reason why a unit cannot be shared among so many ranks, with the first key that is to blame.
std::optional<Refusal> shares_refusal(const models::CutModel& cut, const models::Problem& problem,
                                      const models::Shares& all) {
  const models::Shares tensor{
      .tensor = all.tensor, .sequence_parallel = all.sequence_parallel, .by_weights = all.by_weights};
  models::Shares context = tensor;
  context.context = all.context;
  if (const std::string why = cut.refusal(problem, tensor); !why.empty()) return Refusal{"parallel.tensor", why};
  if (const std::string why = cut.refusal(problem, context); !why.empty()) return Refusal{"parallel.context", why};
  if (const std::string why = cut.refusal(problem, all); !why.empty()) return Refusal{"parallel.expert", why};
  return {};
}

/// The first and the last stage hold one matrix, and would divide it by the speeds of their own devices.
std::optional<Refusal> tied_shares_refusal(const Parallel& parallel, const models::CutModel& cut,
                                           const models::Problem& problem, std::int64_t units) {
  if (!parallel.shares_by_speed() || parallel.pipeline == 1) return {};
  if (cut.tied(problem, {.first_unit = units - 1, .end_unit = units}).count == 0) return {};
  return Refusal{"parallel.tensor_shares",
                 "tensor_shares = \"speed\" sizes the shares of each stage by its own devices, but the first and the "
                 "last stage share the tied embedding; set model.tied = false, pipeline = 1, or tensor_shares = "
                 "\"equal\""};
}

/// The last stage would scale its copy of the tied embedding by another norm than the first one: that of its layer.
std::optional<Refusal> tied_norm_refusal(const Parallel& parallel, const models::CutModel& cut, const Circumstances& of,
                                         std::int64_t units) {
  if (of.optimizer.elementwise() || parallel.pipeline == 1) return {};
  const std::int64_t tied = cut.tied(*of.problem, {.first_unit = units - 1, .end_unit = units}).count;
  if (tied == 0 || tied == of.layers().front().count) return {};
  return Refusal{
      "kind", fmt::format("optimizer = \"{}\" scales an update by the norm of its whole layer, but the last stage has "
                          "the tied embedding without the learned positions; set model.tied = false, or take "
                          "model.positions = \"rotary\", pipeline = 1, or an optimizer that works element by element",
                          of.optimizer_kind)};
}

}  // namespace

std::optional<Refusal> OnMesh::model_refusal(const Circumstances& of) const {
  const models::CutModel* const cut = of.model.cut();
  if (!cut)
    return Refusal{"", fmt::format("[parallel] cuts the model, but {} cannot be cut; take transformer, perceptron or a "
                                   "model of layers, or leave [parallel] out",
                                   of.model_kind)};
  if (auto why = shares_refusal(*cut, *of.problem, parallel_.shares())) return why;
  const auto units = static_cast<std::int64_t>(training::units_of(of.layers()).size());
  const bool asynchronous = parallel_.pipeline > 1 && parallel_.schedule->asynchronous();
  if (asynchronous && cut->tied(*of.problem, {.first_unit = units - 1, .end_unit = units}).count > 0)
    return Refusal{
        "parallel.schedule",
        fmt::format("schedule = \"{}\" lets every stage go on by itself, but the first and the last stage would "
                    "add the gradients of the tied embedding at every update; set model.tied = false, or take "
                    "a synchronous schedule",
                    parallel_.schedule.kind())};
  if (const std::string why = stages_refusal(parallel_, units); !why.empty()) return Refusal{"parallel.pipeline", why};
  if (auto why = tied_shares_refusal(parallel_, *cut, *of.problem, units)) return why;
  if (auto why = tied_norm_refusal(parallel_, *cut, of, units)) return why;
  if (of.rows_uneven && parallel_.expert > 1 && replicas(of.workers) > 1)
    return Refusal{
        "parallel.expert",
        fmt::format("the partition leaves to chance how many rows a replica has, which the {} ranks of expert "
                    "share in equal parts; take partition = \"iid\", \"contiguous\" or \"by_label\"",
                    parallel_.expert)};
  // Shares by speed are dealt in whole micro-batches, whatever the replicas.
  const std::int64_t alike = of.shares_by_speed ? 1 : replicas(of.workers);
  if (const std::string why = uneven_batch(of.batch, alike, parallel_); !why.empty())
    return Refusal{"parallel.micro_batches", why};
  return {};
}

std::optional<Refusal> OnMesh::strategy_refusal(const Circumstances& of) const {
  const Traits traits = traits_on_mesh(*strategy_, parallel_, of.workers);
  if (!traits.lockstep() || traits.servers > 0 || traits.holder != Holder::workers || !traits.optimizes)
    return Refusal{
        "kind",
        "under [parallel] a strategy works among ranks that hold the same part of the model, each a replica, "
        "in lockstep; take allreduce, zero, fsdp, local_sgd, diloco, gossip, d2, gradient_tracking, sgp or single"};
  if (dynamic_cast<const BlockSync*>(strategy_.get()))
    return Refusal{"kind",
                   "block_sync synchronises each part of a cut model by its own blocks, but parts have parameters in "
                   "common, which would differ; leave [parallel] out, or take local_sgd"};
  if (traits.cuts)
    return Refusal{
        "kind",
        "strategy operators gives the model's units to ranks by itself, and so does [parallel]; leave one of "
        "them out"};
  if (traits.micro_batches > 1)
    return Refusal{"micro_batches", "on a mesh, micro_batches is set in [parallel]; leave it out here"};
  if (traits.gathers_units && parallel_.pipeline > 1 && parallel_.schedule->asynchronous())
    return Refusal{
        "kind", fmt::format("schedule = \"{}\" keeps several versions of a stage's weights, but the strategy gathers "
                            "the newest parameters for each pass; take a synchronous schedule, zero with stage 1 "
                            "or 2, or allreduce",
                            parallel_.schedule.kind())};
  if (!of.optimizer.elementwise() && parallel_.tensor * parallel_.expert > 1)
    return Refusal{"kind", fmt::format("optimizer = \"{}\" needs whole matrices, but {} divides them among ranks; take "
                                       "an optimizer that works element by element",
                                       of.optimizer_kind,
                                       parallel_.tensor > 1 ? fmt::format("tensor = {}", parallel_.tensor)
                                                            : fmt::format("expert = {}", parallel_.expert))};
  if (of.precision == training::Precision::float16)
    return Refusal{
        "kind",
        "precision = \"float16\" scales the loss, but the passes of a cut model have no scale; take precision = "
        "\"bfloat16\""};
  if (of.cluster.failures.hosts_fail() && parallel_.pipeline > 1 && parallel_.schedule->asynchronous())
    return Refusal{"kind",
                   fmt::format("cluster.failures with schedule = \"{}\": a checkpoint has one version of a stage's "
                               "weights, and micro-batches under way see others; take a synchronous schedule",
                               parallel_.schedule.kind())};
  if (of.cluster.failures.hosts_fail() && parallel_.slices().active())
    return Refusal{"kind",
                   "cluster.failures with refresh_every and staleness: the numbers that a rank keeps of the others are "
                   "in no checkpoint; set refresh_every = 1 and leave staleness out"};
  return {};
}

std::optional<Refusal> OnMesh::refusal(const Circumstances& circumstances) const {
  if (auto why = model_refusal(circumstances)) return why;
  if (auto why = strategy_refusal(circumstances)) return why;
  if (auto why = stage_replicas_refusal(circumstances)) return why;
  if (auto why = slices_refusal(circumstances)) return why;
  Circumstances inner = circumstances;
  inner.workers = workers_on_mesh(*strategy_, parallel_, circumstances.workers);
  inner.replicas = replicas(circumstances.workers);
  inner.micro_batches_of_mesh = parallel_.micro_batch_count();
  return strategy_->refusal(inner);
}

}  // namespace simgrad::strategies
