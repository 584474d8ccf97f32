#include "strategies/replicas/hogwild.h"

#include "training/worker.h"

namespace simgrad::strategies {

Traits Hogwild::traits(int P) const {
  using cluster::Recovery;
  return {.pace = Pace::server_updates,
          .holder = Holder::memory,
          .hosts = std::vector<int>(static_cast<std::size_t>(P), 0),
          .recoveries = {Recovery::restart, Recovery::wait}};  // a crash of the host leaves no memory
}

void Hogwild::operator()(Worker& core) const {
  State& memory = core.shared_memory();
  if (core.rank() == 0 && !core.continues(memory)) return;
  do {
    const std::int64_t read_at = memory.step;
    const Tensor g = core.gradient(memory.w);
    core.update(memory, g);
    core.count(memory.step - 1 - read_at);
  } while (core.continues(memory));
}

}  // namespace simgrad::strategies
