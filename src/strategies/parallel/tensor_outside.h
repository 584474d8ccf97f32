/// A mesh whose tensor ranks are in several hosts of devices, and the price of it.
#pragma once

#include <string>

#include "cluster/options.h"
#include "strategies/parallel/parallel.h"

namespace simgrad::strategies {

/// A sentence about the slowest link among ranks that share products, beside the links inside a host, and what would
/// keep these ranks in one host; empty where they are in one host, or where no host has several devices.
std::string tensor_outside(const Parallel& parallel, const cluster::Options& cluster);

}  // namespace simgrad::strategies
