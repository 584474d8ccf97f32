#include "experiment/checks/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/text.h"
#include "experiment/checks/batch_shares.h"
#include "experiment/checks/memory_changes.h"
#include "experiment/checks/mesh_changes.h"
#include "outputs/text/number_text.h"
#include "strategies/operators/operators.h"
#include "training/memory/formula.h"
#include "training/state.h"
#include "values/dispatcher.h"

namespace simgrad::experiment {

namespace {

using record::MemoryPart;
using record::MemoryParts;
using training::MemoryTerms;
using training::Recompute;

/// The sum by term: "640 GB = parameters 350 GB + gradients 290 GB".
std::string written_out(const MemoryParts& parts) {
  std::string text = outputs::byte_count(parts.sum()) + " =";
  const char* plus = "";
  for (std::size_t k = 0; k < record::memory_parts; ++k) {
    const auto part = static_cast<MemoryPart>(k);
    if (!(parts[part] > 0.0)) continue;
    text += fmt::format("{} {} {}", plus, name(part), outputs::byte_count(parts[part]));
    plus = " +";
  }
  return text;
}

/// The rows of the largest worker's share of a step, of so many workers.
std::int64_t rows_of_worker(const Settings& settings, std::int64_t workers, std::int64_t rows) {
  const std::int64_t batch = settings.training.batch_size_per_worker
                                 ? *settings.training.batch_size_per_worker * workers
                                 : settings.training.batch_size.value_or(rows);
  return (batch + workers - 1) / workers;
}

/// The memory of the smallest device of each stage; infinite where none is known. It is that of each tensor rank where
/// they have unlike shares.
std::vector<std::vector<double>> memory_of_devices(const Settings& settings, const strategies::Parallel& parallel) {
  const training::Mesh mesh = parallel.mesh(settings.cluster.workers);
  const std::vector<double> of_ranks(parallel.shares_by_speed() ? static_cast<std::size_t>(parallel.tensor) : 1,
                                     std::numeric_limits<double>::infinity());
  std::vector<std::vector<double>> least(static_cast<std::size_t>(parallel.pipeline), of_ranks);
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const training::MeshPlace place = mesh.place(rank);
    std::vector<double>& of_stage = least[static_cast<std::size_t>(place[training::Dimension::pipeline])];
    double& least_bytes = of_stage[static_cast<std::size_t>(place[training::Dimension::tensor]) % of_stage.size()];
    const cluster::Device* const device = settings.cluster.device_of(rank);
    if (settings.cluster.memory_bytes)
      least_bytes = *settings.cluster.memory_bytes;
    else if (device && device->memory_bytes > 0.0)
      least_bytes = std::min(least_bytes, device->memory_bytes);
  }
  return least;
}

/// A worker's memory under a scenario, and under changes of it.
class MemoryFit {
 public:
  MemoryFit(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
            std::int64_t rows)
      : settings_(settings),
        strategy_(strategy),
        rows_(rows),
        limit_bytes_(device_memory_bytes(settings).value_or(0.0)),
        terms_(memory_terms(settings, strategy, problem, rows)) {}

  double worker_bytes() const { return strategy_.memory(terms_).sum(); }

  std::vector<std::string> changes_to(double limit_bytes) const {
    if (const auto* const on_mesh = strategies::mesh_under(strategy_))
      return mesh_changes_that_fit(*on_mesh, terms_, limit_bytes);
    return changes_that_fit(settings_, strategy_, terms_, limit_bytes,
                            [&](std::int64_t workers) { return rows_of(workers); });
  }

  std::string refusal() const {
    if (const auto* const placed = dynamic_cast<const strategies::Operators*>(&strategy_))
      return placed->memory_refusal(terms_, settings_.cluster);
    if (const auto* const on_mesh = strategies::mesh_under(strategy_))
      return deals_by_speed(settings_, strategy_) ? "" : refusal_of_stages(*on_mesh);
    const MemoryParts worker = strategy_.memory(terms_);
    const training::Traits traits = strategy_.traits(static_cast<int>(terms_.workers));
    if (!deals_by_speed(settings_, strategy_) && !fits(worker))
      return fmt::format("a worker needs {}, but its device has {}{}", written_out(worker),
                         outputs::byte_count(limit_bytes_), settings_.advises ? "; " + nearest_changes() : "");
    if (traits.servers == 0 || traits.holder != training::Holder::servers) return {};
    const MemoryParts server =
        training::server_memory(terms_, traits.deals_parameters() ? 1.0 / traits.servers : 1.0, traits.gradients_held);
    if (fits(server)) return {};
    return fmt::format(
        "a server needs {}, but its device has {}; divide the parameters among more servers, or set training.memory = "
        "\"ignore\"",
        written_out(server), outputs::byte_count(limit_bytes_));
  }

 private:
  /// Each stage of a pipeline has devices of its own.
  std::string refusal_of_stages(const strategies::OnMesh& on_mesh) const {
    const std::vector<std::vector<MemoryParts>> needed = on_mesh.memory_of_tensor_ranks(terms_);
    const std::vector<std::vector<double>> has = memory_of_devices(settings_, on_mesh.parallel());
    std::pair<std::size_t, std::size_t> fullest;  // stage and tensor rank
    const auto needs = [&](const auto& at) { return needed[at.first][at.second].sum(); };
    const auto limit = [&](const auto& at) { return has[at.first][at.second]; };
    for (std::size_t stage = 0; stage < needed.size(); ++stage)
      for (std::size_t rank = 0; rank < needed[stage].size(); ++rank)
        if (const std::pair at(stage, rank); needs(at) * limit(fullest) > needs(fullest) * limit(at)) fullest = at;
    if (needs(fullest) <= limit(fullest)) return {};
    return fmt::format("a worker needs {}, but its device has {}{}", written_out(needed[fullest.first][fullest.second]),
                       outputs::byte_count(limit(fullest)), settings_.advises ? "; " + nearest_changes() : "");
  }

