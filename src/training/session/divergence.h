/// The rule by which a loss that has grown beyond every use counts as diverged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace simgrad::training {

/// Judges the losses of a training's evaluations.
///
/// A loss is beyond use above 1e3 times the reference: the larger of the first loss and the loss of parameters that are
/// all 0, which predict nothing. The second keeps a training that begins near its optimum, with a first loss near 0,
/// from diverging at a harmless loss; it is asked for only when the first loss alone is exceeded. A training whose last
/// loss is beyond use has diverged, by whichever rule it ends; its step of divergence is that of the first of the last
/// losses that are all beyond use or not finite. It is ended in the third evaluation in a row that is
/// above 1e12 times the reference and above the one before, so that a peak from which it recovers does not end it.
class Divergence {
 public:
  static constexpr double useless = 1e3;
  static constexpr double hopeless = 1e12;
  static constexpr int evaluations = 3;

  explicit Divergence(std::function<std::optional<double>()> loss_of_zeros)
      : loss_of_zeros_(std::move(loss_of_zeros)) {}

  /// Takes the finite loss of the next evaluation. Returns whether the training is to end with it.
  bool ends(std::int64_t step, double loss);
  /// Returns the step of the first of the last losses that are all beyond use; nothing if the last loss is of use.
  std::optional<std::int64_t> beyond_use_since() const { return beyond_use_since_; }
  double last() const { return last_; }
  /// The first loss.
  double first() const { return first_.value_or(0.0); }

 private:
  bool exceeds(double loss, double factor);

  std::function<std::optional<double>()> loss_of_zeros_;
  std::optional<double> first_;
  std::optional<double> reference_;
  double last_ = 0.0;
  std::optional<std::int64_t> beyond_use_since_;
  int growing_ = 0;  ///< evaluations in a row beyond hope, each above the one before
};

}  // namespace simgrad::training
