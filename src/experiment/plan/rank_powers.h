/// The devices of the ranks that share the products of a model's layers.
#pragma once

#include <vector>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// The powers of all ranks, for parallel.tensor_shares = "speed"; empty where shares are equal: it is not chosen, or
/// the ranks of every tensor group are alike. Memory is infinite where it is not known, where training.memory is
/// "ignore", and where replicas have rows by speed: it bounds these then.
std::vector<strategies::RankPower> rank_powers(const Settings& settings);

}  // namespace simgrad::experiment
