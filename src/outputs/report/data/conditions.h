/// The conditions of a scenario at a grid point that can make ranks wait or messages slow.
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
  bool failures = false;    ///< hosts or links fail at random times
  bool drawn = false;       ///< the work of a step is drawn: keys of sparse samples, unequal shares, random peers

  /// Whether the seed decides how long a run of given steps takes.
  bool by_chance() const { return jitter || stragglers || traffic || failures || drawn; }
};

/// Returns the conditions of a resolved scenario, with the values of a grid point ("cluster.jitter": ...) in place of
/// its own.
Conditions conditions(const nlohmann::ordered_json& scenario, const nlohmann::ordered_json& parameters);

/// Returns whether a key of the grid changes the task or the machines: runs that differ in such a key answer different
/// questions. The number of workers and the options of training and strategy are choices, not questions.
bool is_question(const std::string& key);

}  // namespace simgrad::outputs::report
