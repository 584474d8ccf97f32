/// Models of several tasks that share parameters, so that groups of ranks can train one task each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/model.h"

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

class TaskModel {
 public:
  virtual ~TaskModel() = default;
  virtual std::int64_t tasks(const Problem& problem) const = 0;
  /// Sets gradient = scale * sum over the rows of d (the loss of those tasks) / d w; it is zero for the parameters that
  /// other tasks alone have.
  virtual void task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks, std::span<const double> w,
                             double scale, std::span<double> gradient) const = 0;
  /// The layers that those tasks' gradients pass through, in forward order, with these tasks' part of the work; each
  /// has as many parameters as the tasks have there, and begins where the one before ends.
  virtual std::vector<Layer> task_layers(const Problem& problem, const Tasks& tasks) const = 0;
  /// Flops of those tasks' gradient on so many rows.
  double task_gradient_flops(const Problem& problem, std::int64_t rows, const Tasks& tasks) const;
  /// Whether each task has rows of its own, as the sources of a mixture have.
  virtual bool tasks_have_rows() const { return false; }
  /// The share of a sample's bytes that those tasks read.
  virtual double share_of_row(const Problem&, const Tasks&) const { return 1.0; }
  /// The parameters that all tasks share.
  virtual ParameterRange shared(const Problem& problem) const = 0;
  /// The parameters that those tasks alone have, ascending.
  virtual std::vector<ParameterRange> own(const Problem& problem, const Tasks& tasks) const = 0;
};

}  // namespace simgrad::models
