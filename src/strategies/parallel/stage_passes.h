/// The passes of a rank through its part of a cut model, among the ranks of its replica.
///
/// A stage does the tasks of its schedule's table in order. It receives activations from the stage before and
/// derivatives from the stage behind; sends do not block it. Ranks that share products combine their numbers where a
/// model's segments say so.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "collectives/allreduce.h"
#include "strategies/parallel/parallel.h"
#include "strategies/parallel/part_gradient.h"
#include "training/part_passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// How a schedule's micro-batches belong to updates.
enum class StreamRule : unsigned char {
  synchronous,     ///< a step's micro-batches see its weights, and their gradients are added up
  newest,          ///< each micro-batch is an update, and sees the newest weights that its stage has
  double_buffered  ///< those of an update see the weights of one update before
};
StreamRule stream_rule(const Parallel& parallel);

class StagePasses final : public training::Worker::GradientMaker {
 public:
  /// table: of the schedule; it outlives this object.
  StagePasses(training::Worker& worker, const Parallel& parallel, const PipelineTable& table);

  /// Virtual time: that of the stage's tasks, hops and collectives. A step's messages have all been received when it
  /// returns on every rank.
  values::Tensor gradient(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
                          const training::Worker::LayerReady& ready) override;
  /// Virtual time: that of two allreduces of one float64, among tensor ranks and among stages.
  values::Tensor squares(const values::Tensor& g, const values::Tensor& of_shards) const override;

 private:
  using Key = std::pair<int, int>;  ///< chunk, micro-batch
  /// A micro-batch that has gone forward through a chunk, and not back.
  struct UnderWay {
    training::PartPasses passes;
    values::Tensor w;                       ///< the version of the weights that it sees, forward and back
    std::int64_t version = 0;               ///< how many updates that version has seen
    std::vector<values::Tensor> in;         ///< of each segment
    std::vector<values::Tensor> gradients;  ///< of each segment, once its backward pass is done
  };
  /// The messages of one direction.
  struct Hops {
    cluster::Communicator comm;
    int from = -1, to = -1;                      ///< places among the stages
    std::deque<cluster::Pending> expected = {};  ///< receives that have been posted
    std::vector<cluster::Pending> sent = {};
  };

  const models::ModelPart& part() const { return worker_.part(); }
  const models::PlacedChunk& placed(int chunk) const { return part().chunks()[static_cast<std::size_t>(chunk)]; }
  bool first(int chunk) const { return stage_ == 0 && chunk == 0; }
  bool last(int chunk) const { return stage_ + 1 == shape_.stages && chunk + 1 == shape_.chunks; }
  /// Whether tensors have numbers, or are followed by their lineages; else only their lengths are seen.
  bool followed() const;
  values::Tensor of_length(double numbers) const;

  void begin(const values::Tensor& w, std::int64_t step, training::MicroBatch micro,
             const training::Worker::LayerReady& ready);
  values::Tensor finish();
  /// Of an asynchronous schedule: goes on until the update's gradient is made.
  void work_on_stream();
  values::Tensor weights_of(int micro) const;
  bool sees_weights_before(int micro) const;
  training::PartPasses passes_of(int micro) const;
  void count_versions() const;
  void expect(Hops& hops, int receives) const;
  void post_receives(const std::vector<PipelineTask>& tasks);
  values::Tensor receive(Hops& hops, const PipelineTask& task) const;
  void send(Hops& hops, values::Tensor numbers, int piece, int micro) const;
  void forward(const PipelineTask& task);
  void backward(const PipelineTask& task);
  void weights(const PipelineTask& task);
  bool completes_chunk(int chunk);
  values::Tensor pass_forward(int chunk, std::size_t segment, UnderWay& micro);
  values::Tensor pass_backward(int chunk, std::size_t segment, UnderWay& micro, const values::Tensor& d_out,
                               training::BackwardPiece piece);
  static void add_to_gradient(UnderWay& micro, std::size_t segment, const values::Tensor& g);
  values::Tensor combined(models::Step::Then then, values::Tensor numbers, std::int64_t rows) const;
  void complete(int chunk, std::size_t segment, UnderWay& micro, bool completes);
  void sum_partial(const std::vector<models::ParameterStretch>& within);
  void sum_tied();
  values::Tensor counted_once(const values::Tensor& g) const;
  values::Tensor parameters(int chunk, std::size_t segment, const values::Tensor& w) const;

  training::Worker& worker_;
  PipelineShape shape_;
  const PipelineTable* tasks_;
  StreamRule stream_;
  int stage_ = 0;
  std::optional<cluster::Communicator> tensor_;  ///< none: this rank has whole products
  std::optional<cluster::Communicator> tied_;    ///< the two ranks that hold the tied parameters; none: not this one
  std::optional<cluster::SideStream> gathers_;   ///< of the tensor ranks, beside their products
  Hops forwards_, backwards_;

  int forwards_done_ = 0;    ///< of an asynchronous schedule's stream of micro-batches
  values::Tensor before_w_;  ///< the weights one update ago

  // Of the present step.
  values::Tensor w_;
  std::int64_t step_ = 0;
  training::MicroBatch outer_;
  double step_work_ = 0.0;
  const training::Worker::LayerReady* ready_ = nullptr;
  std::vector<int> completed_;  ///< micro-batches, by chunk
  std::map<Key, UnderWay> under_way_;
  std::optional<PartGradient> gradient_;
};

}  // namespace simgrad::strategies
