/// The gradients, or assignments to centres, that the devices of a host make together.
///
/// Once a step the first device sends the parameters around the host, and says which step's gradient is wanted. All
/// make their parts of it, and the first one gets the sum, layer by layer beside the backward pass. Each
/// device adds up the gradients of its own micro-batches, and the sum comes with the last one: the gradients of the
/// first device over the micro-batches before, as it returns them, are its own parts.
#pragma once

#include <memory>
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
  /// first: outlives this object.  deals_rows: whether a step's rows have come to it with the parameters.
  HostGradient(training::Worker& first, bool deals_rows);

  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::LayerReady& ready) override;
  void gradient(training::UnitVisitor& visitor, std::int64_t step, training::MicroBatch micro) override;
  training::UnitVisits unit_visits() const override;
  values::Tensor assignments(const values::Tensor& w, std::int64_t step) override;
  values::Tensor task_gradient(const values::Tensor& w, const training::TaskTurn& turn) override;
  values::Tensor sparse_gradient(const training::SparseLearning& learning,
                                 const std::shared_ptr<const training::SparseBatch>& batch, const values::Tensor& at,
                                 const values::Tensor& replica) override;
  /// The first device has all of the gradient.
  values::Tensor squares(const values::Tensor& /*g*/, const values::Tensor& of_shards) const override {
    return of_shards;
  }
  std::vector<models::ParameterStretch> counted_elsewhere() const override { return {}; }
  bool adds_up_micro_batches() const override { return false; }

 private:
  training::Worker& first_;
  bool deals_rows_;
  cluster::Communicator devices_;
  SumsBeside sums_;
};

}  // namespace simgrad::strategies
