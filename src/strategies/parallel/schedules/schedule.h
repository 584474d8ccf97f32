/// The orders in which the stages of a pipeline work.
#pragma once

#include <string>

#include "base/describe.h"
#include "base/registry.h"
#include "strategies/parallel/schedules/table.h"

namespace simgrad::strategies {

class PipelineSchedule : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// The table of a shape that is not refused. It does not depend on the pieces' times.
  virtual PipelineTable table(const PipelineShape& shape) const = 0;
  /// The reason why there is no table of this shape, and which numbers would do; empty if there is one.
  virtual std::string refusal(const PipelineShape& shape) const;
  /// Whether the backward of the inputs and of the weights are tasks of their own; else there is one backward.
  virtual bool splits_backward() const { return false; }
  /// Whether a stage updates its weights behind backwards of its own, without an end of the step common to all
  /// stages; the table then stands for the whole stream of micro-batches.
  virtual bool asynchronous() const { return false; }
  /// The versions of its weights that a stage holds at most, the newest one included.
  virtual int weight_versions(const PipelineShape&, int /*stage*/) const { return 1; }
};

/// naive, gpipe, 1f1b, interleaved_1f1b, zb_h1, zb_h2, pipedream, pipedream_2bw
const base::Registry<PipelineSchedule>& pipeline_schedules();

}  // namespace simgrad::strategies
