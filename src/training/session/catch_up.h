/// The beginning of a rank in a generation: restarting, and getting the state to go on from.
#pragma once

#include <vector>

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::training {

class Generation;

/// After a recovery from memory: ranks that hold a replica send it to ranks that have come back without one. Virtual
/// time: alpha + M beta.
void catch_up(const cluster::Communicator& comm, const Generation& generation);

/// Catches up among all ranks of a mesh: a rank that has come back gets its state from its copy or from a rank with the
/// same part, and then the copy that it keeps.  copied: by rank, the rank whose state it keeps a copy of; or empty.
void catch_up_on_mesh(const cluster::Communicator& everyone, const Generation& generation,
                      const std::vector<int>& copied);

}  // namespace simgrad::training
