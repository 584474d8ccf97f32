/// A run simulated again with one cause changed: how much faster it would be.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/describe.h"

namespace simgrad::outputs {

/// One change of a scenario and its effect.
struct Change {
  std::string name;               ///< "bandwidth", "latency", "server_speed", ...: the cause that is changed
  std::vector<std::string> sets;  ///< "cluster.bandwidth=20Gbps": what --set takes
  double simulated_s = 0.0;
  std::int64_t samples = 0;  ///< that the final state has seen
  double gain = 1.0;         ///< samples per second with the change over samples per second without it
};

/// The kinds of numbers of a run on devices that are assumed. "efficiency_worse" is a change's name.
inline constexpr std::array<std::string_view, 3> assumed_kinds{"efficiency", "bandwidth", "latency"};

/// The changes that were tried on one run. All of them, and the run that they are compared with, are as long as
/// `stop.steps = steps` makes them, so that `simgrad run` with `sets` and this key repeats each.
struct Counterfactual {
  std::string id;  ///< the run's, in Results::runs
  std::int64_t steps = 0;
  bool whole = true;  ///< the steps are all of the run's, and take its time
  double simulated_s = 0.0;
  std::int64_t samples = 0;
  std::vector<Change> changes;  ///< the largest gain first
  bool asynchronous = false;    ///< gradients were stale: any change reorders updates, and moves the time a little
  /// A run on devices with its assumed numbers of one kind 10 % worse, then 10 % better. They are no causes that a user
  /// may change, so that they are not among `changes`.
  std::vector<Change> assumed = {};
};

/// The least gain that a change must bring for its cause to be called binding.
inline constexpr double binding_gain = 1.02;
/// The least gain for asynchronous runs, whose updates any change reorders.
inline constexpr double binding_gain_if_asynchronous = 1.05;
inline double least_gain(const Counterfactual& counterfactual) {
  return counterfactual.asynchronous ? binding_gain_if_asynchronous : binding_gain;
}

/// The change that brings most, if it brings enough: its cause binds. Null if no change brings enough, or if only
/// failures were looked at, beside which other causes cannot be told.
const Change* binding(const Counterfactual& counterfactual);

/// Returns that change and all whose gains are shown as the same number: one alone must not be named. Empty if none
/// binds.
std::vector<const Change*> all_binding(const Counterfactual& counterfactual);
/// Returns the change that makes the run slowest, if it makes it slower by as much as a cause that binds must bring.
const Change* slowing(const Counterfactual& counterfactual);

/// Returns "twice the bandwidth": the change in words.
std::string words(const Change& change);
/// Returns "the bandwidth": the cause in words.
std::string cause(const Change& change);
/// Returns "bandwidth": the cause in the column of a table.
std::string cause_in_column(const Change& change);

template <record::Maybe<Change> Given, class Visitor>
void describe(Given& change, Visitor& v) {
  v.value("name", change.name);
  v.value("sets", change.sets);
  v.value("simulated_s", change.simulated_s);
  v.value("samples", change.samples);
  v.value("gain", change.gain);
}

template <record::Maybe<Counterfactual> Given, class Visitor>
void describe(Given& counterfactual, Visitor& v) {
  v.value("id", counterfactual.id);
  v.value("steps", counterfactual.steps);
  v.value("whole", counterfactual.whole);
  v.value("simulated_s", counterfactual.simulated_s);
  v.value("samples", counterfactual.samples);
  v.items("changes", counterfactual.changes, record::Presence::always);
  v.value("asynchronous", counterfactual.asynchronous, record::Presence::newer);
  v.items("assumed", counterfactual.assumed, record::Presence::some);
}

}  // namespace simgrad::outputs
