/// k-means: the loss of a row is half its squared distance to the nearest of k centres; w holds the centres, (k x d),
/// centre after centre. Where several centres are equally near, the row belongs to the first.
///
/// Gradient steps on minibatches are the k-means of Bottou and Bengio (Sculley's has a learning rate for each centre).
/// `assign` is the assignment step of Lloyd's algorithm, in which new centres are the means of their rows.
/// Source: S. P. Lloyd, Least squares quantization in PCM, 1982; L. Bottou, Y. Bengio, Convergence Properties of the
/// K-Means Algorithms, 1995; D. Sculley, Web-Scale K-Means Clustering, 2010.
/// Cost: 3 d k + 3 d flops a sample of a gradient, 3 d k + d of an assignment.
#pragma once

#include "models/model.h"

namespace simgrad::models {

class KMeans final : public Model {
 public:
  static constexpr base::About about{
      .kind = "k_means",
      .summary = "Clusters: the mean of |x - c|^2 / 2 to the nearest of k centres c; targets are ignored.",
      .cost = "3 d k + 3 d flops a sample",
      .source =
          "S. P. Lloyd, Least squares quantization in PCM, 1982; L. Bottou, Y. Bengio, Convergence Properties of "
          "the K-Means Algorithms, 1995"};

  std::int64_t clusters = 3;

  /// Has neither a bias, which all distances would share, nor a penalty, which would pull centres to the origin.
  void describe(base::Describer& d) override;

  Predicts predicts() const override { return Predicts::cluster; }
  const KMeans* k_means() const override { return this; }
  std::string_view metric(const Problem&) const override { return {}; }
  std::int64_t parameters(const Problem& problem) const override { return clusters * problem.features; }
  std::vector<Layer> layers(const Problem& problem) const override;
  /// Draws each number from N(0, 1), the scale of standardised features.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;

  /// Length of the sums that `assign` fills.
  std::int64_t assignment_size(const Problem& problem) const { return clusters * (problem.features + 1); }
  /// Multiplications and additions of assigning so many rows.
  double assignment_flops(const Problem& problem, std::int64_t rows) const;
  /// Assigns each row to its nearest centre: for each centre, `sums` holds the sum of its rows, then their number.  w:
  /// (k x d), sums: (k x (d + 1)).  The sums of a data set's parts add up.
  void assign(const Problem& problem, const Samples& rows, std::span<const double> w, std::span<double> sums) const;
};

/// Sets each new centre to the mean of its rows; a centre without rows stays.  w, centres: (k x d), sums as above.
void centres_of(std::span<const double> w, std::span<const double> sums, std::span<double> centres);

}  // namespace simgrad::models
