/// The beginning of a rank in a generation: restarting, and getting the state to go on from.
#pragma once

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::training {

class Generation;

/// After a recovery from memory: ranks that hold a replica send it to ranks that have come back without one. Virtual
/// time: alpha + M beta.
void catch_up(const cluster::Communicator& comm, const Generation& generation);

}  // namespace simgrad::training
