/// The ways in which a run's collectives are simulated: computed, or message by message.
#pragma once

#include <stdexcept>
#include <string>

#include "experiment/plan/plan.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::experiment {

/// Collectives cannot be computed at their last arrival, since transfers of several of them may meet on a link: the run
/// must be simulated anew, as by_messages() has it.
class CollectivesMeet : public std::runtime_error {
 public:
  explicit CollectivesMeet(const std::string& link) : std::runtime_error(link) {}
};

/// The run with all collectives message by message.
RunPlan by_messages(const RunPlan& run);
/// Whether a run's collectives were computed, as far as its notes tell: where they say nothing, and some have 64
/// members or more, it was so.
bool were_computed(const RunPlan& run, const record::Record& record);
/// A note on a run that went so.  link: where transfers may have met.
std::string note_on_messages(const std::string& link);
/// A note on the way in which collectives were simulated, and why; empty where a note says nothing new: on a network
/// where transfers meet at hosts alone, by messages as the scenario asks, and by messages among few ranks.
std::string note_on_way(cluster::World& world, const record::Record& record);

}  // namespace simgrad::experiment
