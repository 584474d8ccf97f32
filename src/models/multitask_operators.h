/// A multi-task perceptron as operators: one for each shared layer, and behind the last one for each task's output.
///
/// Each output reads the last shared layer, so that outputs on different devices are computed at one time.
#pragma once

#include <vector>

#include "models/cut_model.h"
#include "models/multitask_perceptron.h"
#include "models/operators.h"

namespace simgrad::models {

class MultitaskOperators final : public CutModel, public Dataflow {
 public:
  /// model: outlives this object.
  explicit MultitaskOperators(const MultitaskPerceptron& model) : model_(model) {}

  std::vector<ModelOperator> operators(const Problem& problem) const override;
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;
  void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
           const StepInputs& inputs, std::span<double> result) const override;

 private:
  std::vector<Layer> all_layers(const Problem& problem) const;
  std::int64_t shared_layers() const { return static_cast<std::int64_t>(model_.hidden.size()); }
  std::int64_t units(const Problem& problem) const { return shared_layers() + model_.tasks(problem); }

  const MultitaskPerceptron& model_;
};

}  // namespace simgrad::models
