#include "experiment/checks/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
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

/// A worker's memory under a scenario, and under changes of it.
class MemoryFit {
 public:
  MemoryFit(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
            std::int64_t rows)
      : settings_(settings),
        strategy_(strategy),
        rows_(rows),
        limit_bytes_(device_memory_bytes(settings).value_or(0.0)) {
    terms_.layers = settings.model.model->layers(problem);
    terms_.model = settings.model.model.shared().get();
    terms_.problem = &problem;
    terms_.recompute = settings.training.recompute;
    terms_.bytes = training::number_bytes(settings.training.precision);
    terms_.workers = strategy.workers(settings.cluster.workers);
    terms_.rows = rows_of(terms_.workers);
    terms_.batch = settings.batch(rows);
    terms_.optimizer_vectors = training::vectors_of(*settings.training.optimizer);
    terms_.precision = settings.training.precision;
    terms_.update_flops = settings.training.optimizer->flops();
  }

  double worker_bytes() const { return strategy_.memory(terms_).sum(); }

  std::string refusal() const {
    if (const auto* const placed = dynamic_cast<const strategies::Operators*>(&strategy_))
      return placed->memory_refusal(terms_, settings_.cluster);
    const MemoryParts worker = strategy_.memory(terms_);
    const training::Traits traits = strategy_.traits(static_cast<int>(terms_.workers));
    if (!fits(worker))
      return fmt::format("a worker needs {}, but its device has {}{}", written_out(worker),
                         outputs::byte_count(limit_bytes_), settings_.advises ? "; " + nearest_changes() : "");
    if (traits.servers == 0 || traits.holder != training::Holder::servers) return {};
    const MemoryParts server = training::server_memory(terms_, traits.deals_parameters() ? 1.0 / traits.servers : 1.0);
    if (fits(server)) return {};
    return fmt::format(
        "a server needs {}, but its device has {}; deal the parameters to more servers, or set "
        "training.memory = \"ignore\"",
        written_out(server), outputs::byte_count(limit_bytes_));
  }

 private:
  std::string nearest_changes() const {
    if (const auto* const on_mesh = dynamic_cast<const strategies::OnMesh*>(&strategy_)) return changes_of(*on_mesh);
    return changes_that_fit(settings_, strategy_, terms_, limit_bytes_,
                            [&](std::int64_t workers) { return rows_of(workers); });
  }

  std::string changes_of(const strategies::OnMesh& on_mesh) const {
    const std::vector<std::string> found = mesh_changes_that_fit(on_mesh, terms_, limit_bytes_);
    if (found.empty())
      return "no recomputation, number of micro-batches, of stages or of tensor ranks, sequence parallelism, balance "
             "by memory, 1F1B or stage 1 of zero makes it fit by itself; take more workers or a smaller model, or set "
             "training.memory = \"ignore\" to run it all the same";
    return fmt::format("it would fit with {}; training.memory = \"ignore\" runs it all the same",
                       base::joined(found, "; or "));
  }

  bool fits(const MemoryParts& parts) const { return parts.sum() <= limit_bytes_; }

  std::int64_t rows_of(std::int64_t workers) const {
    const std::int64_t batch = settings_.training.batch_size_per_worker
                                   ? *settings_.training.batch_size_per_worker * workers
                                   : settings_.training.batch_size.value_or(rows_);
    return (batch + workers - 1) / workers;
  }

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
  if (model.takes_sparse_rows() || model.k_means() || strategy_kind == "multitask")
    return fmt::format(
        "training.recompute has nothing to compute again: {} keeps no activations of layers; leave it out",
        strategy_kind == "multitask" ? "strategy multitask" : settings.model.model.kind());
  const std::vector<models::Layer> layers = model.layers(problem);
  const auto drops = [](const models::Layer& layer) { return layer.selective.numbers + layer.selective.bytes > 0.0; };
  if (recompute == Recompute::selective && std::ranges::none_of(layers, drops))
    return fmt::format(
        "training.recompute = \"selective\" computes large, cheap activations again, as attention has "
        "them, but {} has none; take \"full\", or leave it out",
        settings.model.model.kind());
  return {};
}

double worker_memory_bytes(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows) {
  return MemoryFit(settings, strategy, problem, rows).worker_bytes();
}

std::string memory_refusal(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows) {
  if (settings.training.memory == training::MemoryCheck::ignore || !device_memory_bytes(settings)) return {};
  return MemoryFit(settings, strategy, problem, rows).refusal();
}

}  // namespace simgrad::experiment
