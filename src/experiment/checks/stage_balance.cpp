#include "experiment/checks/stage_balance.h"

#include <algorithm>
#include <limits>
#include <span>

#include "experiment/checks/memory_check.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/tensor_weights.h"
#include "training/learning/layer_times.h"
#include "training/learning/units.h"

namespace simgrad::experiment {

namespace {

/// The layers of the units of a stage, whose pieces are dealt to the stages in turn.
std::vector<models::Layer> layers_of_stage(std::span<const models::Layer> layers,
                                           const std::vector<std::int64_t>& firsts, std::size_t stage,
                                           std::size_t stages, std::int64_t& count) {
  const std::vector<training::ModelUnit> units = training::units_of(layers);
  std::vector<models::Layer> own;
  for (std::size_t piece = stage; piece + 1 < firsts.size(); piece += stages)
    for (auto unit = static_cast<std::size_t>(firsts[piece]); unit < static_cast<std::size_t>(firsts[piece + 1]);
         ++unit) {
      ++count;
      own.insert(own.end(), layers.begin() + static_cast<std::ptrdiff_t>(units[unit].first_layer),
                 layers.begin() + static_cast<std::ptrdiff_t>(units[unit].first_layer + units[unit].layers));
    }
  return own;
}

double flops_of(const std::vector<models::Layer>& layers) {
  double flops = 0.0;
  for (const models::Layer& layer : layers) flops += layer.forward_flops + layer.backward_flops;
  return flops;
}

/// Seconds of both passes through the layers on a host.
double seconds_of(const Settings& settings, const std::vector<models::Layer>& layers, int host, double rows) {
  const cluster::Device* const device = settings.cluster.device_of(host);
  if (device) return training::LayerTimes(*device, settings.training.precision).gradient_s(layers, rows);
  return flops_of(layers) * rows / settings.cluster.speed(host);
}

}  // namespace

std::vector<StageBalance> stage_balance(const Settings& settings, const strategies::OnMesh& on_mesh,
                                        const models::Problem& problem, std::int64_t rows, bool blocks) {
  strategies::Parallel parallel = on_mesh.parallel();
  if (blocks) {
    parallel.stages.clear();
    parallel.balance = strategies::Balance::blocks;
  }
  const training::MemoryTerms terms = memory_terms(settings, on_mesh, problem, rows);
  const std::vector<std::int64_t> firsts = strategies::firsts_of_pieces(*on_mesh.strategy(), parallel, terms);
  const std::vector<record::MemoryParts> needed = strategies::memory_of_stages(*on_mesh.strategy(), parallel, terms);
  const strategies::TensorWeights weights = strategies::tensor_weights(*on_mesh.strategy(), parallel, firsts, terms);
  const training::Mesh mesh = parallel.mesh(terms.workers);
  const auto stages = static_cast<std::size_t>(parallel.pipeline);
  const double ranks_a_stage = static_cast<double>(parallel.ranks_a_replica() / parallel.pipeline);
  const double share = static_cast<double>(settings.batch(rows)) / mesh.shares();
  std::vector<StageBalance> all(stages);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    StageBalance& balance = all[stage];
    balance.flops_per_s = std::numeric_limits<double>::infinity();
    balance.needed_bytes = needed[stage].sum();
    const std::vector<models::Layer> layers = layers_of_stage(terms.layers, firsts, stage, stages, balance.units);
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const training::MeshPlace place = mesh.place(rank);
      if ((place[training::Dimension::data] != 0 && !mesh.by_stages()) ||
          static_cast<std::size_t>(place[training::Dimension::pipeline]) != stage)
        continue;
      const std::string name = class_name(settings, rank);
      if (balance.classes.find(name) == std::string::npos)
        balance.classes += (balance.classes.empty() ? "" : " + ") + name;
      const double seconds = seconds_of(settings, layers, rank, share);
      const auto tensor_rank = static_cast<std::size_t>(place[training::Dimension::tensor]);
      const double load = weights.empty() ? 1.0 : weights[stage][tensor_rank] * static_cast<double>(parallel.tensor);
      balance.passes_s = std::max(balance.passes_s, mesh.updates_a_step(rank) * seconds * load / ranks_a_stage);
      balance.flops_per_s = std::min(balance.flops_per_s, flops_of(layers) * share / seconds);
      const cluster::Device* const device = settings.cluster.device_of(rank);
      const double has = settings.cluster.memory_bytes.value_or(device ? device->memory_bytes : 0.0);
      if (has > 0.0) balance.memory_bytes = std::min(balance.memory_bytes.value_or(has), has);
    }
  }
  return all;
}

}  // namespace simgrad::experiment
