/// The short answer of `validate`: whether a scenario is sound, how long its runs take, and what it sets.
#pragma once

#include <string>

#include "experiment/plan/plan.h"
#include "experiment/run/estimate.h"

namespace simgrad::cli {

/// "ok: 6 runs, about 2 s", the keys whose values differ from the defaults, and the first runs; each in lines.
std::string brief(const experiment::Plan& plan, const experiment::Estimate& estimate);

}  // namespace simgrad::cli
