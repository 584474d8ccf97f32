/// The choices of the parameter servers' options, for dense models and for sparse ones.
#pragma once

#include <array>
#include <optional>

#include "base/describe.h"

namespace simgrad::strategies {

inline constexpr std::array consistency_choices{
    base::Choice{"bsp", "a step's gradients are all summed before the parameters change"},
    base::Choice{"asp", "every gradient is applied as it comes"},
    base::Choice{
        "ssp",
        "every gradient is applied as it comes, but no worker runs ahead of the slowest by more than staleness_bound"}};
inline constexpr std::array placement_choices{
    base::Choice{"dedicated", "each server on a host of its own"},
    base::Choice{"colocated",
                 "server i on worker i's host: they share its NIC and its cores, and talk to each other for free"}};
inline constexpr std::array part_choices{
    base::Choice{"sum", "the gradient is not scaled: the parts of P workers add up to one gradient"},
    base::Choice{"mean", "the gradient is multiplied by P, so that it counts as a whole one (Downpour's convention)"}};

/// The buckets that a worker waits for before a pass, where gradients are pushed in buckets.
enum class Pulls {
  by_layer,  ///< those of the bucket whose layers the forward pass comes to
  at_once    ///< all
};
/// The option `pull`.
void describe_pulls(base::Describer& d, Pulls& pull, const std::optional<double>& bucket_bytes);

}  // namespace simgrad::strategies
