/// A scenario that answers requests, [serving], in place of training.
#pragma once

#include "experiment/plan/settings.h"
#include "scenario/document.h"
#include "serving/fleet.h"
#include "strategies/strategy.h"

namespace simgrad::experiment {

inline constexpr const char* serving_kind = "serving";

/// Stands where a training has a strategy. Its ranks run no program of a worker.
class ServingRun final : public strategies::Strategy {
 public:
  void operator()(strategies::Worker&) const override;
};

/// Whether the data's rows are shuffled: as the partition says, but prompts come in the file's order.
bool shuffles_rows(const Settings& settings);

/// The document with what a training must have and a scenario that serves has not; any other document as it is.
scenario::Document with_stop(const scenario::Document& document);

/// Gives a scenario with [serving] its one run. Adds a fault for sections and options that are about trainings.
void take_serving(Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// The ranks of the replicas, as [parallel] orders them. The sizes are known to fit.
serving::Layout layout_of(const Settings& settings);
/// problem: the data's, or the model's own.
serving::Fleet fleet_of(const Settings& settings, const models::Problem& problem);

/// Adds a fault where the model cannot be served or cut so, and where requests are longer than its sequence.
void check_serving(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);
/// Adds a fault where parameters and cache do not fit, and where the replicas cannot keep up with the arrivals. Once
/// the speed of the hosts is known.
void check_serving_room(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment
