/// DLRM, a recommendation model, for timing-only runs.
#pragma once

#include <vector>

#include "models/profiles/profiled_model.h"

namespace simgrad::models {

/// A sample has `dense_features` numbers, and in each of T tables P look-ups, whose rows of D numbers are added up. The
/// bottom perceptron makes D numbers of the dense features. The interaction is the dot products of all pairs among
/// these T + 1 vectors: one product, (T + 1) x D by D x (T + 1), of which the half above the diagonal is dropped. The
/// bottom's D numbers and the (T + 1) T / 2 dot products go into the top perceptron, which has one output, with the
/// logistic loss.
///
/// Layers are the tables, the bottom's layers, the interaction, and the top's layers; all are units but the
/// interaction, which is in the unit of the top's first layer. Behind the tables T D numbers of a sample pass beside
/// the bottom's.
///
/// Cut among expert ranks, each has whole tables, and all have both perceptrons. Tables are dealt from the largest on,
/// each to the rank with fewest rows so far, at most C = ceil(T / e) to a rank; rank 0 has most rows. A rank sends its
/// samples' indices, C P to each rank, and gets back C sums of D numbers from each; in the backward pass it sends C D
/// derivatives to each. Places of a rank with fewer than C tables are empty. An index travels as one number of the
/// run's format. As in all models, an update is of all parameters, here of all rows of the tables.
class Dlrm final : public ProfiledModel {
 public:
  static constexpr base::About about{
      .kind = "dlrm",
      .summary =
          "DLRM, timing only: embedding tables, two perceptrons, and dot products of all pairs of vectors; clicks.",
      .cost =
          "a sample: 6 in out flops a dense layer (4 the first), 6 (T + 1)^2 D the dot products, 2 T P D the look-ups, "
          "for T tables with P look-ups each and rows of D numbers",
      .source =
          "M. Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems, 2019"};

  std::int64_t dense_features = 13;
  std::int64_t tables = 26;
  std::vector<double> rows{1e6};  ///< of every table, or of each
  std::int64_t embedding = 16;
  std::int64_t look_ups = 1;
  std::vector<double> bottom{512.0, 256.0, 64.0};
  std::vector<double> top{512.0, 256.0};

  void describe(base::Describer& d) override;
  /// 4 bytes a dense feature, an index and the target.
  std::int64_t sample_bytes(const Problem&) const override { return 4 * (dense_features + tables * look_ups + 1); }
  std::vector<Layer> profile() const override;

  std::string refusal(const Problem& problem, const Shares& shares) const override;
  using ProfiledModel::layers;
  using ProfiledModel::refusal;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;

  std::int64_t rows_of(std::int64_t table) const;
  /// The tables of each of so many ranks, in their order.
  std::vector<std::vector<std::int64_t>> dealt(int ranks) const;

 protected:
  std::string_view kind() const override { return about.kind; }

 private:
  Layer tables_layer(std::int64_t tables_here, std::int64_t rows_here, double share_of_samples) const;
  Layer interaction() const;
  /// Numbers of a sample that go through the border before a unit.
  double border(const std::vector<Layer>& all, std::int64_t unit) const;
  std::int64_t pairs() const { return tables * (tables + 1) / 2; }
};

}  // namespace simgrad::models
