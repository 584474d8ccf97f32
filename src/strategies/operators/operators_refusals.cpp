/// The models, clusters and options with which operators cannot be placed.
#include <fmt/format.h>

#include <cmath>

#include "strategies/circumstances.h"
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
                   "cluster.failures with the strategy operators: the operators of a rank would be lost with it; leave "
                   "failures out, or give them to `simgrad capacity`, which simulates long trainings with failures"};
  return placement_refusal(of);
}

}  // namespace simgrad::strategies
