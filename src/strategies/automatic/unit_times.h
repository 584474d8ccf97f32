/// The time of a micro-batch on one unit of a cut model, its exchanges among the ranks that share it included.
///
/// Sums in a stage are what a split of its units costs: M. Shoeybi et al., "Megatron-LM: Training Multi-Billion
/// Parameter Language Models Using Model Parallelism", 2019. They depend on the links of the ranks that share a unit.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/automatic/shared_units.h"
#include "strategies/automatic/stage_devices.h"
#include "training/learning/layer_times.h"
#include "training/memory/formula.h"

namespace simgrad::strategies {

/// Seconds of a micro-batch, exchanges included, on the slowest of a stage's devices.
struct UnitTimes {
  double forward_s = 0.0;
  double input_backward_s = 0.0;  ///< what is computed again counts here
  double weight_backward_s = 0.0;
  double exchanges_s = 0.0;  ///< of the three above: neither computing nor beside it
  double sums_s = 0.0;       ///< for each gradient of the strategy: of parameters that several ranks of a replica have

  double passes_s() const { return forward_s + input_backward_s + weight_backward_s; }
  UnitTimes& operator+=(const UnitTimes& other) { return add(other, 1.0); }
  UnitTimes& operator-=(const UnitTimes& other) { return add(other, -1.0); }

 private:
  UnitTimes& add(const UnitTimes& other, double times) {
    forward_s += times * other.forward_s;
    input_backward_s += times * other.input_backward_s;
    weight_backward_s += times * other.weight_backward_s;
    exchanges_s += times * other.exchanges_s;
    sums_s += times * other.sums_s;
    return *this;
  }
};

/// terms: of a rank; `rows` are those of a micro-batch.  passes: of the mean micro-batch of a step.
UnitTimes times_of(const SharedUnit& unit, const StageDevices& stage, const models::Shares& shares,
                   const training::MemoryTerms& terms, const training::ParameterPasses& passes);

}  // namespace simgrad::strategies
