/// Deadlocks: the ranks that are blocked, and whether anything can still happen.
#pragma once

#include <string>

namespace simgrad::cluster {

class World;

/// Everything that blocks a rank, "rank 0 (step 3) waits to receive from rank 1; ...".
std::string blocked_ranks(const World& world);
/// Whether every living rank is blocked on a transfer that has not started, so that nothing can ever happen.
bool stuck(const World& world);
/// At the natural end of a synchronous training: the message that nobody received, as a sentence, or "".
std::string left_behind(const World& world);

}  // namespace simgrad::cluster
