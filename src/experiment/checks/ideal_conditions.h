/// Conditions that are better in a run than on any real cluster of its size.
#pragma once

#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::experiment {

/// Sentences for the notes of a run: where more than 1,000 workers are always equally fast.
/// Source: Z. Jiang et al., "MegaScale: Scaling Large Language Model Training to More Than 10,000 GPUs", NSDI 2024
/// (slow hosts, launches that drift apart, collections of garbage at other times).
std::vector<std::string> notes_on_ideal_conditions(const cluster::Options& cluster);

}  // namespace simgrad::experiment
