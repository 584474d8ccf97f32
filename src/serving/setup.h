/// All that a run needs which answers requests.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "serving/answers.h"
#include "serving/fleet.h"
#include "serving/options.h"
#include "serving/requests.h"
#include "training/precision.h"

namespace simgrad::serving {

struct Setup {
  Options options;
  Fleet fleet;
  std::vector<Request> requests;
  training::Precision precision = training::Precision::float64;
  std::uint64_t seed = 1;
  std::unique_ptr<Answers> answers = {};  ///< null: times alone
  /// Whether each stage has an actor, though events would do: slower, and the same times.
  bool actors = false;
};

}  // namespace simgrad::serving
