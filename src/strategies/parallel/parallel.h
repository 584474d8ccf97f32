/// The section [parallel]: how a model is cut among ranks, whatever the strategy does among those with the same part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "cluster/fabric/device.h"
#include "models/cut_model.h"
#include "strategies/parallel/schedules/schedule.h"
#include "training/parts/mesh.h"

namespace simgrad::training {
struct Traits;
}

namespace simgrad::strategies {

/// How layers are dealt to the stages of a pipeline.
enum class Balance : unsigned char {
  flops,   ///< the stage with most flops (measured seconds, where a model has them) has as few as possible
  memory,  ///< the stage that needs most memory needs as little as a search finds
  blocks,  ///< as many units between the first and the last to each stage; these two join the ends
  time,    ///< the predicted step is the shortest; `stages` are found when the scenario is read
};

/// The ranks that are simulated.
enum class Simulate : unsigned char {
  one_of_alike,  ///< where that gives the same, one of the ranks along tensor and data, for all that are alike
  all
};

/// Copies of a rank's state in the memory of others, beside those of its data group.
enum class Copies : unsigned char {
  none,
  next_stage,  ///< a rank keeps the state of its counterpart in the next stage; the last stage's, that of the first one
};

/// How the products of layers are divided among tensor ranks.
enum class TensorShares : unsigned char {
  equal,
  speed,  ///< in proportion to the speeds of their devices, within what these hold
};

/// The device of a rank, by nominal speeds.
struct RankPower {
  double flops_per_s = 0.0;                    ///< without a device
  double relative = 1.0;                       ///< the rank's speed beside it: cluster.relative_speeds
  std::optional<cluster::Device> device = {};  ///< whose roofline says how long work takes
  double memory_bytes = 0.0;                   ///< infinite: it holds anything
};

/// When tensor ranks exchange the numbers of their passes, and how old numbers may be that they use.
struct SliceOptions {
  std::int64_t refresh_every = 1;
  std::int64_t staleness = 0;  ///< in steps; at least refresh_every - 1

  /// Whether a rank may go on without the newest numbers.
  bool active() const { return refresh_every > 1 || staleness > 0; }
  /// Steps by which a refresh may come late.
  std::int64_t slack() const { return staleness - refresh_every + 1; }
};

struct Parallel : base::Described {
  bool automatic = false;  ///< sizes that are not written are found when the scenario is read
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::optional<std::int64_t> data;    ///< default: as many as there are workers for
  std::vector<double> stage_replicas;  ///< the ranks of each stage, in place of data; empty: as many
  std::vector<std::string> order = {"tensor", "context", "expert", "data", "pipeline"};
  base::Slot<PipelineSchedule> schedule{pipeline_schedules(), "1f1b"};
  std::optional<std::int64_t> micro_batches;  ///< of a rank's share of a step; default: one a stage
  std::int64_t chunks = 1;
  Balance balance = Balance::flops;
  std::vector<double> stages;  ///< units of each piece; empty: as `balance` says
  bool sequence_parallel = false;
  bool scatter_gather = false;
  TensorShares tensor_shares = TensorShares::equal;
  Copies copies = Copies::none;
  std::int64_t refresh_every = 1;
  std::optional<std::int64_t> staleness;  ///< default: refresh_every - 1
  Simulate simulate = Simulate::one_of_alike;
  // No options: of all ranks, where tensor_shares is "speed" and they differ; and of a layout that was found.
  std::vector<RankPower> powers = {};
  std::optional<double> predicted_step_s = {};
  std::string found = {};  ///< a sentence about it; empty: none was

  void describe(base::Describer& d) override;

  /// Whether the model is passed through in parts: a rank has one of several, or a step's rows go through it in several
  /// micro-batches.
  bool cuts() const { return ranks_a_replica() > 1 || micro_batches.value_or(1) > 1; }
  /// Whether anything of it is found when the scenario is read.
  bool is_searched() const { return automatic || (balance == Balance::time && pipeline > 1 && stages.empty()); }
  /// Whether tensor ranks have unlike shares.
  bool shares_by_speed() const { return tensor > 1 && !powers.empty(); }
  /// Whether each stage has ranks of its own number.
  bool by_stages() const { return !stage_replicas.empty(); }
  /// The equal shares that a step's rows are dealt in, among so many ranks: one a replica. Of stages with ranks of
  /// their own, the mesh's (Mesh::shares).
  std::int64_t shares_of_batch(std::int64_t ranks) const { return mesh(ranks).shares(); }
  /// Ranks that train one replica together. Of stages with ranks of their own it is those that a micro-batch goes
  /// through.
  std::int64_t ranks_a_replica() const { return tensor * pipeline * context * expert; }
  /// The dimensions along which ranks are workers of a strategy with these traits: they train the same parameters.
  std::vector<training::Dimension> workers_along(const training::Traits& traits) const;
  /// The dimensions along which such a strategy sums gradients: experts have workers of their own.
  std::vector<training::Dimension> sums_along(const training::Traits& traits) const;
  /// The number of its workers on the mesh of so many ranks.
  std::int64_t workers(std::int64_t ranks, const training::Traits& traits) const;
  /// An update's micro-batches on a rank.
  std::int64_t micro_batch_count() const;
  PipelineShape shape() const;
  models::Shares shares() const;
  SliceOptions slices() const { return {refresh_every, staleness.value_or(refresh_every - 1)}; }
  /// The mesh of so many ranks, which are a multiple of those of a replica.
  training::Mesh mesh(std::int64_t ranks) const;

 private:
  void describe_slices(base::Describer& d);
  void refuse_contradictions(base::Describer& d) const;
  void refuse_slices(base::Describer& d) const;
  void refuse_tensor_shares(base::Describer& d) const;
  void refuse_stage_replicas(base::Describer& d) const;
};

/// Whether each rank keeps a copy of the next stage's state.
inline bool copies_next_stage(const Parallel& parallel) {
  return parallel.copies == Copies::next_stage && parallel.pipeline > 1;
}

}  // namespace simgrad::strategies
