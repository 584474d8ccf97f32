/// What a scenario, at a grid point, has that may make ranks wait or messages slow.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace simgrad::outputs::report {

struct Conditions {
  bool jitter = false;      ///< latencies vary from message to message
  bool stragglers = false;  ///< computing times vary from step to step
  bool uneven = false;      ///< hosts or ranks of different speeds
  bool traffic = false;     ///< other traffic on the links
  bool jobs = false;        ///< other jobs on the cluster
  bool in_turns = false;    ///< jobs that compute in turns
};

/// Of the resolved scenario with the grid point's values ("cluster.jitter": ...) in place of its own.
Conditions conditions(const nlohmann::ordered_json& scenario, const nlohmann::ordered_json& parameters);

/// Whether a key of the grid changes what is trained or on which machines, not how: runs that differ in it answer
/// different questions.  The number of workers, the training's options and the strategy's are choices.
bool is_question(const std::string& key);

}  // namespace simgrad::outputs::report
