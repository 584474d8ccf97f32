/// Multimodal perceptron: a tower of layers for each source of a mixture, a trunk that all towers end in, and an output
/// layer for each source.
///
/// A row of source s goes through tower s, then through the trunk, then through head s, which gives a number (half the
/// squared error) or classes (softmax cross-entropy). A sample's loss is the sum over the sources of weight_s times the
/// mean loss of its rows of s. w is laid out as tower after tower, the trunk, head after head; each of them is laid out
/// as a perceptron's layers. Source s alone is a perceptron whose hidden layers are the tower's, one of `embedding`
/// units, and the trunk's. Source: J. Ngiam et al., Multimodal Deep Learning, 2011; L. Kaiser et al., One Model To
/// Learn Them All, 2017. Cost: that of source s's perceptron for each of its rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/perceptron.h"
#include "models/task_model.h"

namespace simgrad::models {

/// The layers of one source before the trunk.
struct Tower : base::Described {
  std::vector<double> hidden{32.0};  ///< units of each hidden layer; none: the features enter the embedding
  double weight = 1.0;               ///< of this source's loss

  void describe(base::Describer& d) override;
};

class MultimodalPerceptron final : public Model, public TaskModel {
 public:
  static constexpr base::About about{
      .kind = "multimodal_perceptron",
      .summary = "A tower of dense layers for each source of a mixture, a trunk that they share, a head for each",
      .cost = "for each row that of a perceptron of the tower's, the trunk's and the head's layers",
      .source = "J. Ngiam et al., Multimodal Deep Learning, 2011; L. Kaiser et al., One Model To Learn Them All, 2017"};

  std::vector<Tower> towers;         ///< in the order of the data's parts; none: one of the defaults for each
  double embedding = 32.0;           ///< units in which every tower ends
  std::vector<double> hidden{32.0};  ///< units of the trunk's hidden layers
  Activation activation = Activation::relu;

  void describe(base::Describer& d) override;
  Predicts predicts() const override { return Predicts::mixture; }
  std::string_view metric(const Problem&) const override { return {}; }
  bool constant_feature() const override { return false; }
  const MultimodalPerceptron* multimodal() const override { return this; }
  const TaskModel* task_model() const override { return this; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t parameters(const Problem& problem) const override;
  std::vector<Layer> layers(const Problem& problem) const override;
  /// Source s draws as its perceptron does, the trunk as source 0's; each source with a seed of its own.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;

  /// Task s is source s.
  std::int64_t tasks(const Problem& problem) const override;
  void task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                     double scale, std::span<double> gradient) const override;
  std::vector<Layer> task_layers(const Problem& problem, const Tasks& tasks) const override;
  bool tasks_have_rows() const override { return true; }
  double share_of_row(const Problem& problem, const Tasks& tasks) const override;
  ParameterRange shared(const Problem& problem) const override;
  /// Their towers, and their heads.
  std::vector<ParameterRange> own(const Problem& problem, const Tasks& tasks) const override;

  // A source alone.

  /// Tower, trunk and head of a source; and the shape of its rows.
  std::shared_ptr<const Perceptron> network(const Problem& problem, std::size_t source) const;
  static Problem problem_of(const Problem& problem, std::size_t source);
  /// The network's parameters out of w.
  std::vector<double> parameters_of(const Problem& problem, std::size_t source, std::span<const double> w) const;
  double weight(std::size_t source) const { return tower(source).weight; }

 private:
  struct Place;
  Tower tower(std::size_t source) const { return towers.empty() ? Tower() : towers.at(source); }
  Place place(const Problem& problem, std::size_t source) const;
  void add_gradient(const Problem& problem, const Samples& rows, std::size_t source, std::span<const double> w,
                    double scale, std::span<double> gradient) const;
};

}  // namespace simgrad::models
