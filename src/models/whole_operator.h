/// A model that cannot be cut, as one operator.
#pragma once

#include <vector>

#include "models/cut_model.h"
#include "models/operators.h"

namespace simgrad::models {

class WholeOperator final : public CutModel, public Dataflow {
 public:
  /// model: outlives this object.
  explicit WholeOperator(const Model& model) : model_(model) {}

  std::vector<ModelOperator> operators(const Problem& problem) const override;
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;
  void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
           const StepInputs& inputs, std::span<double> result) const override;

 private:
  const Model& model_;
};

}  // namespace simgrad::models
