#include "models/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/multitask_operators.h"
#include "models/whole_operator.h"

namespace simgrad::models {

namespace {

/// The name of a unit: what its layers' names have in common, or its number.
std::string name_of(const std::vector<Layer>& layers, std::size_t first, std::size_t count, std::size_t unit) {
  const std::string& name = layers[first].name;
  if (name.empty()) return fmt::format("unit {}", unit);
  return count == 1 ? name : name.substr(0, name.find(':'));
}

/// A chain: each unit reads the output of the one before.
std::vector<ModelOperator> chain(const CutModel& cut, const Problem& problem, const std::vector<Layer>& layers) {
  std::vector<ModelOperator> all;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t end = first;
    while (end < layers.size() && layers[end].unit == layers[first].unit) ++end;
    const std::int64_t unit = layers[first].unit;
    const Segment last = cut.segments(problem, {.first_unit = unit, .end_unit = unit + 1}).back();
    ModelOperator& model_operator = all.emplace_back();
    model_operator.name = name_of(layers, first, end - first, all.size() - 1);
    model_operator.first_layer = first;
    model_operator.layers = end - first;
    model_operator.output_numbers = last.exit;
    model_operator.output_bytes = last.exit_bytes;
    if (all.size() > 1) model_operator.inputs = {all.size() - 2};
    first = end;
  }
  return all;
}

}  // namespace

std::shared_ptr<const CutModel> cut_into_operators(const Model& model) {
  if (const CutModel* const cut = model.cut()) return {std::shared_ptr<const void>(), cut};
  if (const MultitaskPerceptron* const tasks = model.multitask())
    return std::make_shared<const MultitaskOperators>(*tasks);
  return std::make_shared<const WholeOperator>(model);
}

std::vector<ModelOperator> operators_of(const Model& model, const Problem& problem) {
  const std::shared_ptr<const CutModel> cut = cut_into_operators(model);
  if (const auto* const dataflow = dynamic_cast<const Dataflow*>(cut.get())) return dataflow->operators(problem);
  const std::vector<Layer> layers = model.layers(problem);
  return chain(*cut, problem, layers);
}

}  // namespace simgrad::models
