/// Wide and deep: s = a linear model of the row's features, plus dense relu layers on the embeddings of its fields; the
/// logistic loss.
///
/// Every row has one entry a field; the embedding e_i (k numbers) of each, times its value, stand side by side as the
/// deep part's F k inputs. A key's numbers are the wide w_i, then e_i1 .. e_ik; the dense parameters are the layers',
/// each W (out x in), row by row, then b. Source: H.-T. Cheng et al., Wide and Deep Learning for Recommender Systems,
/// DLRS 2016, equation 3. Cost: 4 + 3 k flops an entry (4 for the wide weight, k inputs made, k their gradients scaled
/// and added), and 6 in out a row and dense layer.
#pragma once

#include <vector>

#include "models/cut_model.h"
#include "models/dense_layers.h"
#include "models/sparse_model.h"

namespace simgrad::models {

/// Cut among expert ranks: rank r of e has the keys from floor(r K / e) on of all K, and every rank the dense layers. A
/// rank sends its samples' keys to the ranks that have them, and gets the keys' numbers back. Which rank has a key does
/// not depend on the key's field, so a sample has F places on each rank, most of them empty: e times as many numbers
/// travel as in a model with a table for each field (dlrm).
class WideAndDeep final : public SparseModel, public CutModel {
 public:
  static constexpr base::About about{
      .kind = "wide_and_deep",
      .summary = "Two classes on sparse rows with fields: a linear model, plus dense layers on embeddings of the keys.",
      .cost = "4 + 3 k flops an entry (k numbers an embedding), 6 in out a row and dense layer",
      .source = "H.-T. Cheng et al., Wide and Deep Learning for Recommender Systems, 2016"};

  std::int64_t embedding = 8;
  std::vector<double> hidden{32.0, 16.0};

  WideAndDeep() { bias = true; }
  void describe(base::Describer& d) override;
  bool constant_feature() const override { return false; }
  std::string refusal(const Problem& problem) const override;
  std::int64_t width() const override { return 1 + embedding; }
  std::int64_t dense_parameters(const Problem& problem) const override;
  /// Draws embeddings from N(0, 0.01), a standard deviation of 0.1, and dense weights from N(0, 2 / in) (K. He et al.,
  /// Delving Deep into Rectifiers, 2015); the other parameters are 0.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                    Gradient gradient) const override;

  const CutModel* cut() const override { return this; }
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  using SparseModel::layers;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  /// The table, then the dense layers. Between them a sample has F k inputs of the deep part, and the wide score.
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;
  void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
           const StepInputs& inputs, std::span<double> result) const override;

 protected:
  void compute_scores(const Problem& problem, const Samples& rows, Parameters at, std::span<double> s) const override;
  RowFlops row_flops(const Problem& problem) const override;
  std::vector<Layer> dense_layers(const Problem& problem, std::int64_t first) const override;

 private:
  DenseShape shape(const Problem& problem) const;
  /// The deep part's inputs.  Returns (rows, F k).
  std::vector<double> inputs(const Problem& problem, const Samples& rows, const double* table) const;
  double wide_score(const SparseRow& row, const double* table) const;
  /// A cut model's dense layers and loss.  result: (rows, F k + 1) derivatives by what comes in, then the gradient,
  /// with the penalty on the first rank.
  void deep_backward(const Problem& problem, const Chunk& chunk, const StepInputs& inputs,
                     std::span<double> result) const;
};

}  // namespace simgrad::models