  std::string nearest_changes() const {
    const std::vector<std::string> found = changes_to(limit_bytes_);
    if (found.empty() && strategies::mesh_under(strategy_))
      return "no recomputation, number of micro-batches, of stages or of tensor ranks, sequence parallelism, balance "
             "by memory, 1F1B or stage 1 of zero makes it fit by itself; take more workers or a smaller model, or set "
             "training.memory = \"ignore\" to run it all the same";
    if (found.empty())
      return "no recomputation, number of micro-batches or of workers, stage of zero, offload or bfloat16 makes it "
             "fit, "
             "nor all of them together; take a smaller model, or set training.memory = \"ignore\" to run it all the "
             "same";
    return fmt::format("it would fit with {}; training.memory = \"ignore\" runs it all the same",
                       base::joined(found, "; or "));
  }

  bool fits(const MemoryParts& parts) const { return parts.sum() <= limit_bytes_; }

  std::int64_t rows_of(std::int64_t workers) const { return rows_of_worker(settings_, workers, rows_); }

  const Settings& settings_;
  const strategies::Strategy& strategy_;
  std::int64_t rows_;
  double limit_bytes_;
  MemoryTerms terms_;
};

}  // namespace

std::optional<double> device_memory_bytes(const Settings& settings) {
  if (settings.cluster.memory_bytes) return settings.cluster.memory_bytes;
  std::optional<double> least;
  for (int worker = 0; worker < settings.cluster.workers; ++worker)
    if (const cluster::Device* const device = settings.cluster.device_of(worker); device && device->memory_bytes > 0.0)
      least = std::min(least.value_or(device->memory_bytes), device->memory_bytes);
  return least;
}

std::string recompute_refusal(const Settings& settings, const models::Problem& problem,
                              std::string_view strategy_kind) {
  const Recompute recompute = settings.training.recompute;
  if (recompute == Recompute::none) return {};
  const models::Model& model = *settings.model.model;
  if (strategy_kind == "multitask")
    return "training.recompute is not for strategy multitask, which keeps all activations of a task until its backward "
           "pass; leave it out";
  if (model.takes_sparse_rows() || model.k_means())
    return fmt::format(
        "training.recompute has nothing to compute again: {} keeps no activations of layers; leave it out",
        settings.model.model.kind());
  const std::vector<models::Layer> layers = model.layers(problem);
  const auto drops = [](const models::Layer& layer) { return layer.selective.numbers + layer.selective.bytes > 0.0; };
  if (recompute == Recompute::selective && std::ranges::none_of(layers, drops)) {
    const auto fused = [](const models::Product& product) { return product.fused > 0.0; };
    if (std::ranges::any_of(layers,
                            [&](const models::Layer& each) { return std::ranges::any_of(each.products, fused); }))
      return "training.recompute = \"selective\" drops the scores of attention and computes them again, but fused "
             "attention (FlashAttention) keeps none; take \"full\", or leave recompute out";
    return fmt::format(
        "training.recompute = \"selective\" has nothing to compute again here: {} keeps no large, cheap activations, "
        "such as the scores of attention; take \"full\", or leave it out",
        settings.model.model.kind());
  }
  return {};
}

MemoryTerms memory_terms(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                         std::int64_t rows) {
  MemoryTerms terms;
  terms.layers = settings.model.model->layers(problem);
  terms.model = settings.model.model.shared().get();
  terms.problem = &problem;
  terms.recompute = settings.training.recompute;
  terms.bytes = settings.training.number_bytes();
  terms.workers = strategy.workers(settings.cluster.workers);
  terms.rows = rows_of_worker(settings, terms.workers, rows);
  terms.batch = settings.batch(rows);
  terms.training_rows = rows;
  terms.optimizer_vectors = settings.training.optimizer->vectors();
  terms.precision = settings.training.precision;
  terms.update_flops = settings.training.optimizer->flops();
  terms.fits_memory = settings.training.memory == training::MemoryCheck::refuse;
  return terms;
}

double worker_memory_bytes(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows) {
  return MemoryFit(settings, strategy, problem, rows).worker_bytes();
}

std::vector<std::string> changes_to_fit(const Settings& settings, const strategies::Strategy& strategy,
                                        const models::Problem& problem, std::int64_t rows, double limit_bytes) {
  return MemoryFit(settings, strategy, problem, rows).changes_to(limit_bytes);
}

std::string memory_refusal(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows) {
  if (settings.training.memory == training::MemoryCheck::ignore || !device_memory_bytes(settings)) return {};
  if (deals_by_speed(settings, strategy) && settings.cluster.platform.empty())
    if (std::string why = shares_refusal(settings, strategy, problem, rows); !why.empty()) return why;
  return MemoryFit(settings, strategy, problem, rows).refusal();
}

}  // namespace simgrad::experiment
