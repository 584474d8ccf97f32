/// The parts of a scenario that decide whether a strategy can train in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/options.h"
#include "models/model.h"
#include "strategies/strategy.h"
#include "training/optimizers/optimizer.h"
#include "training/options.h"

namespace simgrad::strategies {

struct Circumstances {
  std::int64_t parameters = 0;
  std::int64_t workers = 0;
  const training::Optimizer& optimizer;
  std::string_view optimizer_kind;  ///< the scenario's name of it
  const models::Model& model;
  std::string_view model_kind;
  const cluster::Options& cluster;
  const training::StopOptions& stop;
  std::uint64_t seed = 1;
  std::int64_t micro_batches_of_mesh = 1;  ///< of a step, where ranks of a mesh make its gradient together
  std::int64_t replicas = workers;         ///< the workers that have rows of their own: on a mesh perhaps fewer
  std::int64_t batch = 0;                  ///< rows of a step, of all workers
  std::int64_t rows = 0;                   ///< training rows
  bool rows_come_in = false;               ///< during the training
  bool rows_by_rank = false;               ///< each rank draws from rows of its own, not from all
  bool rows_uneven = false;                ///< by_rank, and in unlike numbers that are left to chance
  std::int64_t keys = 0;                   ///< a sparse model's: the features
  bool numbers = true;                     ///< whether there are data
  bool fits_memory = true;       ///< whether a device must hold what its rank holds (training.memory = "refuse")
  bool shares_by_speed = false;  ///< replicas have unlike shares of a step's batch
  bool clips = false;            ///< whether gradients are clipped by their norm (training.clip_norm)
  training::Precision precision = training::Precision::float64;
  training::Wire wire = training::Wire::as_precision;
  const models::Problem* problem = nullptr;  ///< the shape of the data

  /// The model's layers. Made at each call: a grid of thousands of points asks most strategies for nothing of them.
  std::vector<models::Layer> layers() const { return model.layers(*problem); }

  /// The option that needs all of a gradient for the update of any parameter: "optimizer = \"lamb\"",
  /// "training.clip_norm"; or empty.
  std::string needs_whole_gradient() const {
    if (!optimizer.elementwise()) return "optimizer = \"" + std::string(optimizer_kind) + "\"";
    return clips ? "training.clip_norm" : "";
  }
};

}  // namespace simgrad::strategies
