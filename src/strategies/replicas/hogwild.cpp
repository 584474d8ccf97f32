#include "strategies/replicas/hogwild.h"

namespace simgrad::strategies {

void Hogwild::operator()(Worker& core) const {
  State& memory = core.memory();  // of all cores
  if (core.comm().rank() == 0 && !core.continues(memory)) return;
  do {
    const std::int64_t read_at = memory.step;
    const Tensor g = core.gradient(memory.w);
    core.update(memory, g);
    core.count(memory.step - 1 - read_at);
  } while (core.continues(memory));
}

}  // namespace simgrad::strategies
