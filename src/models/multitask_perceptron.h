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

namespace simgrad::models {

/// Tasks first .. first + count - 1.
struct Tasks {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Parameters first .. first + count - 1 of w.
struct ParameterRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class MultitaskPerceptron final : public Model {
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

  static std::int64_t tasks(const Problem& problem) { return problem.classes; }
  /// Sets gradient = scale * sum over the rows of d (the loss of those tasks) / d w; it is zero for the other tasks'
  /// outputs.
  void task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                     double scale, std::span<double> gradient) const;
  double task_gradient_flops(const Problem& problem, std::int64_t rows, const Tasks& tasks) const;
  /// The parameters that all tasks share.
  ParameterRange shared(const Problem& problem) const;
  std::vector<ParameterRange> heads(const Problem& problem, const Tasks& tasks) const;

 private:
  Perceptron network() const;
  void add_task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                         double scale, std::span<double> gradient) const;
};

}  // namespace simgrad::models
