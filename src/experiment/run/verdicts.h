/// The outcomes of a scenario's expectations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/plan/expectations.h"
#include "experiment/plan/plan.h"
#include "outputs/results.h"

namespace simgrad::experiment {

enum class Outcome {
  held,
  failed,
  untested,  ///< no run of this command is concerned
  vacuous    ///< it holds, but could not have failed (vacuity.h)
};

/// The outcome of one expectation for one label at one grid point.
struct Verdict {
  std::string name;  ///< "allreduce: speedup_throughput at least 3, workers=8"
  Outcome outcome = Outcome::held;
  std::string text;             ///< "found 3.41", "found null: the target was not reached (seed 2)"
  double wall_s = 0.0;          ///< real time of the runs that it is about
  std::size_t expectation = 0;  ///< the index of the [[expect]]
  std::string bound = {};       ///< the words of the name: "at least 3"
};

/// Tests each expectation at every grid point and for every label that it matches, on the mean over the seeds. An
/// expectation is untested if the command line leaves none of its grid points. It has failed if it matches no run
/// otherwise, if its metric is null for any seed, or if a run failed. A run that diverged meets no expectation of its
/// time, speed-up, cost or energy, nor of a number that it lacks. A relative expectation is about the mean over the
/// seeds divided by that of the runs compared with; a run is not compared with itself. With several seeds the text has
/// the 95 % interval of the mean or of the ratio of means (from the seeds' pairs), and says whether it reaches beyond
/// the bound. Speed-ups are ratios of mean times (outputs/seed_means.h). `better_than` is tested seed by seed
/// (better_than.h).  planned: the plan's runs; they say whether the scenario has stragglers.
std::vector<Verdict> verdicts(const std::vector<Expectation>& expectations, const outputs::Results& results,
                              const std::vector<RunPlan>& planned = {});

}  // namespace simgrad::experiment
