#include "strategies/operators/step_graph.h"

#include <algorithm>
#include <cmath>

#include "strategies/operators/cluster_devices.h"
#include "training/learning/batches.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using models::ModelOperator;
using training::MemoryTerms;
using training::MicroBatch;

StepOperator StepNumbers::at(std::size_t number) const {
  const std::size_t micro = number / (2 * units_), place = number % (2 * units_);
  const bool backward = place >= units_;
  return {backward ? 2 * units_ - 1 - place : place, static_cast<int>(micro), backward};
}

std::vector<std::vector<std::size_t>> readers_of(const std::vector<ModelOperator>& units) {
  std::vector<std::vector<std::size_t>> readers(units.size());
  for (std::size_t u = 0; u < units.size(); ++u)
    for (const std::size_t input : units[u].inputs) readers[input].push_back(u);
  return readers;
}

bool tied(const models::Model& model, const models::Problem& problem, std::size_t units) {
  const auto last = static_cast<std::int64_t>(units) - 1;
  return units > 1 &&
         models::cut_into_operators(model)->tied(problem, {.first_unit = last, .end_unit = last + 1}).count > 0;
}

namespace {

/// The layers of the model as it is cut.
std::vector<models::Layer> cut_layers(const MemoryTerms& terms, std::size_t units) {
  const auto cut = models::cut_into_operators(*terms.model);
  return cut->layers(*terms.problem, {.first_unit = 0, .end_unit = static_cast<std::int64_t>(units)});
}

/// Costs of a step's operators.
class StepCosts {
 public:
  StepCosts(const MemoryTerms& terms, const std::vector<ModelOperator>& units, int micro_batches)
      : terms_(terms),
        units_(units),
        readers_(readers_of(units)),
        numbers_(units.size(), micro_batches),
        tied_(tied(*terms.model, *terms.problem, units.size())),
        layers_(cut_layers(terms, units.size())),
        memory_(memory_of_units(terms, units, micro_batches)),
        devices_(terms, layers_) {}

  PlacementProblem problem() const {
    PlacementProblem problem{.operators = {}, .devices = devices_.devices(terms_.fits_memory)};
    for (std::size_t number = 0; number < numbers_.count(); ++number)
      problem.operators.push_back(costs(numbers_.at(number)));
    return problem;
  }

 private:
  std::int64_t rows(const StepOperator& op) const {
    return MicroBatch{op.micro, numbers_.micro_batches()}.count(terms_.batch);
  }
  double output_bytes(std::size_t unit, std::int64_t rows) const {
    const double number = terms_.bytes.wire;
    const auto count = static_cast<double>(rows);
    return number * std::round(count * units_[unit].output_numbers + count * units_[unit].output_bytes / number);
  }

  OperatorCost costs(const StepOperator& op) const {
    const ModelOperator& unit = units_[op.unit];
    OperatorCost cost{.name = unit.name + (op.backward ? ", backward" : ""), .seconds = {}};
    const bool updates = !op.backward && op.micro == 0, joins = tied_ && op.unit + 1 == units_.size();
    double parameters = 0.0;
    for (std::size_t l = unit.first_layer; l < unit.first_layer + unit.layers; ++l)
      parameters += static_cast<double>(layers_[l].count);
    for (int d = 0; d < devices_.count(); ++d) {
      double seconds = 0.0;
      for (std::size_t l = unit.first_layer; l < unit.first_layer + unit.layers; ++l)
        seconds += devices_.pass_s(d, l, rows(op), op.backward);
      cost.seconds.push_back(seconds);
      if (updates) cost.update_s.push_back(devices_.update_s(d, parameters));
    }
    if (!updates || joins)
      cost.with = numbers_.of({updates ? 0 : op.unit, 0, false});
    else
      add_unit(cost, op.unit);
    if (updates && !joins && tied_ && op.unit == 0) add_unit(cost, units_.size() - 1);
    cost.inputs = inputs(op);
    return cost;
  }
  /// Adds the memory and the flops that a unit asks of the operator's device.
  void add_unit(OperatorCost& cost, std::size_t unit) const {
    cost.memory_bytes += memory_[unit];
    for (std::size_t l = units_[unit].first_layer; l < units_[unit].first_layer + units_[unit].layers; ++l)
      cost.flops += layers_[l].forward_flops + layers_[l].backward_flops;
  }
  std::vector<OperatorCost::Input> inputs(const StepOperator& op) const {
    std::vector<OperatorCost::Input> all;
    if (!op.backward) {
      for (const std::size_t input : units_[op.unit].inputs)
        all.push_back({numbers_.of({input, op.micro, false}), output_bytes(input, rows(op))});
      return all;
    }
    all.push_back({numbers_.of({op.unit, op.micro, false}), 0.0});
    for (const std::size_t reader : readers_[op.unit])
      all.push_back({numbers_.of({reader, op.micro, true}), output_bytes(op.unit, rows(op))});
    return all;
  }

  const MemoryTerms& terms_;
  const std::vector<ModelOperator>& units_;
  std::vector<std::vector<std::size_t>> readers_;
  StepNumbers numbers_;
  bool tied_;  ///< the last unit is where the first one is
  std::vector<models::Layer> layers_;
  std::vector<double> memory_;
  ClusterDevices devices_;
};

}  // namespace

std::vector<double> memory_of_units(const MemoryTerms& terms, const std::vector<ModelOperator>& units,
                                    int micro_batches) {
  using training::Recompute;
  const std::vector<models::Layer> layers = cut_layers(terms, units.size());
  const double a_parameter = terms.bytes.parameter + terms.bytes.kept_gradient + terms.optimizer_bytes();
  const auto rows = static_cast<double>(terms.batch);
  const auto rows_at_once = static_cast<double>(MicroBatch{0, micro_batches}.count(terms.batch));
  std::vector<double> bytes;
  for (const ModelOperator& unit : units) {
    double sum = 0.0;
    for (std::size_t l = unit.first_layer; l < unit.first_layer + unit.layers; ++l) {
      const double kept = training::kept_bytes(layers, l, terms.recompute, terms.bytes);
      const double whole = training::kept_bytes(layers, l, Recompute::none, terms.bytes) + layers[l].backward_bytes;
      sum += static_cast<double>(layers[l].count) * a_parameter + rows * kept + rows_at_once * (whole - kept);
    }
    bytes.push_back(sum);
  }
  return bytes;
}

PlacementProblem step_problem(const MemoryTerms& terms, const std::vector<ModelOperator>& units, int micro_batches) {
  return StepCosts(terms, units, micro_batches).problem();
}

}  // namespace simgrad::strategies
