/// The ways in which a run's collectives are simulated: computed, or message by message.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::experiment {

/// The run must be simulated in another way, as another_way() has it: transfers of several collectives may meet on a
/// link, so that these cannot be computed at their last arrival; or (no link) one rank has stood for others that turned
/// out to differ.
class CollectivesMeet : public std::runtime_error {
 public:
  explicit CollectivesMeet(const std::string& link) : std::runtime_error(link) {}
};

/// The run with all collectives message by message; without a link: with every rank simulated.
RunPlan another_way(const RunPlan& run, const std::string& link);
/// Whether a run's collectives were computed, as far as its notes tell: where they say nothing, and some have 64
/// members or more, it was so.
bool were_computed(const RunPlan& run, const record::Record& record);
/// A note on a run that went so.  link: where transfers may have met; empty: nowhere.
std::string note_on_another_way(const std::string& link);
/// A note on the way in which collectives were simulated, and why; empty where a note says nothing new: on a network
/// where transfers meet at hosts alone, by messages as the scenario asks, and by messages among few ranks.
std::string note_on_way(cluster::World& world, const record::Record& record);

/// A run of times alone whose ranks have messages, or a second collective, on links of their collectives goes message
/// by message if it has no more messages than can be simulated in a second or so.  Errors: CollectivesMeet.
void require_none_left_out(cluster::World& world, const record::Record& record);
/// The note of a longer one; empty if there are none.
std::string note_on_left_out(cluster::World& world, const record::Record& record);

/// Notes on what algorithm = "nccl" has chosen, one for each choice and number of ranks.
std::vector<std::string> notes_on_nccl(const record::Record& record);

/// Notes on what algorithm = "auto" has chosen: for each number of ranks the lengths of vectors and their algorithms,
/// the groups of most ranks first.
std::vector<std::string> notes_on_auto(cluster::World& world);

}  // namespace simgrad::experiment
