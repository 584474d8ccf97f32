#include "models/whole_operator.h"

namespace simgrad::models {

std::vector<ModelOperator> WholeOperator::operators(const Problem& problem) const {
  return {{.name = "model", .layers = model_.layers(problem).size()}};
}

std::string WholeOperator::refusal(const Problem&, const Shares&) const {
  return "the model is one operator; set tensor, context and expert to 1";
}

std::vector<Layer> WholeOperator::layers(const Problem& problem, const Chunk&) const {
  std::vector<Layer> all = model_.layers(problem);
  for (Layer& layer : all) layer.unit = 0;
  return all;
}

std::vector<Segment> WholeOperator::segments(const Problem& problem, const Chunk&) const {
  return {{.layers = model_.layers(problem).size(),
           .count = model_.parameters(problem),
           .backward = {{.gradients = true}}}};
}

std::vector<ParameterStretch> WholeOperator::parameters_of(const Problem& problem, const Chunk&) const {
  return {{0, model_.parameters(problem)}};
}

std::vector<ParameterStretch> WholeOperator::replicated(const Problem&, const Chunk&, Among) const { return {}; }

void WholeOperator::run(const Problem& problem, const Chunk&, std::size_t, bool, std::size_t, const StepInputs& inputs,
                        std::span<double> result) const {
  model_.gradient_in(inputs.format, problem, inputs.rows, inputs.w, inputs.scale, inputs.penalty_scale, result);
}

}  // namespace simgrad::models
