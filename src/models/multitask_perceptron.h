/// Multi-task perceptron: hidden layers that all tasks share, and one output for each task.
///
/// The tasks are the data's classes, each against the rest: output t is the logit of "this row is of class t", and a
/// row's loss is the sum of the tasks' cross-entropies. w is laid out as the perceptron's: the shared layers, then the
/// last layer's weights (a row a task) and its biases (one a task). Source: R. Caruana, Multitask Learning, Machine
/// Learning, 1997. Cost of one task: 6 in out flops a sample and shared layer (4 for the first) and 6 in for its
/// output.
#pragma once

#include <vector>

#include "models/model.h"
#include "models/perceptron.h"
#include "models/task_model.h"

namespace simgrad::models {

class MultitaskPerceptron final : public Model, public TaskModel {
 public:
  static constexpr base::About about{
      .kind = "multitask_perceptron",
      .summary =
          "Hidden layers that all tasks share, one output for each task; task t: is a row of class t? (logistic)",
      .cost = "6 in out flops a sample and layer, 4 in out for the first; for one task only its part of the last layer",
      .source = "R. Caruana, Multitask Learning, 1997"};

  std::vector<double> hidden{32.0};
  Activation activation = Activation::relu;

  void describe(base::Describer& d) override;
  Predicts predicts() const override { return Predicts::classes; }
  const MultitaskPerceptron* multitask() const override { return this; }
  const TaskModel* task_model() const override { return this; }
  bool constant_feature() const override { return false; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t parameters(const Problem& problem) const override { return network().parameters(problem); }
  std::vector<Layer> layers(const Problem& problem) const override { return network().layers(problem); }
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override {
    network().initial_values(problem, seed, w);
  }
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  /// The loss, summed over tasks, and the accuracy: a row is right if its own class has the largest output.
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;

  std::int64_t tasks(const Problem& problem) const override { return problem.classes; }
  void task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                     double scale, std::span<double> gradient) const override;
  std::vector<Layer> task_layers(const Problem& problem, const Tasks& tasks) const override;
  ParameterRange shared(const Problem& problem) const override;
  /// The tasks' rows of the last layer's weights, and their biases.
  std::vector<ParameterRange> own(const Problem& problem, const Tasks& tasks) const override;

 private:
  Perceptron network() const;
  void add_task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                         double scale, std::span<double> gradient) const;
};

}  // namespace simgrad::models
