/// Placements of operators on devices.
#pragma once

#include <string>
#include <vector>

#include "strategies/operators/placing.h"

namespace simgrad::strategies {

// Errors of all placements: ScenarioError where no device has room for an operator. The devices of those before it may
// be the reason, so that another placement may have room.

/// Goes through the graph from its sources as the devices would, and gives each operator to the device that ends it
/// first, messages included; of equals to the first one.
/// Source: M. Abadi et al., "TensorFlow: Large-Scale Machine Learning on Heterogeneous Distributed Systems", 2015,
/// section 3.2.1.
PlacedSchedule greedy(const PlacementProblem& problem);

/// Heterogeneous earliest finish time: operators by their upward rank, the length of the longest way to the end at mean
/// costs; each goes to the device that ends it first, if possible between operators that are placed already.
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13, 2002, section 4.
PlacedSchedule heft(const PlacementProblem& problem);
/// By operator: mean seconds over the devices, and of all ways to the end the longest one's mean messages and seconds
/// behind.
std::vector<double> upward_ranks(const PlacementProblem& problem);

/// Contiguous stretches of operators, in their order, on devices 0, 1, ...: the stretch with most flops has as few as
/// possible, whatever the devices' speeds.
PlacedSchedule balanced(const PlacementProblem& problem);

/// The given devices of the operators that have no `with`, in their order. Each device does first the operator that can
/// start first; of equals the one that stands first.
PlacedSchedule by_hand(const PlacementProblem& problem, const std::vector<int>& devices);

}  // namespace simgrad::strategies
