/// What became of a scenario's expectations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/expectations.h"
#include "outputs/results.h"

namespace simgrad::experiment {

enum class Outcome { held, failed, untested };

/// Of one expectation for one label at one grid point.
struct Verdict {
  std::string name;  ///< "allreduce: speedup_throughput at least 3, workers=8"
  Outcome outcome = Outcome::held;
  std::string text;  ///< "found 3.41", "found null: the target was not reached (seed 2)"
};

/// Each expectation at every grid point and for every label that it matches, on the mean over the seeds. One that the
/// command line leaves no grid point is untested; one that matches no run otherwise, one whose number is null for any
/// seed, and one with a run that failed, has failed.
std::vector<Verdict> verdicts(const std::vector<Expectation>& expectations, const outputs::Results& results);

}  // namespace simgrad::experiment
