#include "strategies/parallel/stage_copies.h"

#include <utility>

#include "strategies/parallel/sharing_ranks.h"
#include "training/learning/layer_times.h"
#include "training/learning/learning.h"
#include "training/optimizers/optimizer.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using training::Dimension;

StageCopies::StageCopies(const training::Worker& worker)
    : worker_(worker), stages_(along(worker, Dimension::pipeline).on_own_channels()) {}

void StageCopies::refresh(const training::State& state) {
  const int stages = stages_.size(), stage = stages_.rank();
  cluster::Packet received;
  {
    const training::AlongScope timed(worker_.mesh_time(), stages_, Dimension::pipeline);
    received = stages_.exchange(stages_.on_wire(state.w), (stage + stages - 1) % stages, (stage + 1) % stages);
  }
  const auto numbers = static_cast<double>(received.tensor.size());
  hold(numbers, static_cast<double>(state.optimizer.size()));
  const double clipping = worker_.clips() ? 1.0 : 0.0;  // the norm is known already
  worker_.comm().charge_memory(training::update_bytes(worker_.learning().precision(), state.optimizer.size()) * numbers,
                               (worker_.optimizer().flops() + clipping) * numbers, record::Work::update);
}

/// The copy is in this rank's memory from the first update on.
void StageCopies::hold(double numbers, double moments) {
  if (std::exchange(holds_, true)) return;
  const training::NumberBytes bytes = worker_.number_bytes();
  worker_.memory().hold(training::MemoryPart::workspace,
                        numbers * (bytes.parameter + bytes.master + bytes.moment * moments));
}

}  // namespace simgrad::strategies
