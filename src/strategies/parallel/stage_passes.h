/// The passes of a rank through its part of a cut model, among the ranks of its replica.
///
/// A stage does the tasks of its schedule's table in order. It receives activations from the stage before and
/// derivatives from the stage behind; sends do not block it. Ranks that share products combine their numbers where a
/// model's segments say so.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "strategies/parallel/hops.h"
#include "strategies/parallel/parallel.h"
#include "strategies/parallel/part_units.h"
#include "strategies/parallel/replica_gradient.h"
#include "strategies/parallel/segment_passes.h"
#include "training/part_passes.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// How a schedule's micro-batches belong to updates.
enum class StreamRule : unsigned char {
  synchronous,     ///< a step's micro-batches see its weights, and their gradients are added up
  newest,          ///< each micro-batch is an update, and sees the newest weights that its stage has
  double_buffered  ///< those of an update see the weights of one update before
};
StreamRule stream_rule(const Parallel& parallel);

class StagePasses final : public training::GradientMaker {
 public:
  /// table: of the schedule; it outlives this object.
  StagePasses(training::Worker& worker, const Parallel& parallel, const PipelineTable& table);

  /// Virtual time: that of the stage's tasks, hops and collectives. A step's messages have all been received when it
  /// returns on every rank.
  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::Worker::LayerReady& ready) override;
  /// Only under a synchronous schedule.
  void gradient(training::UnitVisitor& visitor, std::int64_t step, training::MicroBatch micro) override;
  training::UnitVisits unit_visits() const override;
  /// Virtual time: that of two allreduces of one float64, among tensor ranks and among stages.
  values::Tensor squares(const values::Tensor& g, const values::Tensor& of_shards) const override {
    return gradient_.squares(g, of_shards);
  }
  std::vector<models::ParameterStretch> counted_elsewhere() const override { return gradient_.counted_elsewhere(); }
  bool adds_up_micro_batches() const override { return shape_.micro_batches > 1; }
  /// Blocks until all messages to other stages have arrived.
  void finish_sends();

 private:
  using Key = std::pair<int, int>;  ///< chunk, micro-batch
  const models::ModelPart& part() const { return worker_.part(); }
  const models::PlacedChunk& placed(int chunk) const { return part().chunks()[static_cast<std::size_t>(chunk)]; }
  bool first(int chunk) const { return stage_ == 0 && chunk == 0; }
  bool last(int chunk) const { return stage_ + 1 == shape_.stages && chunk + 1 == shape_.chunks; }
  void begin(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
             const training::Worker::LayerReady& ready);
  values::Tensor finish();
  values::Tensor receive(Hops& hops, const PipelineTask& task);
  void send(Hops& hops, values::Tensor numbers, int piece, int micro);
  /// Goes on with an asynchronous schedule until the update's gradient is made.
  void work_on_stream();
  values::Tensor weights_of(int micro) const;
  bool sees_weights_before(int micro) const;
  training::PartPasses passes_of(int micro) const;
  /// The messages of a direction, on channels of their own.
  Hops hops(int step) const;
  /// The number of a micro-batch that all of its stages know: the rank's own, unless stages have ranks of their own.
  int number(int micro) const;
  std::int64_t step_of(int micro) const { return micro / (shape_.micro_batches * worker_.updates_a_step()); }
  /// The messages of forward passes that may be on their way to this rank at a time.
  int forwards_coming() const;
  void count_versions() const;
  void post_receives(const std::vector<PipelineTask>& tasks);
  void forward(const PipelineTask& task);
  void backward(const PipelineTask& task);
  void weights(const PipelineTask& task);
  bool completes_chunk(int chunk);
  void begin_gradients(int chunk);
  bool taken_by_itself(int chunk, std::size_t segment) const;
  void make_gradients(int chunk, std::size_t segment);
  void use_units(const std::vector<std::size_t>& units);
  void use_units(int chunk, std::size_t segment) {
    use_units(units_.read_by(static_cast<std::size_t>(chunk), segment));
  }
  const std::vector<PipelineTask>& tasks() const { return (*tasks_)[static_cast<std::size_t>(stage_)]; }

  training::Worker& worker_;
  PipelineShape shape_;
  const PipelineTable* tasks_;
  StreamRule stream_;
  cluster::Communicator stages_;
  SharingRanks sharing_;
  int stage_;
  const cluster::Communicator* scattered_;  ///< the tensor ranks, of which each sends a part of a hop; or null
  Hops forwards_, backwards_;               ///< of activations; of derivatives
  std::optional<SliceCache> cache_;         ///< where slices go on by themselves
  SegmentPasses segments_;
  ReplicaGradient gradient_;
  PartUnits units_;
  std::vector<bool> tied_units_;  ///< by unit: whether a part of its gradient is summed with another stage's

  int forwards_done_ = 0;    ///< of an asynchronous schedule's stream of micro-batches
  values::Tensor before_w_;  ///< the weights one update ago

  // The state of the present step.
  values::Tensor w_;                          ///< nothing where the parameters of units are gathered
  training::UnitVisitor* visitor_ = nullptr;  ///< which has them then; else null
  UnitsInUse in_use_;
  std::vector<bool> makes_;  ///< by unit: its backward pass has begun
  bool takes_each_ = false;  ///< the visitor takes every micro-batch's gradients, but those of tied_units_
  std::int64_t step_ = 0;
  double step_work_ = 0.0;
  std::vector<int> completed_;  ///< micro-batches, by chunk
  std::map<Key, MicroBatchPass> under_way_;
};

}  // namespace simgrad::strategies
