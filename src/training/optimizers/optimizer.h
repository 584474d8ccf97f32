/// How a gradient becomes an update.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/describe.h"
#include "base/registry.h"
#include "models/model.h"
#include "training/state.h"

namespace simgrad::training {

/// An update of some rows of a table alone, by an optimizer that leaves parameters without a gradient as they are.
struct RowUpdate {
  std::optional<double> epsilon = {};  ///< adagrad's, beside its sums of squares; none: sgd, which has no vectors
};

/// One file a kind in optimizers/. Conventions and defaults are those of torch.optim.
class Optimizer : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Flops a parameter and update: additions, multiplications, divisions and roots, one each.
  virtual double flops() const = 0;
  /// Whether a parameter's update depends on its own gradients alone, so that parts of w can be updated apart.
  virtual bool elementwise() const { return true; }
  /// The update of single rows; nothing where parameters without a gradient move, too.
  virtual std::optional<RowUpdate> row_update() const { return {}; }
  /// How many vectors the state has besides w, each as long as w: averages of gradients, sums of squares. All begin at
  /// 0.
  virtual int vectors() const { return 0; }
  /// The vectors, and the count of their updates, as they are before a first one.
  void start(State& state) const;
  /// state.w and state.optimizer after one update with gradient g at learning rate lr; the step is the caller's.
  /// layers: of the whole w. Element-wise optimizers ignore them, and take a part of w with its part of g.
  virtual void update(State& state, const values::Tensor& g, double lr,
                      std::span<const models::Layer> layers) const = 0;
};

/// The optimizers a scenario can name.
const base::Registry<Optimizer>& optimizers();

}  // namespace simgrad::training
