/// Reductions of the workers' gradients number by number.
///
/// Source: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, "Byzantine-Robust Distributed Learning: Towards Optimal
/// Statistical Rates", ICML 2018, definitions 1 and 2. Selection: C. A. R. Hoare, "Algorithm 65: Find", 1961, which
/// compares 2 (1 + ln 2) P = 3.39 P times for a median, on average (D. E. Knuth, The Art of Computer Programming 3,
/// 5.2.2).
/// Cost for P gradients of n numbers: mean P n (a sum, whose parts have their weights already); sum, min and max P n;
/// median 3.39 P n; trimmed mean with k numbers left out at either end 6.77 P n + (P - 2 k) n.
#pragma once

#include "strategies/reductions/reduction.h"

namespace simgrad::strategies {

struct MeanByRows final : Reduction {
  static constexpr base::About about{.kind = "mean",
                                     .summary = "their mean by rows: the gradient of the mean loss over all rows",
                                     .cost = "P n flops for n numbers of P workers",
                                     .source = ""};

  bool adds() const override { return true; }
  values::Kernel kernel() const override;
};

struct SumOfMeans final : Reduction {
  static constexpr base::About about{
      .kind = "sum",
      .summary =
          "the sum of the workers' mean gradients, without a division by their number: with equal rows P times the "
          "mean, as if the learning rate were P times as large",
      .cost = "2 P n flops for n numbers of P workers",
      .source =
          "A. Sergeev, M. Del Balso, Horovod: Fast and Easy Distributed Deep Learning in TensorFlow, 2018 "
          "(op = Sum)"};

  bool lies_within() const override { return false; }
  values::Kernel kernel() const override;
};

struct Minimum final : Reduction {
  static constexpr base::About about{.kind = "min",
                                     .summary = "the smallest of the workers' numbers at each place",
                                     .cost = "2 P n flops for n numbers of P workers",
                                     .source = ""};

  values::Kernel kernel() const override;
};

struct Maximum final : Reduction {
  static constexpr base::About about{.kind = "max",
                                     .summary = "the largest of the workers' numbers at each place",
                                     .cost = "2 P n flops for n numbers of P workers",
                                     .source = ""};

  values::Kernel kernel() const override;
};

struct Median final : Reduction {
  static constexpr base::About about{
      .kind = "median",
      .summary =
          "the median of the workers' numbers at each place, of an even number of workers the mean of the two in the "
          "middle: fewer than half of the workers may send anything",
      .cost = "4.39 P n flops for n numbers of P workers; the server holds P gradients",
      .source = "D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, Byzantine-Robust Distributed Learning, 2018"};

  bool holds_all() const override { return true; }
  double flops(std::int64_t gradients, std::int64_t n) const override;
  values::Kernel kernel() const override;
};

struct TrimmedMean final : Reduction {
  static constexpr base::About about{
      .kind = "trimmed_mean",
      .summary =
          "the mean of the workers' numbers at each place without the largest and the smallest ones: a share `trim` of "
          "the workers may send anything",
      .cost = "(8.77 P - 2 k) n flops for n numbers of P workers, k = trim P; the server holds P gradients",
      .source = "D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, Byzantine-Robust Distributed Learning, 2018"};

  double trim = 0.2;

  void describe(base::Describer& d) override;
  bool holds_all() const override { return true; }
  double flops(std::int64_t gradients, std::int64_t n) const override;
  values::Kernel kernel() const override;
  std::vector<std::uint64_t> key() const override;
  std::string warning(std::int64_t gradients) const override;
};

}  // namespace simgrad::strategies
