/// A rank's operators of a step, in the order of a placement, with the messages that they read and send.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/pending.h"
#include "strategies/operators/step_plan.h"
#include "strategies/parallel/part_gradient.h"
#include "strategies/parallel/segment_passes.h"
#include "strategies/parallel/sharing_ranks.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

class OperatorPasses final : public training::GradientMaker {
 public:
  /// plan: outlives this object.
  OperatorPasses(training::Worker& worker, const StepPlan& plan);

  /// Virtual time: of the rank's operators, one after the other, and of waiting for what they read. Messages are sent
  /// beside them, and beside the update that follows.
  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::Worker::LayerReady& ready) override;
  /// Never: parameters stay with their operators.
  void gradient(training::UnitVisitor& visitor, std::int64_t step, training::MicroBatch micro) override;
  training::UnitVisits unit_visits() const override;
  /// Virtual time: of an allreduce of one float64 among all ranks.
  values::Tensor squares(const values::Tensor& g, const values::Tensor& of_shards) const override;
  std::vector<models::ParameterStretch> counted_elsewhere() const override { return {}; }
  bool adds_up_micro_batches() const override { return true; }
  /// Waits for the messages of the last step, which may be under way beside the update.
  void finish_sends();

 private:
  /// The place of a unit in this rank's part.
  struct Place {
    int chunk = 0;
    std::size_t first_segment = 0, segments = 0;
  };
  using Key = std::pair<int, int>;  ///< chunk, micro-batch

  void find_places();
  void post_receives();
  MicroBatchPass& under_way(int chunk, int micro);
  void forward(std::size_t number, const StepOperator& op);
  void backward(std::size_t number, const StepOperator& op);
  values::Tensor input_of(const StepOperator& op);
  values::Tensor derivatives_of(const StepOperator& op);
  /// Blocks until a value is on this rank.
  values::Tensor received(const StepValue& value);
  void give(std::size_t number, std::size_t of, const values::Tensor& made, std::int64_t rows);

  training::Worker& worker_;
  const StepPlan& plan_;
  cluster::Communicator everyone_;
  SharingRanks sharing_;
  SegmentPasses segments_;
  std::map<std::size_t, Place> places_;  ///< by unit
  std::vector<int> units_left_;          ///< by chunk

  // The state of the present step.
  values::Tensor w_;
  std::int64_t step_ = 0;
  double step_work_ = 0.0;
  std::optional<PartGradient> gradient_;
  std::map<Key, MicroBatchPass> under_way_;
  std::map<Key, int> passed_back_;                ///< units of the chunk whose backward operators are done
  std::map<StepValue, cluster::Pending> coming_;  ///< from other ranks
  std::map<StepValue, values::Tensor> values_;    ///< on this rank
  std::vector<cluster::Pending> sent_;
};

}  // namespace simgrad::strategies
