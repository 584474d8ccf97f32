/// A step's work on the rows of its batch.
#pragma once

#include <array>

#include "strategies/strategy.h"

namespace simgrad::strategies {

enum class Job {
  gradient,  ///< rows to their gradients; the sum updates the parameters
  k_means    ///< rows to their nearest centres (Lloyd's algorithm); each centre moves to the mean of its rows
};

inline constexpr std::array jobs{
    base::Choice{"gradient", "rows to their gradients; the optimizer updates the parameters with the sum"},
    base::Choice{
        "k_means",
        "rows to the nearest centre; each centre moves to the mean of its rows (Lloyd's algorithm; the optimizer "
        "is left aside); goes with the model k_means"}};

/// The reason why a strategy with the option `job` cannot train that model with it.
std::optional<Refusal> job_refusal(Job job, const Circumstances& circumstances);

}  // namespace simgrad::strategies
