/// The gradient that the devices of a host make together.
///
/// The first device sends the parameters around the host, with an order that says which gradient is wanted. All make
/// their parts, and the first one gets the sum.
#pragma once

#include <vector>

#include "cluster/ranks/communicator.h"
#include "models/cut_model.h"
#include "strategies/hosts/sums_beside.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// Of the first device.
class HostGradient final : public training::Worker::GradientMaker {
 public:
  /// first: outlives this object.
  explicit HostGradient(training::Worker& first);

  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::Worker::LayerReady& ready) override;
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
