/// Stages with unlike numbers of replicas: what cannot be.
///
/// Source: D. Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "strategies/circumstances.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/replicas/allreduce.h"

namespace simgrad::strategies {

namespace {

constexpr std::int64_t micro_batches_most = 1'000'000;  // of a step

/// The least common multiple, or any number above the bound.
std::int64_t micro_batches_of(const std::vector<double>& replicas) {
  std::int64_t all = 1;
  for (const double ranks : replicas)
    if (all <= micro_batches_most) all = std::lcm(all, static_cast<std::int64_t>(ranks));
  return all;
}

bool data_is_inside(const std::vector<std::string>& order) {
  return std::ranges::find(order, "data") < std::ranges::find(order, "pipeline");
}

}  // namespace

void Parallel::refuse_stage_replicas(base::Describer& d) const {
  if (!by_stages()) return;
  const auto refuse = [&](std::string_view why) { d.refuse("stage_replicas", fmt::format("stage_replicas {}", why)); };
  if (automatic || (balance == Balance::time && stages.empty()))
    return refuse(
        fmt::format("gives the ranks of each stage, but {} predicts steps with as many in each; leave one of "
                    "them out",
                    automatic ? "automatic" : "balance = \"time\""));
  if (std::cmp_not_equal(stage_replicas.size(), pipeline))
    return refuse(
        fmt::format("has {} numbers, but pipeline = {}; expected one a stage", stage_replicas.size(), pipeline));
  if (std::ranges::any_of(stage_replicas, [](double ranks) { return ranks != std::floor(ranks); }))
    return refuse("counts ranks: expected whole numbers, as in stage_replicas = [15, 1]");
  if (pipeline == 1) return refuse("is about the stages of a pipeline, but pipeline = 1; set data, or leave it out");
  if (schedule.kind() != "pipedream")
    return refuse(fmt::format(
        "gives micro-batches to the replicas of each stage in turn, but with schedule = \"{}\" every replica has ranks "
        "of its own in all stages; take schedule = \"pipedream\", or data in place of stage_replicas",
        schedule.kind()));
  if (tensor * context * expert > 1)
    return refuse(
        "gives the ranks of each stage, which share nothing but its gradients, but tensor, context or expert "
        "ranks share more; set these to 1");
  if (data) return refuse("gives the ranks of each stage in place of data; leave one of them out");
  if (copies == Copies::next_stage)
    return refuse(
        "leaves ranks without a counterpart in the next stage, which copies = \"next_stage\" needs; leave "
        "one of them out");
  if (!data_is_inside(order))
    return refuse("numbers the ranks stage after stage; expected \"data\" before \"pipeline\" in order");
  if (micro_batches_of(stage_replicas) > micro_batches_most)
    refuse(
        fmt::format("makes a step of as many micro-batches as the least common multiple of its numbers, which is "
                    "more than {}; take numbers that divide one another",
                    micro_batches_most));
}

std::optional<Refusal> OnMesh::stage_replicas_refusal(const Circumstances& of) const {
  if (!parallel_.by_stages()) return {};
  if (!dynamic_cast<const Allreduce*>(strategy_.get()))
    return Refusal{"kind",
                   "parallel.stage_replicas: the replicas of a stage average their gradients behind each round of "
                   "micro-batches, as PipeDream's do; take allreduce"};
  if (of.clips)
    return Refusal{"parallel.stage_replicas",
                   "training.clip_norm needs the norm of the whole gradient, but stages with unlike numbers of "
                   "replicas (stage_replicas) update at times of their own; leave one of them out"};
  if (of.shares_by_speed)
    return Refusal{"parallel.stage_replicas",
                   "shares = \"speed\" gives replicas different numbers of rows, but every replica of a stage in turn "
                   "has each of the others' micro-batches (stage_replicas); leave one of them out"};
  return {};
}

}  // namespace simgrad::strategies
