/// Random proportions, and the division of whole rows by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/apportioned.h"
#include "base/random.h"

namespace simgrad::training {

/// A draw of the symmetric Dirichlet distribution: n proportions that add up to 1. With a small alpha few of them are
/// large. Source: normalised gamma variates; G. Marsaglia, W. W. Tsang, "A Simple Method for Generating Gamma
/// Variables", 2000, in logarithms, so that a small alpha does not make all of them zero.
std::vector<double> dirichlet(double alpha, int n, base::Stream& stream);

/// The first row of each of n pieces of `count` rows, and the end: (n + 1), cut at the cumulated proportions.
std::vector<std::int64_t> cuts(std::int64_t count, std::span<const double> proportions);

using base::apportioned;
/// Apportions in multiples of `unit`, of which `count` is one, with at most `most[r]` rows in part r; empty: any
/// number. Parts at their most leave the rest to the others, in proportion to their weights. A unit in each part is no
/// promise where parts are at their most.  Errors: InvariantError if all parts at their most are fewer rows.
std::vector<std::int64_t> apportioned(std::int64_t count, std::span<const double> weights,
                                      std::span<const std::int64_t> most, std::int64_t unit);

}  // namespace simgrad::training
