/// Multi-layer perceptron: dense layers, each hidden one followed by relu or tanh, and half the squared error of one
/// output or the softmax cross-entropy of one output a class.
///
/// a_0 = x, z_l = W_l a_(l-1) + b_l, a_l = f(z_l), and the outputs are the last z. w holds layer after layer: W_l, (out
/// x in) row by row, then b_l. (PyTorch's Linear keeps them in the same order.) Rows are taken 64 at a time: a layer is
/// then three matrix products, one forwards and two backwards. Source: D. E. Rumelhart, G. E. Hinton, R. J. Williams,
/// Learning representations by back-propagating errors, 1986. Cost: 6 in out flops a sample and layer, 4 for the first,
/// whose inputs need no gradient.
#pragma once

#include <vector>

#include "models/cut_model.h"
#include "models/model.h"

namespace simgrad::models {

enum class Activation { relu, tanh };
struct OutputBlock;

/// The options `hidden` and `activation`.  without: the refusal of no hidden layer.
void describe_hidden_layers(base::Describer& d, std::vector<double>& hidden, Activation& activation,
                            std::string_view without =
                                "a perceptron has at least one hidden layer; without any it is "
                                "least_squares or softmax_regression");

/// Cut between layers. Tensor ranks have some of a layer's units, and gather all units' numbers. Two layers of one
/// chunk can be a pair: a rank has some units of the first, and of the second the products with these alone, for all
/// units, so that one sum serves both (M. Shoeybi et al., Megatron-LM, 2019, section 3). Pairs are made where they send
/// less. Outputs that do not divide, and are in no pair, are computed by every rank; shares by weights need an output
/// for each rank. At a border between layers a
/// forward pass has activations, a backward pass derivatives by z, what an activation is computed from: the layer above
/// has both, so that no layer computes its outputs again.
class Perceptron final : public Model, public CutModel {
 public:
  static constexpr base::About about{
      .kind = "perceptron",
      .summary = "Dense layers with relu or tanh between them; one output (squared error) or one a class (softmax).",
      .cost = "6 in out flops a sample and layer, 4 in out for the first",
      .source =
          "D. E. Rumelhart, G. E. Hinton, R. J. Williams, Learning representations by back-propagating errors, "
          "1986"};
  enum class Outputs { as_the_data, number, classes };

  std::vector<double> hidden{32.0};  ///< units of each hidden layer: whole numbers
  Activation activation = Activation::relu;
  Outputs outputs = Outputs::as_the_data;

  Perceptron() { bias = true; }
  void describe(base::Describer& d) override;

  Predicts predicts() const override;
  /// No constant feature: every layer has a bias of its own.
  bool constant_feature() const override { return false; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t parameters(const Problem& problem) const override;
  /// Counts the matrix products. Left out: biases, activations, the outputs' residuals (all of the order of the units),
  /// and the penalty.
  std::vector<Layer> layers(const Problem& problem) const override;
  /// Draws the weights. With relu they are normal of variance 2 / in (K. He et al., Delving Deep into Rectifiers,
  /// 2015), with tanh uniform of variance 2 / (in + out) (X. Glorot, Y. Bengio, Understanding the difficulty of
  /// training deep feedforward neural networks, 2010). Biases are 0.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  /// Loss and metric; among equal outputs the first class is predicted.
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;

  const CutModel* cut() const override { return this; }
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  /// Hidden units, and outputs that ranks share, of all layers together.
  std::vector<SharedUnits> tensor_units(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;
  void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
           const StepInputs& inputs, std::span<double> result) const override;

  /// The widths of all layers: the features, the hidden layers' units, the outputs.
  std::vector<std::int64_t> widths(const Problem& problem) const;
  /// Replaces a block's outputs by the derivatives of scale times the loss with respect to them.
  void derive_loss(const Problem& problem, const Samples& rows, double scale, const OutputBlock& block) const;

  struct LayerShare;

 private:
  void run_layer(const Problem& problem, const LayerShare& share, bool backward, std::size_t step,
                 const StepInputs& inputs, std::span<double> result) const;
  void run_pair(const Problem& problem, const LayerShare& lower, const LayerShare& upper, bool backward,
                std::size_t step, const StepInputs& inputs, std::span<double> result) const;
};

}  // namespace simgrad::models
