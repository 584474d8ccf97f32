/// The gradient that the devices of a host make together.
///
/// Once a step the first device sends the parameters around the host, and says which step's gradient is wanted. All
/// make their parts of it, and the first one gets the sum, layer by layer beside the backward pass. Of several
/// micro-batches each device adds up its own, and the sum comes with the last one: the gradients of the first device
/// over the micro-batches before, as it returns them, are its own parts.
#pragma once

#include <vector>

#include "cluster/ranks/communicator.h"
#include "models/cut_model.h"
#include "strategies/hosts/sums_beside.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The first device's side of it.
class HostGradient final : public training::GradientMaker {
 public:
  /// first: outlives this object.
  explicit HostGradient(training::Worker& first);

  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::LayerReady& ready) override;
  void gradient(training::UnitVisitor& visitor, std::int64_t step, training::MicroBatch micro) override;
  training::UnitVisits unit_visits() const override;
  /// The first device has all of the gradient.
  values::Tensor squares(const values::Tensor& /*g*/, const values::Tensor& of_shards) const override {
    return of_shards;
  }
  std::vector<models::ParameterStretch> counted_elsewhere() const override { return {}; }
  bool adds_up_micro_batches() const override { return false; }

 private:
  training::Worker& first_;
  cluster::Communicator devices_;
  SumsBeside sums_;
};

/// The program of the other devices: gradients for the first one, until the training ends while they wait for
/// parameters.  by_units: whether these come unit by unit.
void assist_first_device(training::Worker& device, bool by_units);

}  // namespace simgrad::strategies
