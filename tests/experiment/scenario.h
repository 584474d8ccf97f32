// A scenario, planned.
#pragma once

#include <string>

#include "experiment/plan/plan.h"
#include "scratch.h"

namespace simgrad::experiment {

inline const std::string small = R"(
[cluster]
workers = 4
[data]
samples = 100
features = 3
[model]
kind = "least_squares"
[stop]
steps = 2
)";

inline const std::string ring_allreduce =
    "[[strategy]]\nkind = \"allreduce\"\nlabel = \"allreduce\"\nalgorithm = \"ring\"\n";
/// By the algorithm that is the default.
inline const std::string plain_allreduce = "[[strategy]]\nkind = \"allreduce\"\n";
inline const std::string single = "[[strategy]]\nkind = \"single\"\n";

/// The plan of a scenario with that text.
inline Plan planned(const std::string& text, const Selection& selection = {}) {
  const tests::Scratch scratch;
  return make_plan(scratch.write("x.toml", text), selection);
}

}  // namespace simgrad::experiment
