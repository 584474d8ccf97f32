/// Random proportions, and whole things cut by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace simgrad::training {

/// A draw of the symmetric Dirichlet distribution: n proportions that add up to 1. Small alpha: few of them large.
/// Source: normalised gamma variates; G. Marsaglia, W. W. Tsang, "A Simple Method for Generating Gamma Variables",
/// 2000, in logarithms, so that a small alpha does not make all of them zero.
std::vector<double> dirichlet(double alpha, int n, base::Stream& stream);

/// Where each of n pieces of `count` things begins, and the end: (n + 1), cut at the cumulated proportions.
std::vector<std::int64_t> cuts(std::int64_t count, std::span<const double> proportions);

/// Where each of n consecutive parts of `count` things starts, and then `count`: in proportion to the weights by the
/// method of largest remainders (A. Hamilton, 1792), ties to the first. No part is empty where there is enough for all.
std::vector<std::int64_t> apportioned(std::int64_t count, std::span<const double> weights);

}  // namespace simgrad::training
