/// The models, clusters and options with which operators cannot be placed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "strategies/circumstances.h"
#include "strategies/operators/cluster_devices.h"
#include "strategies/operators/exhaustive.h"
#include "strategies/operators/operators.h"
#include "strategies/operators/step_graph.h"

namespace simgrad::strategies {

std::optional<Refusal> Operators::model_refusal(const Circumstances& of) const {
  if (of.model.takes_sparse_rows() || of.model.k_means())
    return Refusal{"kind", fmt::format("{} has no operators with dense gradients; take another model, or strategy "
                                       "single",
                                       of.model_kind)};
  return {};
}

std::optional<Refusal> Operators::placement_refusal(const Circumstances& of) const {
  const std::size_t count = models::operators_of(of.model, *of.problem).size();
  if (micro_batches > of.batch)
    return Refusal{"micro_batches", fmt::format("{} micro-batches of the {} row{} of a step; expected at most as many",
                                                micro_batches, of.batch, of.batch == 1 ? "" : "s")};
  if (placement == Placing::by_hand && devices.size() != count)
    return Refusal{"devices", fmt::format("{} devices for {} operators; expected a worker for each (`simgrad explain "
                                          "layers SCENARIO` shows the units)",
                                          devices.size(), count)};
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i] != std::floor(devices[i]) || devices[i] >= static_cast<double>(of.workers))
      return Refusal{"devices", fmt::format("device {} of operator {}; expected a worker from 0 to {}", devices[i], i,
                                            of.workers - 1)};
  if (placement == Placing::by_hand && tied(of.model, *of.problem, count) && devices.front() != devices.back())
    return Refusal{
        "devices",
        fmt::format("the first operator is on device {} and the last one on {}, but they share a matrix (tied "
                    "embedding); give them one device, or set model.tied = false",
                    devices.front(), devices.back())};
  const double ways = std::pow(static_cast<double>(of.workers), static_cast<double>(count));
  if (placement == Placing::exhaustive && ways > most_placements)
    return Refusal{
        "placement",
        fmt::format("placement = \"exhaustive\" has {:.2g} ways to give {} operators to {} devices; expected "
                    "at most {:.0e}; take heft, or fewer devices",
                    ways, count, of.workers, most_placements)};
  return {};
}

std::optional<Refusal> Operators::refusal(const Circumstances& of) const {
  if (auto why = model_refusal(of)) return why;
  if (!of.optimizer.elementwise())
    return Refusal{"kind", fmt::format("optimizer = \"{}\" needs whole matrices, but operators may have parts of them; "
                                       "take an optimizer that works element by element",
                                       of.optimizer_kind)};
  if (of.precision == training::Precision::float16)
    return Refusal{
        "kind",
        "precision = \"float16\" scales the loss, but the passes of operators have no scale; take precision = "
        "\"bfloat16\""};
  if (of.cluster.failures.any())
    return Refusal{"kind",
                   "cluster.failures beside operators: the operators of a rank would be lost with it; leave failures "
                   "out"};
  return placement_refusal(of);
}

std::string Operators::memory_refusal(const training::MemoryTerms& terms, const cluster::Options& cluster) const {
  const std::vector<models::ModelOperator> units = models::operators_of(*terms.model, *terms.problem);
  std::vector<double> bytes = memory_of_units(terms, units, static_cast<int>(micro_batches));
  double largest = 0.0, all = 0.0, sum = 0.0;
  for (int worker = 0; worker < terms.workers; ++worker) {
    const std::optional<double> its = memory_of(cluster, worker);
    if (!its) return {};
    largest = std::max(largest, *its);
    all += *its;
  }
  const auto text = [](double size) { return base::format_quantity(size, base::Unit::bytes); };
  if (tied(*terms.model, *terms.problem, units.size())) bytes.front() += std::exchange(bytes.back(), 0.0);
  for (std::size_t u = 0; u < units.size(); ++u) {
    sum += bytes[u];
    if (bytes[u] > largest)
      return fmt::format(
          "operator {} ({}) needs {}, but the largest device has {}; take a larger device, a smaller "
          "batch or model, or set training.memory = \"ignore\"",
          u, units[u].name, text(bytes[u]), text(largest));
  }
  if (placement == Placing::by_hand && devices.size() == units.size())
    for (int worker = 0; worker < terms.workers; ++worker) {
      double given = 0.0;
      for (std::size_t u = 0; u < units.size(); ++u) given += devices[u] == worker ? bytes[u] : 0.0;
      if (given > *memory_of(cluster, worker))
        return fmt::format(
            "the operators of worker {} need {}, but its device has {}; give some of them to another "
            "worker, or set training.memory = \"ignore\"",
            worker, text(given), text(*memory_of(cluster, worker)));
    }
  if (sum <= all) return {};
  return fmt::format(
      "the operators need {} together, but the devices have {}; take more devices, a smaller batch or "
      "model, or set training.memory = \"ignore\"",
      text(sum), text(all));
}

}  // namespace simgrad::strategies
